#include "detect/crash_marks.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <barrier>
#include <fstream>
#include <thread>

#include "detect/crash_context.h"
#include "detect/crash_file.h"
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

class CrashNoteFile : public testing::Test {
 protected:
  // As a process leaves it that has ended during a call for the run.
  void leave_call(const std::string& run_id, std::uint8_t first = 0) const {
    ASSERT_TRUE(CrashNote::watch(file).ok());
    CrashContext context{.tenant = "acme", .run_id = run_id, .detector_key = "loop", .library_sha256 = "abc", .library = "/l.so"};
    const model::Digest digest = content(first);
    context.content = &digest;
    const CrashContextScope scope(context);
    std::filesystem::copy_file(file, folder.path() / "left", std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(folder.path() / "left", file);
  }
  std::vector<std::string> crashes() const { return runs(CrashNote::read(file).crashes); }
  std::vector<std::string> suspects() const { return runs(CrashNote::read(file).suspects); }

  const runwarden::test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "crash.note";

 private:
  static std::vector<std::string> runs(const std::vector<model::CrashMark>& marks) {
    std::vector<std::string> ids;
    for (const model::CrashMark& mark : marks) {
      EXPECT_EQ(mark.tenant_name + mark.detector_key + mark.library_sha256 + mark.library, "acmeloopabc/l.so");
      EXPECT_EQ(mark.signal, kUnseenSignal);
      ids.push_back(mark.run_id);
    }
    return ids;
  }
};

TEST_F(CrashNoteFile, ThatIsNone_TellsNothing) {
  EXPECT_TRUE(crashes().empty());
  for (const std::string& bytes : {std::string("rwcrash1 cut off"), std::string(4096, 'x'), std::string(1'000'000, 'x')}) {
    std::ofstream(file) << bytes;
    EXPECT_TRUE(crashes().empty());
    EXPECT_TRUE(suspects().empty());
  }
}

TEST_F(CrashNoteFile, OfACallUnderWayAtTwoEndsInARow_IsACrash) {
  leave_call("r");
  EXPECT_TRUE(crashes().empty());
  EXPECT_THAT(suspects(), ElementsAre("r"));
  leave_call("r");
  EXPECT_THAT(crashes(), ElementsAre("r"));
  EXPECT_TRUE(suspects().empty());
}

TEST_F(CrashNoteFile, OfTheSameBytesUnderAnotherId_IsACrash) {
  leave_call("run_fresh", 7);
  leave_call("run_fresher", 7);
  EXPECT_THAT(crashes(), ElementsAre("run_fresher"));
}

TEST_F(CrashNoteFile, OfAnotherRunInBetween_BlamesNobody) {
  leave_call("r");
  leave_call("s");
  leave_call("r");
  EXPECT_TRUE(crashes().empty());
  EXPECT_THAT(suspects(), ElementsAre("r"));
}

TEST_F(CrashNoteFile, OfACallThatReturned_BlamesNobody) {
  ASSERT_TRUE(CrashNote::watch(file).ok());
  const CrashContext context{.tenant = "acme", .run_id = "r", .detector_key = "loop"};
  { const CrashContextScope scope(context); }
  EXPECT_TRUE(crashes().empty());
  EXPECT_TRUE(suspects().empty());
}

TEST_F(CrashNoteFile, OfACallThatBelongsToNoRun_BlamesNobody) {
  ASSERT_TRUE(CrashNote::watch(file).ok());
  const CrashContext context{.detector_key = "loop", .library = "/l.so", .code = DetectorCode::create};
  const CrashContextScope scope(context);
  EXPECT_TRUE(crashes().empty());
  EXPECT_TRUE(suspects().empty());
}

TEST_F(CrashNoteFile, OfAProcessThatStopped_BlamesNobody) {
  leave_call("r");
  ASSERT_TRUE(CrashNote::watch(file).ok());
  const CrashContext context{.tenant = "acme", .run_id = "r", .detector_key = "loop", .library_sha256 = "abc", .library = "/l.so"};
  const CrashContextScope scope(context);
  EXPECT_THAT(crashes(), ElementsAre("r"));
  CrashNote::stopped();
  EXPECT_TRUE(crashes().empty());
  EXPECT_TRUE(suspects().empty());
}

TEST(CrashNote, OfMoreThreadsThanItHasRoomFor_DoesWithout) {
  const runwarden::test::TempFolder folder;
  ASSERT_TRUE(CrashNote::watch(folder.path() / "crash.note").ok());
  constexpr std::size_t kThreads = kCallSlots + 9;
  std::barrier inside(kThreads + 1);
  std::barrier read(kThreads + 1);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const CrashContext context{.tenant = "acme", .run_id = "r", .detector_key = "loop"};
      const CrashContextScope scope(context);
      inside.arrive_and_wait();
      read.arrive_and_wait();
    });
  }
  inside.arrive_and_wait();
  const std::size_t found = CrashNote::read(folder.path() / "crash.note").suspects.size();
  read.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(found, kCallSlots);
  EXPECT_GE(found, kCallSlots - 1);  // this thread may keep one
  EXPECT_TRUE(CrashNote::read(folder.path() / "crash.note").suspects.empty());
}

}  // namespace
}  // namespace runwarden::detect
