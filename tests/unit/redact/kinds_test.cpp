#include "redact/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "redact/normal_text.h"

namespace runwarden::redact {
namespace {

using model::SecretKind;

KindSet only(SecretKind kind) {
  KindSet kinds;
  kinds.set(static_cast<std::size_t>(kind));
  return kinds;
}

std::vector<std::string> found(std::string_view text, KindSet kinds) {
  const NormalText normal(text);
  std::vector<std::string> all;
  for (auto one = find_secret(normal.text(), 0, kinds); one; one = find_secret(normal.text(), one->at.end, kinds)) {
    const TextRange at = normal.written(one->at);
    all.emplace_back(text.substr(at.begin, at.end - at.begin));
  }
  return all;
}

struct Case {
  const char* text;
  std::vector<std::string> secrets;
};

void check(SecretKind kind, const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(found(one.text, only(kind)), one.secrets) << one.text;
}

TEST(Kinds, CardNumbersAreTold_ByIssuerAndCheckDigit) {
  check(SecretKind::card, {
                              {"4111111111111111", {"4111111111111111"}},
                              {"pay 4111 1111 1111 1111 now", {"4111 1111 1111 1111"}},
                              {"4111-1111-1111-1111.", {"4111-1111-1111-1111"}},
                              {"amex 378282246310005, 3782 822463 10005", {"378282246310005", "3782 822463 10005"}},
                              {"5555555555554444/12/29", {"5555555555554444"}},
                              {"2223003122003222", {"2223003122003222"}},
                              {"6011111111111117 3530111333300000", {"6011111111111117", "3530111333300000"}},
                              {"30569309025904", {"30569309025904"}},
                              {"4222222222222", {"4222222222222"}},
                              {"6304000000000000", {"6304000000000000"}},
                              {"card:4111111111111111;", {"4111111111111111"}},
                              {"4111 1111 1111 1111 2027", {"4111 1111 1111 1111"}},     // and the year it ends in
                              {"4111 1111 1111 1111 123", {"4111 1111 1111 1111"}},      // and its check value
                              {"room 12 4111 1111 1111 1111", {"4111 1111 1111 1111"}},  // a number before it
                              {"4111\u00A01111\u00A01111\u00A01111", {"4111\u00A01111\u00A01111\u00A01111"}},
                              {"4111\u20131111\u20131111\u20131111", {"4111\u20131111\u20131111\u20131111"}},
                              {"\u00FC4111111111111111", {"4111111111111111"}},
                          });
}

TEST(Kinds, OtherNumbersAreNoCards) {
  check(SecretKind::card, {
                              {"4111111111111112", {}},                      // check digit off by one
                              {"4111111111111121", {}},                      // two digits swapped
                              {"order 1234567890123456", {}},                // no issuer's
                              {"1234567812345670", {}},                      // right check digit, no issuer's
                              {"1700000000000", {}},                         // milliseconds
                              {"1732200000003", {}},                         // milliseconds with a right check digit
                              {"411111111111", {}},                          // 12 digits
                              {"41111111111111111111", {}},                  // 20 digits
                              {"4111111111111111a", {}},                     // part of a word
                              {"a4111111111111111", {}},                     //
                              {"order_4111111111111111", {}},                //
                              {"0.4111111111111111", {}},                    // a fraction
                              {"4111111111111111.5", {}},                    //
                              {"+411111111111116", {}},                      // a phone's
                              {"41111111-1111-1111-1111-111111111111", {}},  // a UUID
                              {"4111  1111  1111  1111", {}},                // columns of a table
                              {"4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", {}},       //
                              {"tracking 1Z999AA10123456784", {}},
                              {"0000000000000000", {}},
                          });
}

TEST(Kinds, EMailAddresses) {
  check(SecretKind::email, {
                               {"bob@example.com", {"bob@example.com"}},
                               {"Write to <Bob.Smith+x@mail.example.co.uk>, please.", {"Bob.Smith+x@mail.example.co.uk"}},
                               {"'bob@example.com'.", {"bob@example.com"}},
                               {"a@b.cd and c@d.ef", {"a@b.cd", "c@d.ef"}},
                               {"j\u00FCrgen@b\u00FCcher.de", {"j\u00FCrgen@b\u00FCcher.de"}},
                               {"https://bob:hunter2@db.example.com/x", {"hunter2@db.example.com"}},
                               {"?mail=bob@example.com&x=1", {"bob@example.com"}},
                               {"mailto:bob@example.com", {"bob@example.com"}},
                               {"bob@xn--bcher-kva.xn--p1ai", {"bob@xn--bcher-kva.xn--p1ai"}},
                               {"bob@localhost", {}},
                               {"bob @example.com", {}},
                               {"@example.com", {}},
                               {"react@18.2.0", {}},
                               {"logo@2x.png", {}},
                               {"git@github.com:acme/site.git", {}},
                               {"actions/checkout@v4", {}},
                               {"bob@example", {}},
                               {"bob@.com", {}},
                               {"@@@@", {}},
                           });
}

TEST(Kinds, AccessTokens) {
  const std::string jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
  check(SecretKind::token, {
                               {"Authorization: Bearer abc123.def-456", {"abc123.def-456"}},
                               {"bearer  QWxhZGRpbjpvcGVu", {"QWxhZGRpbjpvcGVu"}},
                               {"Authorization: Basic dXNlcjpwYXNz", {"dXNlcjpwYXNz"}},
                               {(jwt + ".").c_str(), {jwt}},
                               {"sk-proj-abcdefghij0123456789ABCD", {"sk-proj-abcdefghij0123456789ABCD"}},
                               {"key=sk_live_4eC39HqLyjWDarjtT1zdp7dc", {"sk_live_4eC39HqLyjWDarjtT1zdp7dc"}},
                               {"ghp_16C7e42F292c6912E7710c838347Ae178B4a", {"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}},
                               {"AKIAIOSFODNN7EXAMPLE", {"AKIAIOSFODNN7EXAMPLE"}},
                               {"xoxb-123456789012-abcdefABCDEF", {"xoxb-123456789012-abcdefABCDEF"}},
                               {"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----!",
                                {"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"}},
                               {"-----BEGIN PRIVATE KEY-----\nMIIE cut off", {"-----BEGIN PRIVATE KEY-----\nMIIE cut off"}},
                               {"the bearer of bad news", {}},
                               {"bearer instruments", {}},
                               {"basic understanding of tokens", {}},
                               {"sk-learn-and-other-hyphenated-names", {}},
                               {"task-0123456789012345678901234", {}},
                               {"AKIAIOSFODNN7EXAMPL", {}},
                               {"eyJ is how they begin", {}},
                               {"-----BEGIN CERTIFICATE-----", {}},
                           });
}

TEST(Kinds, AccountAndPhoneNumbers) {
  check(SecretKind::iban, {
                              {"DE89370400440532013000", {"DE89370400440532013000"}},
                              {"IBAN: GB82 WEST 1234 5698 7654 32.", {"GB82 WEST 1234 5698 7654 32"}},
                              {"NO93 8601 1117 947", {"NO93 8601 1117 947"}},
                              {"DE89370400440532013001", {}},
                              {"GB82 WEST 1234 5698 7654 33", {}},
                              {"XX89370400440532013000", {}},
                              {"DE8937040044053201300", {}},
                              {"DE893704004405320130000", {}},
                              {"de89370400440532013000", {"de89370400440532013000"}},
                          });
  check(SecretKind::phone, {
                               {"+49 30 901820", {"+49 30 901820"}},
                               {"call +1 (415) 555-0132.", {"+1 (415) 555-0132"}},
                               {"+442079460958", {"+442079460958"}},
                               {"+1234567", {}},
                               {"1+12345678901", {}},
                               {"+12345678901234567", {}},
                               {"030 901820", {}},
                           });
}

TEST(Kinds, WhatStandsBeforeTellsWhereAWordBegins) {
  EXPECT_FALSE(find_secret("x4111111111111111", 1, only(SecretKind::card)));
  EXPECT_TRUE(find_secret(" 4111111111111111", 1, only(SecretKind::card)));
}

// A text that would cost a search that looks back or ahead without bound minutes is done at once: its time is compared with that of
// a text a quarter as long.
TEST(Kinds, HostileTextsTakeLinearTime) {
  KindSet all;
  all.set();
  const std::vector<std::string> units{"@",
                                       "a@",
                                       "sk-",
                                       "SG.",
                                       "4111 ",
                                       "4111-1111-1111-1111-",
                                       "eyJaaaaaaaaaaaa.",
                                       "bearer ",
                                       "-----BEGIN ",
                                       "DE89",
                                       "+1234",
                                       "a.b@",
                                       "GB82 W",
                                       "ya29.",
                                       "\xC3\xBC@",
                                       "bearer aaaaaaaa ",
                                       "9",
                                       "xoxb-"};
  for (const std::string& unit : units) {
    const auto time = [&](std::size_t bytes) {
      std::string text;
      while (text.size() < bytes) text += unit;
      double best = 1e9;
      for (int i = 0; i < 3; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_LE(found(text, all).size(), text.size());
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
      }
      return best;
    };
    const double small = time(std::size_t{50} << 10);
    EXPECT_LT(time(std::size_t{400} << 10), small * 8 * 4 + 0.05) << unit;
  }
}

}  // namespace
}  // namespace runwarden::redact
