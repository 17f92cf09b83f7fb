#include "http/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/problem.h"

namespace runwarden::http {
namespace {

using ::testing::HasSubstr;

std::string client(const std::vector<std::string>& proxies, const std::string& peer, const std::vector<std::string>& forwarded) {
  std::vector<Header> headers;
  for (const auto& value : forwarded) headers.push_back({"x-forwarded-for", value});
  auto trusted = TrustedProxies::parse(proxies);
  EXPECT_TRUE(trusted.ok());
  return trusted->client_of(*parse_ip(peer), headers);
}

TEST(TrustedProxies, WhenThePeerIsNone_ItsHeaderIsNotBelieved) {
  EXPECT_EQ(client({}, "10.0.0.1", {"1.2.3.4"}), "10.0.0.1");
  EXPECT_EQ(client({"10.0.0.2"}, "10.0.0.1", {"1.2.3.4"}), "10.0.0.1");
}

TEST(TrustedProxies, WhenThePeerIsOne_TakesTheLastUntrustedEntry) {
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"9.9.9.9, 1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"9.9.9.9, 1.2.3.4, 10.3.3.3"}), "1.2.3.4");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"9.9.9.9", "1.2.3.4:5678"}), "1.2.3.4");
  EXPECT_EQ(client({"::1"}, "::1", {"[2001:db8::1]:443"}), "2001:db8::1");
  EXPECT_EQ(client({"2001:db8::/33"}, "2001:db8:7fff::1", {"1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client({"2001:db8::/33"}, "2001:db8:8000::1", {"1.2.3.4"}), "2001:db8:8000::1");
}

TEST(TrustedProxies, WhenTheHeaderIsMissingOrNonsense_TakesTheNearestGoodAddress) {
  EXPECT_EQ(client({"10.0.0.1"}, "10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(client({"10.0.0.1"}, "10.0.0.1", {"unknown"}), "10.0.0.1");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"1.2.3.4, _x, 10.0.0.9"}), "10.0.0.9");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"10.0.0.8, 10.0.0.9"}), "10.0.0.8");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"[", ",", ""}), "10.0.0.1");
}

TEST(TrustedProxies, WhenABlockIsNone_SaysWhichAndHowToWriteIt) {
  for (const char* text : {"10.0.0.0/33", "ten", "10.0.0.0/", "::/129", "10.0.0.0/-1", ""}) {
    const auto parsed = TrustedProxies::parse({text});
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().detail, HasSubstr(std::string("\"") + text + "\""));
  }
}

TEST(ListenAddress, WhenWrittenWell_IsParsed) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:8080")->port(), 8080);
  EXPECT_EQ(parse_listen_address("[::1]:0")->port(), 0);
  EXPECT_EQ(parse_listen_address("localhost:65535")->port(), 65535);
  for (const char* text : {"127.0.0.1", "127.0.0.1:65536", "::1:80", "host:80", "127.0.0.1:", "", ":80", "127.0.0.1:80x"}) {
    EXPECT_FALSE(parse_listen_address(text).ok()) << text;
  }
}

TEST(Problem, WhenAnErrorHasFaults_HoldsEveryMember) {
  const Error error{Code::validation_failed, "two \"faults\"", {}, {{"/a/0", "wrong_type", "expected a string"}, {"", "x", "y"}}};
  EXPECT_EQ(
      problem_json(error, "r1"),
      R"({"type":"urn:runwarden:problem:validation_failed","title":"The document has the wrong shape","status":422,)"
      R"("detail":"two \"faults\"","code":"validation_failed",)"
      R"("errors":[{"pointer":"/a/0","code":"wrong_type","detail":"expected a string"},{"pointer":"","code":"x","detail":"y"}],"requestId":"r1"})");
}

TEST(Problem, WhenTheClientShouldActFirst_TellsItInAHeader) {
  const auto unauthorized = problem({Code::unauthorized, "", {}, {}}, "r");
  ASSERT_EQ(unauthorized.headers.size(), 1u);
  EXPECT_EQ(unauthorized.headers[0].name + unauthorized.headers[0].value, "WWW-AuthenticateBearer");
  const auto limited = problem({Code::rate_limited, "", {}, {}, 7}, "r");
  EXPECT_EQ(limited.headers.at(0).name + limited.headers.at(0).value, "Retry-After7");
  EXPECT_EQ(limited.content_type, "application/problem+json");
  EXPECT_EQ(limited.status, 429);
}

}  // namespace
}  // namespace runwarden::http
