#include "detect/crash_marks.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "detect/crash_note.h"
#include "support/temp_folder.h"

namespace runwarden::detect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const model::Digest kNothing{};

model::CrashMark mark(const std::string& run_id, std::uint8_t content) {
  model::CrashMark mark;
  mark.key.time_ms = 1'790'000'000'000;
  mark.tenant_name = "acme";
  mark.run_id = run_id;
  mark.content[0] = content;
  mark.detector_key = "loop";
  mark.library_sha256 = "abc";
  mark.signal = SIGSEGV;
  return mark;
}

model::Digest content(std::uint8_t first) {
  model::Digest digest{};
  digest[0] = first;
  return digest;
}

TEST(CrashMarks, WithoutAny_EveryDetectorIsAsked) {
  const CrashMarks marks;
  EXPECT_FALSE(marks.any());
  EXPECT_FALSE(marks.reason({"loop", "abc", "acme", "r", kNothing}));
}

TEST(CrashMarks, ARunIsKnownByItsIdOrItsContent) {
  CrashMarks marks;
  marks.put({mark("r", 7)});
  EXPECT_TRUE(marks.any());
  EXPECT_THAT(marks.reason({"loop", "abc", "acme", "r", kNothing}).value_or(""),
              HasSubstr("it crashed the process (SIGSEGV) while evaluating this run at 2026-09-"));
  EXPECT_TRUE(marks.reason({"loop", "abc", "acme", "run_fresh", content(7)}));
  EXPECT_FALSE(marks.reason({"loop", "abc", "acme", "run_fresh", content(8)}));
}

TEST(CrashMarks, AnotherDetectorLibraryOrTenant_IsNotMeant) {
  CrashMarks marks;
  marks.put({mark("r", 7)});
  EXPECT_FALSE(marks.reason({"ghost", "abc", "acme", "r", content(7)}));
  EXPECT_FALSE(marks.reason({"loop", "mended", "acme", "r", content(7)}));
  EXPECT_FALSE(marks.reason({"loop", "abc", "other", "r", content(7)}));
}

TEST(CrashMarks, ARunThatWasPutTogether_IsKnownByItsIdOnly) {
  CrashMarks marks;
  marks.put({mark("r", 0)});
  EXPECT_TRUE(marks.reason({"loop", "abc", "acme", "r", kNothing}));
  EXPECT_FALSE(marks.reason({"loop", "abc", "acme", "another", kNothing}));
}

TEST(CrashMarks, WhenPutAgain_ThoseBeforeAreGone) {
  CrashMarks marks;
  marks.put({mark("r", 7)});
  marks.add(mark("s", 8));
  EXPECT_EQ(marks.count(), 2u);
  EXPECT_THAT(marks.times_ms("loop", "abc"), ElementsAre(1'790'000'000'000, 1'790'000'000'000));
  EXPECT_TRUE(marks.times_ms("loop", "mended").empty());
  marks.put({});
  EXPECT_FALSE(marks.any());
  EXPECT_FALSE(marks.reason({"loop", "abc", "acme", "r", content(7)}));
}

TEST(CrashNote, OfAFileThatIsNone_IsNothing) {
  const runwarden::test::TempFolder folder;
  const auto file = folder.path() / "crash.note";
  EXPECT_FALSE(CrashNote::read(file));
  std::ofstream(file) << "rwcrash1 cut off";
  EXPECT_FALSE(CrashNote::read(file));
  std::ofstream(file) << std::string(4096, 'x');
  EXPECT_FALSE(CrashNote::read(file));
}

}  // namespace
}  // namespace runwarden::detect
