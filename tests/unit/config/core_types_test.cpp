#include "config/core_types.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>

#include "support/temp_folder.h"

namespace runwarden::config {
namespace {

struct TypeCase {
  const char* text;
  Node::Kind kind;
  double number = 0;
};

class CoreTypes : public testing::TestWithParam<TypeCase> {};

TEST_P(CoreTypes, PlainScalarsAreWhatYaml12CoreSays) {
  Node node;
  node.text = GetParam().text;
  type_plain(node);
  EXPECT_EQ(node.kind, GetParam().kind) << GetParam().text;
  EXPECT_EQ(node.number, GetParam().number) << GetParam().text;
}

// A detector may set the locale of the process for its own ends.
TEST(CoreTypesInALocale, WithADecimalComma_NumbersAreRead) {
  const test::TempFolder folder;
  const std::string name = (folder.path() / "de_DE.UTF-8").string();
  const std::string made = "localedef -i de_DE -f UTF-8 " + name + " >/dev/null 2>&1";
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "localedef or its sources (Debian's package locales) are missing";
  ::setenv("LOCPATH", folder.path().c_str(), 1);
  const bool set = std::setlocale(LC_NUMERIC, "de_DE.UTF-8") != nullptr;
  const std::string comma = std::localeconv()->decimal_point;
  Node number;
  number.text = "0.75";
  type_plain(number);
  std::setlocale(LC_NUMERIC, "C");
  ::unsetenv("LOCPATH");
  ASSERT_TRUE(set);
  ASSERT_EQ(comma, ",");
  EXPECT_EQ(number.number, 0.75);
}

using K = Node::Kind;
INSTANTIATE_TEST_SUITE_P(
    Table, CoreTypes,
    testing::Values(TypeCase{"", K::null}, TypeCase{"~", K::null}, TypeCase{"null", K::null}, TypeCase{"Null", K::null},
                    TypeCase{"nULL", K::text}, TypeCase{"true", K::boolean}, TypeCase{"False", K::boolean}, TypeCase{"TRUE", K::boolean},
                    TypeCase{"tRue", K::text}, TypeCase{"yes", K::text}, TypeCase{"on", K::text}, TypeCase{"No", K::text},
                    TypeCase{"0", K::integer, 0}, TypeCase{"-0", K::integer, -0.0}, TypeCase{"+12", K::integer, 12},
                    TypeCase{"0777", K::integer, 777}, TypeCase{"0o17", K::integer, 15}, TypeCase{"0x1f", K::integer, 31},
                    TypeCase{"0xFF", K::integer, 255}, TypeCase{"-0x1", K::text}, TypeCase{"0x", K::text}, TypeCase{"0o8", K::text},
                    TypeCase{"0b1", K::text}, TypeCase{"1_000", K::text}, TypeCase{"1:30", K::text}, TypeCase{"1.5", K::number, 1.5},
                    TypeCase{".5", K::number, 0.5}, TypeCase{"5.", K::number, 5}, TypeCase{"-1e3", K::number, -1000},
                    TypeCase{"1E-2", K::number, 0.01}, TypeCase{"+.5e1", K::number, 5}, TypeCase{"1e", K::text}, TypeCase{".", K::text},
                    TypeCase{"e5", K::text}, TypeCase{"1.2.3", K::text}, TypeCase{"- 1", K::text}, TypeCase{"-", K::text},
                    TypeCase{".inf", K::number, INFINITY}, TypeCase{"-.INF", K::number, -INFINITY}, TypeCase{"inf", K::text},
                    TypeCase{"nan", K::text}, TypeCase{"10s", K::text}, TypeCase{"8MiB", K::text}, TypeCase{"2026-11-20", K::text}));

TEST(CoreTypes, NotANumber_IsANumber) {
  Node node;
  node.text = ".nan";
  type_plain(node);
  EXPECT_EQ(node.kind, Node::Kind::number);
  EXPECT_TRUE(std::isnan(node.number));
}

TEST(IntegerDigits, AreDecimalOfAnyLength) {
  EXPECT_EQ(integer_digits("+007"), "7");
  EXPECT_EQ(integer_digits("-0"), "0");
  EXPECT_EQ(integer_digits("-12"), "-12");
  EXPECT_EQ(integer_digits("0x1F"), "31");
  EXPECT_EQ(integer_digits("0o17"), "15");
  EXPECT_EQ(integer_digits("000"), "0");
  EXPECT_EQ(integer_digits("123456789012345678901234567890"), "123456789012345678901234567890");
}

struct AmountCase {
  const char* text;
  std::optional<std::int64_t> amount;
};

class Sizes : public testing::TestWithParam<AmountCase> {};
TEST_P(Sizes, AreReadInBytes) {
  EXPECT_EQ(size_bytes(GetParam().text), GetParam().amount) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Table, Sizes,
                         testing::Values(AmountCase{"4096", 4096}, AmountCase{"8MiB", 8 << 20}, AmountCase{"64GiB", 64LL << 30},
                                         AmountCase{"1KiB", 1024}, AmountCase{"1KB", 1000}, AmountCase{"1kB", 1000},
                                         AmountCase{"2 mb", 2'000'000}, AmountCase{"3TiB", 3LL << 40}, AmountCase{"7B", 7},
                                         AmountCase{"0", 0}, AmountCase{"", {}}, AmountCase{"MiB", {}}, AmountCase{"-1MiB", {}},
                                         AmountCase{"1.5GiB", {}}, AmountCase{"8M", {}}, AmountCase{"8  MiB", {}}, AmountCase{"8MiBs", {}},
                                         AmountCase{"9223372036854775807", INT64_MAX}, AmountCase{"9223372036854775808", {}},
                                         AmountCase{"9007199254740992KiB", {}}));

class Durations : public testing::TestWithParam<AmountCase> {};
TEST_P(Durations, AreReadInMilliseconds) {
  EXPECT_EQ(duration_ms(GetParam().text), GetParam().amount) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Table, Durations,
                         testing::Values(AmountCase{"250ms", 250}, AmountCase{"10s", 10'000}, AmountCase{"5m", 300'000},
                                         AmountCase{"24h", 86'400'000}, AmountCase{"90d", 7'776'000'000}, AmountCase{"1h30m", 5'400'000},
                                         AmountCase{"1m500ms", 60'500}, AmountCase{"0", 0}, AmountCase{"0ms", 0}, AmountCase{"10", {}},
                                         AmountCase{"", {}}, AmountCase{"s", {}}, AmountCase{"-1s", {}}, AmountCase{"1.5s", {}},
                                         AmountCase{"1 s", {}}, AmountCase{"1w", {}}, AmountCase{"1h-30m", {}}, AmountCase{"1s2", {}},
                                         AmountCase{"forever", {}}, AmountCase{"106751991168d", {}},
                                         AmountCase{"99999999999999999999s", {}}));

}  // namespace
}  // namespace runwarden::config
