#include "redact/secret_matcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace runwarden::redact {
namespace {

Rules one_rule() {
  Rules rules;
  rules.markers = {"<#>"};
  return rules;
}

std::string without(const std::vector<std::string>& secrets, const std::string& text) {
  const Rules rules = one_rule();
  std::vector<Redactions::Secret> found;
  for (const std::string& one : secrets) found.push_back({one, 0, Redactions::Secret::By::place});
  return SecretMatcher(rules, found, {text}).without(text);
}

TEST(SecretMatcher, ShortSecretsAreFoundWhole) {
  EXPECT_EQ(without({"hunter2"}, "a hunter2, b Hunter2."), "a <#>, b <#>.");
  EXPECT_EQ(without({"4111 1111 1111 1111"}, "x 4111111111111111 y 4111-1111-1111-1111"), "x <#> y <#>");
  EXPECT_EQ(without({"abcdef", "abc", "abcdefgh"}, "abc abcdef abcdefgh"), "<#> <#> <#>");
}

TEST(SecretMatcher, VeryShortOnesAsWordsAlone) {
  EXPECT_EQ(without({"123"}, "123 and 1234 and x123"), "<#> and 1234 and x123");
  EXPECT_EQ(without({"no"}, "no one knows"), "no one knows");
}

TEST(SecretMatcher, ABeginningWhereTheTextWasCut) {
  EXPECT_EQ(without({"hunter2-and-more"}, "said \"hunter2\" then"), "said \"<#>\" then");
  EXPECT_EQ(without({"hunter2-and-more"}, "said hunter2\u2026"), "said <#>\u2026");
  EXPECT_EQ(without({"hunter2-and-more"}, "said hunter"), "said <#>");
  EXPECT_EQ(without({"hunter2-and-more"}, "the hunter went"), "the hunter went");
}

TEST(SecretMatcher, StretchesOfALongSecret) {
  const std::string secret = "The customer told us in confidence that the account is closed.";
  EXPECT_EQ(without({secret}, "It said \"told us in confidence\" twice"), "It said \"<#>\" twice");
  EXPECT_EQ(without({secret}, "It said \"Told  us\\nin confidence\""), "It said \"<#>\"");
  EXPECT_EQ(without({secret}, "It said nothing"), "It said nothing");
}

TEST(SecretMatcher, CharactersStayWhole) {
  const std::string out = without({"\u00FCberpr\u00FCfung der Angaben des Kunden"}, "x \u00FCberpr\u00FCfung der Angaben y");
  EXPECT_EQ(out, "x <#> y");
}

TEST(SecretMatcher, ManySecretsAndALongTextTakeNoProductOfTheirs) {
  std::vector<std::string> secrets;
  for (int i = 0; i < 50'000; ++i) secrets.push_back("41111111" + std::to_string(10'000'000 + i));
  std::string text;
  while (text.size() < 200'000) text += "41111111 ";
  const auto begun = std::chrono::steady_clock::now();
  without(secrets, text);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

}  // namespace
}  // namespace runwarden::redact
