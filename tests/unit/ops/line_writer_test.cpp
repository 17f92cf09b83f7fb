#include "ops/line_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

namespace runwarden::ops {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    end_writing();
    end_reading();
  }
  int to() const { return ends_[1]; }
  void end_writing() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  void end_reading() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  // All until the other end is closed.
  std::string read_all() {
    std::string all;
    std::array<char, 65536> piece{};
    for (ssize_t got = 0; (got = ::read(ends_[0], piece.data(), piece.size())) > 0;)
      all.append(piece.data(), static_cast<std::size_t>(got));
    return all;
  }
  std::string read_some() {
    std::array<char, 65536> piece{};
    const ssize_t got = ::read(ends_[0], piece.data(), piece.size());
    return got > 0 ? std::string(piece.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::string lost(std::uint64_t lines) {
  return "lost " + std::to_string(lines);
}

// In all lines that tell of a loss: it is told in parts where lines are dropped before and after a text is taken for writing.
std::uint64_t all_lost(const std::string& text) {
  constexpr std::string_view kLost = "\nlost ";
  std::uint64_t lines = 0;
  for (auto at = text.find(kLost); at != std::string::npos; at = text.find(kLost, at + 1))
    lines += std::stoull(text.substr(at + kLost.size()));
  return lines;
}

TEST(LineWriter, WhenFlushed_HasWrittenAllInOrder) {
  Pipe pipe;
  LineWriter lines(pipe.to(), lost);
  lines.add("one");
  lines.add("two");
  lines.flush();
  EXPECT_EQ(pipe.read_some(), "one\ntwo\n");
  EXPECT_EQ(lines.dropped(), 0u);
}

TEST(LineWriter, WhenNobodyReads_NobodyWaits_AndTheLossIsTold) {
  Pipe pipe;
  const std::string line(999, 'x');
  std::uint64_t dropped = 0;
  std::string all;
  std::thread reader;
  {
    LineWriter lines(pipe.to(), lost);
    const std::size_t more_than_fits = 3 * LineWriter::kMaxBytes / line.size();
    for (std::size_t i = 0; i < more_than_fits; ++i) lines.add(line);  // would never end if one waited
    dropped = lines.dropped();
    EXPECT_GT(dropped, 0u);
    EXPECT_LT(dropped, more_than_fits);
    reader = std::thread([&] { all = pipe.read_all(); });
    for (int i = 0; i < 30; ++i) lines.flush();  // each for at most a second, at once when all is out
    lines.add("after");
    EXPECT_EQ(lines.dropped(), dropped);
  }
  pipe.end_writing();
  reader.join();
  EXPECT_EQ(all_lost(all), dropped);
  ASSERT_GE(all.size(), 6u);
  EXPECT_EQ(all.substr(all.size() - 6), "after\n");
}

TEST(LineWriter, WhenNobodyEverReads_DestructionGivesUpOnWhatThePipeDoesNotHold) {
  Pipe pipe;
  const std::string line(9999, 'x');
  constexpr std::size_t kLines = 100;  // far more than a pipe holds
  {
    LineWriter lines(pipe.to(), lost);
    for (std::size_t i = 0; i < kLines; ++i) lines.add(line);
  }
  pipe.end_writing();
  const std::string written = pipe.read_all();
  EXPECT_EQ(written.substr(0, line.size() + 1), line + "\n");
  EXPECT_LT(written.size(), kLines * (line.size() + 1));
}

TEST(LineWriter, WhenTheDescriptorIsClosed_GoesOnAndCountsWhatIsLost) {
  const int closed = ::dup(STDERR_FILENO);
  ::close(closed);
  LineWriter lines(closed, lost);
  lines.add("into nothing");
  lines.flush();
  lines.add("again");
  lines.add("and again");
  lines.flush();
  lines.flush();  // nothing new
  EXPECT_EQ(lines.dropped(), 3u);
}

TEST(LineWriter, WhenALineIsWrittenInPart_TheNextOneStartsOnALineOfItsOwnAndTheLossIsTold) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe breaks;
  Pipe works;
  const int log = ::dup(breaks.to());
  breaks.end_writing();
  LineWriter lines(log, lost);
  lines.add(std::string(1024 * 1024, 'x'));  // more than a pipe holds
  lines.add("never begun");
  lines.wake();
  EXPECT_FALSE(breaks.read_some().empty());
  breaks.end_reading();
  lines.flush();
  EXPECT_EQ(lines.dropped(), 2u);

  ASSERT_EQ(::dup2(works.to(), log), log);
  lines.add("after");
  lines.flush();
  // A wake that was still to come may have told the loss before the line was there.
  const std::string told = works.read_some();
  EXPECT_TRUE(told == "\nafter\nlost 2\n" || told == "\nlost 2\nafter\n") << told;
  lines.add("at last");
  lines.flush();
  EXPECT_EQ(works.read_some(), "at last\n");
  EXPECT_EQ(lines.dropped(), 2u);
  ::close(log);
}

}  // namespace
}  // namespace runwarden::ops
