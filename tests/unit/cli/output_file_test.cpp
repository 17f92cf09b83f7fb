#include "cli/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <future>
#include <string>

#include "support/files.h"
#include "support/temp_folder.h"

namespace runwarden::cli {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  static void write(const fs::path& path) {
    OutputFile file(path);
    ASSERT_EQ(file.fault(), "");
    EXPECT_TRUE(file.write("new"));
    EXPECT_TRUE(file.finish()) << file.fault();
  }

  test::TempFolder folder_;
  const fs::path path_ = folder_.path() / "file";
};

TEST_F(OutputFileTest, UntilItIsFinished_TheFileStaysAsItIs) {
  folder_.write("file", "old");
  {
    OutputFile file(path_);
    EXPECT_TRUE(file.write("new"));
    EXPECT_EQ(test::read_file(path_), "old");
  }
  EXPECT_EQ(test::read_file(path_), "old");
  write(path_);
  EXPECT_EQ(test::read_file(path_), "new");
}

TEST_F(OutputFileTest, SymbolicLink_StaysAndItsTargetIsWritten) {
  fs::create_directory(folder_.path() / "elsewhere");
  folder_.write("elsewhere/target", "old");
  fs::create_symlink("elsewhere/target", path_);
  fs::create_symlink(path_, folder_.path() / "link to the link");
  write(folder_.path() / "link to the link");
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder_.path() / "elsewhere/target")));
  EXPECT_EQ(test::read_file(folder_.path() / "elsewhere/target"), "new");
  EXPECT_FALSE(fs::exists(folder_.path() / "file.partial"));
}

TEST_F(OutputFileTest, SymbolicLinkToNothing_GetsItsTarget) {
  fs::create_symlink("target", path_);
  write(path_);
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(test::read_file(folder_.path() / "target"), "new");
}

TEST_F(OutputFileTest, Pipe_IsWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  fs::create_symlink(path_, folder_.path() / "link");
  for (const char* name : {"file", "link"}) {
    auto reader = std::async(std::launch::async, [this] { return test::read_file(path_); });
    write(folder_.path() / name);
    EXPECT_EQ(reader.get(), "new");
    EXPECT_TRUE(fs::is_fifo(fs::symlink_status(path_)));
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "file.partial"));
}

// As `export --output /dev/stdout` with standard output in a pipe.
TEST_F(OutputFileTest, OpenDescriptor_IsWrittenInPlace) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  write("/proc/self/fd/" + std::to_string(ends[1]));
  std::array<char, 8> read{};
  EXPECT_EQ(::read(ends[0], read.data(), read.size()), 3);
  EXPECT_STREQ(read.data(), "new");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(OutputFileTest, LinksInACircle_AreAFault) {
  fs::create_symlink("other", path_);
  fs::create_symlink("file", folder_.path() / "other");
  EXPECT_THAT(OutputFile(path_).fault(), testing::HasSubstr("cannot be written"));
  EXPECT_TRUE(fs::is_symlink(path_));
}

}  // namespace
}  // namespace runwarden::cli
