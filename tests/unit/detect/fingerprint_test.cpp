#include "detect/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace runwarden::detect {
namespace {

TEST(Mask, WhenTextsDifferInNumbersIdsAndDates_MakesThemEqual) {
  const std::pair<const char*, const char*> same[] = {
      {"502 Bad Gateway", "503 bad  gateway"},
      {"order 8842 not found", "order 12 not found"},
      {"user 550e8400-e29b-41d4-a716-446655440000 gone", "user 6ba7b810-9dad-abcd-beef-00c04fd430c8 gone"},
      {"since 2026-06-28T12:00:00Z", "since 2026-07-01 08:30"},
      {"on June 28, 2026 at 5 pm", "on 1 May 2027 at 17:30"},
      {"host 10.0.0.1:8080 refused", "host 192.168.1.17:443 refused"},
      {"no such item \"red shoes\"", "no such item \"hat\""},
      {"key 'abc def' is taken", "key 'x' is taken"},
      {"object 0xdeadbeef leaked", "object 0x12 leaked"},
      {"trace deadbeefcafe", "trace cafebabe1234"},
      {"tracking 1Z999AA10123456784", "tracking 1ZB"},
      {"costs $12.50", "costs $1,300.00"},
  };
  for (const auto& [a, b] : same) EXPECT_EQ(mask(a), mask(b));
}

TEST(Mask, WhenTextsDifferInWords_KeepsThemApart) {
  EXPECT_NE(mask("connection refused"), mask("connection reset"));
  EXPECT_NE(mask("502 Bad Gateway"), mask("504 Gateway Timeout"));
  EXPECT_EQ(mask("502 Bad Gateway"), "# bad gateway");
  EXPECT_EQ(mask("can't reach the customer's account"), "can't reach the customer's account");
  EXPECT_EQ(mask("facade decade"), "facade decade");
}

TEST(Mask, WhenTheTextIsHostile_StaysLinear) {
  for (const char* unit : {"\"", "'a ", "1 ,", "# ", "may ,", "-1", "a\"b"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    EXPECT_LE(mask(text).size(), text.size() + 1);
  }
}

TEST(Fingerprint, WhenAPartIsTheStepsName_KeepsIt) {
  EXPECT_EQ(fingerprint("false_success", "search_v2", {"search_v2", "502 Bad Gateway"}), "false_success:search_v2:# bad gateway");
  EXPECT_EQ(fingerprint("false_success", "other", {"search_v2", "x"}), "false_success:#:x");
}

TEST(Fingerprint, WhenAPartIsLong_IsCutAndStaysDistinct) {
  const std::string common(300, 'x');
  const std::string a = fingerprint("k", "", {common + " apples"});
  const std::string b = fingerprint("k", "", {common + " pears"});
  EXPECT_LE(a.size(), 130U);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, fingerprint("k", "", {common + " apples"}));
}

TEST(Fingerprint, WhenTheCutFallsIntoACharacter_KeepsItWhole) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xC3\xA9";
  const std::string cut = fingerprint("k", "", {"a" + text});
  const std::size_t tilde = cut.find('~');
  ASSERT_NE(tilde, std::string::npos);
  EXPECT_EQ(static_cast<unsigned char>(cut[tilde - 1]), 0xA9);
}

}  // namespace
}  // namespace runwarden::detect
