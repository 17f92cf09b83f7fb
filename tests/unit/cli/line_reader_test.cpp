#include "cli/line_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace runwarden::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text, std::size_t max_line_bytes) {
  const test::TempFolder folder;
  const auto input = InputFile::open(folder.write("input", text));
  LineReader reader(input->descriptor(), max_line_bytes);
  std::vector<std::string> lines;
  for (;;) {
    auto line = reader.next();
    if (!line.ok()) return {line.error().detail};
    if (!*line) return lines;
    lines.push_back(std::to_string((*line)->number) + ":" + ((*line)->too_long ? "TOO LONG" : (*line)->text));
  }
}

using testing::ElementsAre;

TEST(LineReader, GivesLinesWithTheirNumbers) {
  EXPECT_THAT(lines_of("", 10), ElementsAre());
  EXPECT_THAT(lines_of("a\nb", 10), ElementsAre("1:a", "2:b"));
  EXPECT_THAT(lines_of("a\n\n \t\r\nb\r\n", 10), ElementsAre("1:a", "4:b"));
  EXPECT_THAT(lines_of("\n\n", 10), ElementsAre());
  EXPECT_THAT(lines_of(std::string("a\0b\nc", 5), 10), ElementsAre(std::string("1:a\0b", 5), "2:c"));
}

TEST(LineReader, WhenALineIsTooLong_SaysSoAndGoesOn) {
  EXPECT_THAT(lines_of("1234567890\n12345678901\nx\n", 10), ElementsAre("1:1234567890", "2:TOO LONG", "3:x"));
  EXPECT_THAT(lines_of("1234567890\r\nx", 10), ElementsAre("1:1234567890", "2:x"));
  EXPECT_THAT(lines_of(std::string(1'000'000, 'a') + "\nb\n" + std::string(1'000'000, 'c'), 10),
              ElementsAre("1:TOO LONG", "2:b", "3:TOO LONG"));
}

TEST(LineReader, WhenLinesCrossItsChunks_ReadsThemWhole) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 1; i <= 40; ++i) {
    const std::string line(static_cast<std::size_t>(i) * 1999, static_cast<char>('a' + i % 26));
    text += line + "\n";
    expected.push_back(std::to_string(i) + ":" + line);
  }
  EXPECT_EQ(lines_of(text, 100'000), expected);
}

TEST(LineReader, WhenALineIsThereInAPipe_DoesNotWaitForMore) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "one\ntw", 6), 6);
  LineReader reader(ends[0], 100);
  const auto line = reader.next();
  ASSERT_TRUE(line.ok() && *line);
  EXPECT_EQ((*line)->text, "one");
  ::close(ends[1]);
  const auto rest = reader.next();
  ASSERT_TRUE(rest.ok() && *rest);
  EXPECT_EQ((*rest)->text, "tw");
  ::close(ends[0]);
}

TEST(LineReader, SaysHowItBeginsAndTakesNothing) {
  const test::TempFolder folder;
  const auto input = InputFile::open(folder.write("input", "one\ntwo"));
  LineReader reader(input->descriptor(), 5);
  EXPECT_TRUE(*reader.begins_with("one\nt"));
  EXPECT_FALSE(*reader.begins_with("two"));
  EXPECT_FALSE(*reader.begins_with("one\ntwo and more"));
  EXPECT_EQ((*reader.next())->text, "one");
  EXPECT_TRUE(*reader.begins_with("two"));
  EXPECT_EQ(**reader.rest(), "two");
  EXPECT_EQ(**reader.rest(), "");
}

TEST(LineReader, Rest_IsBoundedAlsoBehindWhatWasLookedAt) {
  const test::TempFolder folder;
  const auto input = InputFile::open(folder.write("input", std::string(200'000, 'x')));
  LineReader reader(input->descriptor(), 100'000);
  EXPECT_TRUE(*reader.begins_with("xx"));
  EXPECT_EQ(*reader.rest(), std::nullopt);
}

TEST(ReadWhole, IsBounded) {
  const test::TempFolder folder;
  const auto file = folder.write("input", "12345");
  EXPECT_EQ(**read_whole(InputFile::open(file)->descriptor(), 5), "12345");
  EXPECT_EQ(*read_whole(InputFile::open(file)->descriptor(), 4), std::nullopt);
}

TEST(InputFile, WhenItCannotBeOpened_SaysWhich) {
  const auto file = InputFile::open("/nowhere/run.json");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().detail, "cannot open \"/nowhere/run.json\": the folder \"/nowhere\" does not exist; check the path");
}

}  // namespace
}  // namespace runwarden::cli
