#include "detect/inspect.h"

#include <gmock/gmock.h>

#include "zoo.h"

namespace runwarden::detect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Inspect : public Zoo {};

TEST_F(Inspect, WhenTheFileIsGood_TellsWhatItIs) {
  const auto file = put("good.so", bytes_of("good"));
  const Inspection found = inspect(file, settings.search_path);
  EXPECT_TRUE(found.loadable);
  EXPECT_EQ(found.refusal, "");
  EXPECT_TRUE(found.notes.empty());
  EXPECT_EQ(found.abi_major, 1U);
  ASSERT_EQ(found.detectors.size(), 2U);
  EXPECT_EQ(found.detectors[0].key, "zoo");
  EXPECT_THAT(found.detectors[0].optional_caps, ElementsAre("DETERMINISTIC"));
  EXPECT_THAT(found.detectors[0].schema_json, HasSubstr("repeats"));
}

TEST_F(Inspect, WhenTheFileLiesElsewhere_ThatIsANoteOnly) {
  const auto file = folder / "mine.so";
  std::ofstream(file, std::ios::binary) << bytes_of("good");
  const Inspection found = inspect(file, settings.search_path);
  EXPECT_TRUE(found.loadable);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_THAT(found.notes[0], testing::StartsWith("location: " + file.string() + " is outside "));
  EXPECT_TRUE(inspect(file, {}).loadable);
}

TEST_F(Inspect, WhenTheHostIsTooOld_TellsTheVersionsAndTheRefusal) {
  const Inspection found = inspect(put("host_too_old.so", bytes_of("host_too_old")), {});
  EXPECT_FALSE(found.loadable);
  EXPECT_TRUE(found.has_entry);
  EXPECT_EQ(found.min_host_minor, 3U);
  EXPECT_EQ(
      found.refusal,
      "host_too_old.so: refused: needs host ABI 1.3, this host has 1.2 (built with SDK 1.4). Install runwarden >= 2.2 or rebuild with "
      "RW_TARGET_MINOR=2.");
}

TEST_F(Inspect, WhenTheFileIsNoLibrary_SaysSo) {
  EXPECT_THAT(inspect(put("x.so", "hello"), {}).refusal,
              HasSubstr("x.so: refused: is not an ELF file. Build it with runwarden_add_detector on "));
  EXPECT_THAT(inspect(detectors / "none.so", {}).refusal, HasSubstr("No such file"));
}

}  // namespace
}  // namespace runwarden::detect
