// Intervals against figures that were published: Newcombe, Statistics in Medicine 17 (1998), pages 857 (one share) and 873 (two).
#include "base/rate.h"

#include <gtest/gtest.h>

#include <array>

namespace runwarden {
namespace {

constexpr double kPrinted = 0.00006;  // the tables have four digits

struct PublishedShare {
  Proportion of;
  double low;
  double high;
};

TEST(Rate, WilsonsIntervalIsThePublishedOne) {
  constexpr std::array<PublishedShare, 4> kTable = {
      {{{81, 263}, 0.2553, 0.3662}, {{15, 148}, 0.0624, 0.1605}, {{0, 20}, 0.0000, 0.1611}, {{1, 29}, 0.0061, 0.1718}}};
  for (const PublishedShare& row : kTable) {
    const Interval share = share_of(row.of);
    EXPECT_NEAR(share.low, row.low, kPrinted) << row.of.affected << "/" << row.of.runs;
    EXPECT_NEAR(share.high, row.high, kPrinted) << row.of.affected << "/" << row.of.runs;
  }
}

struct PublishedDifference {
  Proportion left;
  Proportion right;
  double low;
  double high;
};

TEST(Rate, NewcombesIntervalIsThePublishedOne) {
  constexpr std::array<PublishedDifference, 8> kTable = {{{{56, 70}, {48, 80}, 0.0524, 0.3339},
                                                          {{9, 10}, {3, 10}, 0.1705, 0.8090},
                                                          {{6, 7}, {2, 7}, 0.0582, 0.8062},
                                                          {{5, 56}, {0, 29}, -0.0381, 0.1926},
                                                          {{0, 10}, {0, 20}, -0.1611, 0.2775},
                                                          {{0, 10}, {0, 10}, -0.2775, 0.2775},
                                                          {{10, 10}, {0, 20}, 0.6791, 1.0000},
                                                          {{10, 10}, {0, 10}, 0.6075, 1.0000}}};
  for (const PublishedDifference& row : kTable) {
    const Interval difference = difference_of(row.left, row.right);
    EXPECT_NEAR(difference.low, row.low, kPrinted) << row.left.affected << "/" << row.left.runs;
    EXPECT_NEAR(difference.high, row.high, kPrinted) << row.left.affected << "/" << row.left.runs;
  }
}

TEST(Rate, OfNoRuns_IsAnything) {
  const Interval share = share_of({0, 0});
  EXPECT_EQ(share.value, 0);
  EXPECT_EQ(share.low, 0);
  EXPECT_EQ(share.high, 1);
}

TEST(Rate, ComparesOnlyWhatHasEnoughRuns) {
  EXPECT_EQ(compare_rates({19, 19}, {0, 1000}), RateVerdict::too_few);
  EXPECT_EQ(compare_rates({500, 1000}, {0, 19}), RateVerdict::too_few);
  EXPECT_EQ(compare_rates({20, 20}, {0, 20}), RateVerdict::worse);
  EXPECT_EQ(compare_rates({0, 20}, {20, 20}), RateVerdict::better);
  EXPECT_EQ(compare_rates({5, 100}, {4, 100}), RateVerdict::no_difference);
}

TEST(Rate, TrendSaysRisingOrFallingOnlyBeyondChance) {
  EXPECT_EQ(trend_of(2, 2), Trend::too_few);
  EXPECT_EQ(trend_of(0, 5), Trend::rising);
  EXPECT_EQ(trend_of(5, 0), Trend::falling);
  EXPECT_EQ(trend_of(4, 6), Trend::steady);
  EXPECT_EQ(trend_of(100, 150), Trend::rising);
  EXPECT_EQ(trend_of(150, 100), Trend::falling);
}

}  // namespace
}  // namespace runwarden
