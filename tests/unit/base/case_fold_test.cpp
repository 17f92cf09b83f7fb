#include "base/case_fold.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

TEST(FoldCase, MakesTextsEqual_ThatDifferInCapitalsOnly) {
  EXPECT_EQ(fold_case("Issue_REFUND 42"), "issue_refund 42");
  EXPECT_EQ(fold_case("ПЕРЕВОД"), fold_case("перевод"));
  EXPECT_EQ(fold_case("ÉTÉ"), fold_case("été"));
  EXPECT_EQ(fold_case("ΛΌΓΟΣ"), fold_case("λόγος"));
  EXPECT_EQ(fold_case("日本語"), "日本語");
}

TEST(FoldCase, LeavesWhatIsNotUtf8) {
  EXPECT_EQ(fold_case("A\xff\xc3"), "a\xff\xc3");
  EXPECT_EQ(fold_case(""), "");
}

}  // namespace
}  // namespace runwarden
