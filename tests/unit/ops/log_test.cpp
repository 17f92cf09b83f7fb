#include "ops/log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace runwarden::ops {
namespace {

// Standard error leads into a pipe while this object lives.
class CapturedStandardError {
 public:
  CapturedStandardError() : before_(::dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    EXPECT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~CapturedStandardError() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(from_);
  }
  // As JOURNAL_STREAM names it.
  std::string stream() const {
    struct stat about {};
    EXPECT_EQ(::fstat(STDERR_FILENO, &about), 0);
    return std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino);
  }
  std::string read_some() {
    std::array<char, 4096> text{};
    const ssize_t got = ::read(from_, text.data(), text.size());
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  int before_;
  int from_ = -1;
};

// What a log writes of a warning, without its time.
std::string warning(LogFormat format, CapturedStandardError& captured) {
  Log log(LogLevel::info, format);
  log.write(LogLevel::warn, "store_full", "no room");
  log.flush();
  std::string line = captured.read_some();
  const auto time = line.find("20");
  return line.erase(time, std::string("2026-11-27T22:43:15.985Z").size());
}

TEST(Log, WhereJournaldReadsIt_LinesBeginWithTheirPriority) {
  CapturedStandardError captured;
  ::setenv("JOURNAL_STREAM", captured.stream().c_str(), 1);
  EXPECT_EQ(warning(LogFormat::json, captured), "<4>{\"time\":\"\",\"level\":\"warn\",\"event\":\"store_full\",\"text\":\"no room\"}\n");
  EXPECT_EQ(warning(LogFormat::text, captured), "<4> warn store_full text=\"no room\"\n");
  {
    Log log(LogLevel::debug, LogFormat::text);
    for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::error}) {
      log.write(level, "event", "");
      log.flush();
      EXPECT_EQ(captured.read_some().substr(0, 4), level == LogLevel::debug ? "<7>2" : level == LogLevel::info ? "<6>2" : "<3>2");
    }
  }
  ::unsetenv("JOURNAL_STREAM");
}

TEST(Log, ElsewhereLinesHaveNoPrefix) {
  CapturedStandardError captured;
  for (const char* stream : {static_cast<const char*>(nullptr), "1:2", ""}) {
    stream == nullptr ? ::unsetenv("JOURNAL_STREAM") : ::setenv("JOURNAL_STREAM", stream, 1);
    EXPECT_EQ(warning(LogFormat::json, captured), "{\"time\":\"\",\"level\":\"warn\",\"event\":\"store_full\",\"text\":\"no room\"}\n");
  }
  ::unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace runwarden::ops
