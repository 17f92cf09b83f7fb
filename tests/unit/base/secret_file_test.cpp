#include "base/secret_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace runwarden {
namespace {

TEST(SecretFile, IsReadWithoutItsLineEnds) {
  const test::TempFolder folder;
  const auto file = folder.write("key", "sk-1\r\n\n");
  ASSERT_EQ(::chmod(file.c_str(), 0400), 0);
  const auto secret = read_secret_file(file);
  ASSERT_TRUE(secret.ok()) << secret.error().detail;
  EXPECT_EQ(*secret, "sk-1");
}

TEST(SecretFile, IsForItsOwnerAlone_OrForAGroupToReadWhereRootOwnsIt) {
  const test::TempFolder folder;
  const auto file = folder.write("key", "sk-1\n");
  const bool of_root = ::geteuid() == 0;
  ASSERT_EQ(::chmod(file.c_str(), 0440), 0);
  EXPECT_EQ(read_secret_file(file).ok(), of_root);
  for (const mode_t mode : {0604, 0640, 0660, 0610, 0644, 0444}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    const auto refused = read_secret_file(file);
    ASSERT_FALSE(refused.ok()) << mode;
    EXPECT_THAT(refused.error().detail, testing::HasSubstr("is readable by other users; run chmod 0600 on it"));
  }
}

TEST(SecretFile, ThatIsEmptyOrTooLongOrNoFile_IsRefused) {
  const test::TempFolder folder;
  const auto file = folder.write("key", "\n");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_THAT(read_secret_file(file).error().detail, testing::HasSubstr("is empty"));
  const auto longer = folder.write("long", std::string(4097, 'x'));
  ASSERT_EQ(::chmod(longer.c_str(), 0600), 0);
  EXPECT_THAT(read_secret_file(longer).error().detail, testing::HasSubstr("is longer than 4096 bytes"));
  EXPECT_THAT(read_secret_file(folder.path().string()).error().detail, testing::HasSubstr("is not a readable file"));
  EXPECT_THAT(read_secret_file((folder.path() / "none").string()).error().detail, testing::HasSubstr("cannot read"));
}

}  // namespace
}  // namespace runwarden
