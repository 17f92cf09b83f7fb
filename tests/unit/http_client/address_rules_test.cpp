#include "http_client/address_rules.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace runwarden::http_client {
namespace {

bool special(const char* ip) {
  const auto bytes = parse_ip(ip);
  EXPECT_TRUE(bytes) << ip;
  return bytes && is_special(*bytes);
}

AddressRules rules(const std::vector<std::string>& allow = {}, bool allow_http = false) {
  auto made = AddressRules::make(allow, allow_http);
  EXPECT_TRUE(made.ok());
  return *made;
}

bool allowed(const AddressRules& with, const std::string& host, const char* ip) {
  sockaddr_storage storage{};
  if (std::string(ip).find(':') == std::string::npos) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(storage);
    ipv4.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, ip, &ipv4.sin_addr), 1);
  } else {
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(storage);
    ipv6.sin6_family = AF_INET6;
    EXPECT_EQ(::inet_pton(AF_INET6, ip, &ipv6.sin6_addr), 1);
  }
  return with.allows(host, reinterpret_cast<const sockaddr&>(storage));
}

TEST(SpecialAddresses, EveryForbiddenRangeAndItsEdges) {
  for (const char* ip :
       {"0.0.0.0", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.0.1",
        "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255",
        "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::7f00:1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fdff::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1",
        "2001:2::1", "2001:10::1", "5f00::1", "64:ff9b:1::1"}) {
    EXPECT_TRUE(special(ip)) << ip;
  }
}

TEST(SpecialAddresses, NeighborsOnTheInternetAreNot) {
  for (const char* ip : {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
                         "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
                         "2606:4700::1111", "2001:4860:4860::8888", "2a00::1"}) {
    EXPECT_FALSE(special(ip)) << ip;
  }
}

TEST(SpecialAddresses, Ipv4WithinIpv6_IsJudgedAsIpv4) {
  EXPECT_TRUE(special("::ffff:127.0.0.1"));
  EXPECT_TRUE(special("::ffff:10.1.2.3"));
  EXPECT_FALSE(special("::ffff:1.1.1.1"));
  EXPECT_TRUE(special("64:ff9b::7f00:1"));
  EXPECT_TRUE(special("64:ff9b::169.254.169.254"));
  EXPECT_FALSE(special("64:ff9b::1.1.1.1"));
  EXPECT_TRUE(special("2002:7f00:1::1"));
  EXPECT_TRUE(special("2002:a00:1::1"));
  EXPECT_FALSE(special("2002:101:101::1"));
  EXPECT_TRUE(special("2001:0:101:101::80ff:fffe")) << "a Teredo client at 127.0.0.1";
  EXPECT_TRUE(special("2001:0:7f00:1::fefe:fefe")) << "a Teredo server at 127.0.0.1";
  EXPECT_FALSE(special("2001:0:101:101::fefe:fefe"));
}

TEST(AddressRules, OpenWhatIsAllowedByNameAndNothingElse) {
  EXPECT_FALSE(allowed(rules(), "receiver", "10.1.2.3"));
  EXPECT_TRUE(allowed(rules(), "receiver", "1.1.1.1"));
  const AddressRules some = rules({"10.1.0.0/16", "fd00::7", "Receiver.internal."});
  EXPECT_TRUE(allowed(some, "x", "10.1.255.255"));
  EXPECT_TRUE(allowed(some, "x", "::ffff:10.1.2.3"));
  EXPECT_FALSE(allowed(some, "x", "10.2.0.0"));
  EXPECT_TRUE(allowed(some, "x", "fd00::7"));
  EXPECT_FALSE(allowed(some, "x", "fd00::8"));
  EXPECT_TRUE(allowed(some, "receiver.INTERNAL", "127.0.0.1"));
  EXPECT_FALSE(allowed(some, "other.receiver.internal", "127.0.0.1"));
}

TEST(AddressRules, WhatIsNoAddressAndNoName_IsRefused) {
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "a b", "::1/129", ""}) {
    EXPECT_FALSE(AddressRules::make({text}, false).ok()) << text;
  }
}

std::string fault(const std::string& url, bool allow_http = false) {
  return check_url(url, rules({}, allow_http)).fault.value_or("");
}

TEST(WebhookUrl, HttpsWithAUsualPort_IsTaken) {
  for (const char* url : {"https://hooks.example.com", "https://hooks.example.com/a?b=c", "https://hooks.example.com:443/", "https://x:1024/",
                          "https://[2606:4700::1111]:8443/", "https://1.1.1.1/"}) {
    EXPECT_EQ(fault(url), "") << url;
  }
  EXPECT_EQ(check_url("https://HOOKS.Example.com./x", rules()).host, "hooks.example.com");
  EXPECT_EQ(check_url("https://[::1]/x", rules()).host, "::1");
}

TEST(WebhookUrl, WhatIsRefused) {
  for (const char* url :
       {"", "hooks.example.com", "ftp://hooks.example.com", "file:///etc/passwd", "gopher://x/", "https://", "https://user@x/", "https://user:pw@x/",
        "https://:pw@x/", "https://x/#", "https://x/#a", "https://x:22/", "https://x:80/", "https://x:1023/", "https://x:0/", "https://x:65536/",
        "https://x/a b", "https://x/\n", "https://\xc3\xa9.example/", "http://x/", "javascript:alert(1)"}) {
    EXPECT_NE(fault(url), "") << url;
  }
  EXPECT_NE(fault("https://x/" + std::string(3000, 'a')), "");
}

TEST(WebhookUrl, AnAtSignBeforeTheHost_IsRefused_AlsoWithoutAName) {
  for (const char* url : {"https://@x/", "https://:@x/", "https://@x", "https://@x?a", "https://@x:8443/", "HTTPS://@[::1]/"}) {
    EXPECT_EQ(fault(url), "must not contain a user name or password") << url;
  }
  for (const char* url : {"https://x/@a", "https://x?a=b@c", "https://x/a@b/c"}) EXPECT_EQ(fault(url), "") << url;
}

TEST(WebhookUrl, ABackslash_IsRefused_BecauseItMayHideAUserName) {
  for (const char* url : {"http://bob:pw\\@127.0.0.1:18932/x", "https://x\\@y/", "https://x/a\\b", "https:\\\\x/", "https://x/?a=\\"}) {
    EXPECT_THAT(fault(url, true), testing::StartsWith("must not contain a backslash")) << url;
  }
  EXPECT_EQ(fault("https://x/a%5Cb"), "");
}

TEST(WebhookUrl, WithoutAHost_IsRefused) {
  for (const char* url : {"http:///127.0.0.1:18750/200", "http:///x", "https:///x", "https:/x", "https:////x", "HTTPS:///x", "https:///10.0.0.1./"}) {
    EXPECT_NE(fault(url, true), "") << url;
  }
  EXPECT_EQ(fault("https:///x"), "must name a host after \"//\"");
  EXPECT_EQ(fault("HTTPS://x//y"), "");
}

TEST(WebhookUrl, ARefusedPort_IsToldWhichAreTaken) {
  EXPECT_EQ(fault("http://127.0.0.1:22/", true), "must not name port 22; the only allowed ports below 1024 are 80 and 443");
  EXPECT_EQ(fault("https://127.0.0.1:80/"), "must not name port 80; the only allowed port below 1024 is 443");
}

TEST(WebhookUrl, ADotAfterAnAddress_IsLeftOut) {
  for (const auto& [url, requested] : {std::pair{"https://10.0.0.1./", "https://10.0.0.1/"},
                                       {"https://10.0.0.1.:8443/a?b=c.", "https://10.0.0.1:8443/a?b=c."},
                                       {"https://10.0.0.1%2e/", "https://10.0.0.1/"},
                                       {"https://1.0xA./", "https://1.0xA/"},
                                       {"https://10.0.0.1/", "https://10.0.0.1/"},
                                       {"https://hooks1.example.com./", "https://hooks1.example.com./"},
                                       {"https://hooks.0xample./", "https://hooks.0xample./"}}) {
    const CheckedUrl checked = check_url(url, rules());
    EXPECT_EQ(checked.fault.value_or(""), "") << url;
    EXPECT_EQ(checked.url, requested);
  }
  EXPECT_EQ(check_url("https://0x7f.1./", rules()).host, "127.0.0.1");
}

TEST(WebhookUrl, HttpIsTakenWhereItIsAllowed) {
  EXPECT_EQ(fault("http://x/", true), "");
  EXPECT_EQ(fault("http://x:80/", true), "");
  EXPECT_EQ(fault("https://x/", true), "");
  EXPECT_NE(fault("http://x:81/", true), "");
  EXPECT_NE(fault("ftp://x/", true), "");
}

TEST(UrlOfTheOperator, AnyPortIsTaken) {
  const AddressRules any = *AddressRules::make({"10.0.0.7"}, true, AddressRules::Ports::any);
  EXPECT_EQ(check_url("http://10.0.0.7:81/v1", any).fault.value_or(""), "");
  EXPECT_NE(check_url("ftp://10.0.0.7/v1", any).fault.value_or(""), "");
  EXPECT_NE(check_url("http://user@10.0.0.7/v1", any).fault.value_or(""), "");
}

}  // namespace
}  // namespace runwarden::http_client
