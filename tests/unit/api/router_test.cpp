#include "api/router.h"

#include <gtest/gtest.h>

namespace runwarden::api {
namespace {

Match matched(std::string_view method, std::string_view path) {
  auto found = match(method, path);
  EXPECT_TRUE(found.ok()) << path;
  return found.ok() ? *found : Match{};
}

TEST(Router, KnownPaths_NameTheirEndpoint) {
  EXPECT_EQ(matched("POST", "/v1/ingest/runs").route->id, RouteId::ingest_runs);
  EXPECT_EQ(matched("POST", "/v1/analyze").route->id, RouteId::analyze);
  EXPECT_EQ(matched("GET", "/v1/runs/r1").route->id, RouteId::run);
  EXPECT_EQ(matched("GET", "/healthz").route->id, RouteId::healthz);
  EXPECT_EQ(matched("GET", "/%68ealthz").route->id, RouteId::healthz);
}

TEST(Router, WhatThePageIsMadeOf_AndEveryAddressBelowIt) {
  EXPECT_EQ(matched("GET", "/").route->id, RouteId::page_root);
  EXPECT_EQ(matched("GET", "/ui").route->id, RouteId::page_root);
  const Match file = matched("GET", "/ui/assets/main.js");
  EXPECT_EQ(file.route->id, RouteId::page_file);
  EXPECT_EQ(file.parameters, (std::vector<std::string>{"main.js"}));
  for (const char* path : {"/ui/", "/ui/groups", "/ui/runs/a%2Fb", "/ui/assets/", "/ui/assets/a/b", "/ui//"}) {
    EXPECT_EQ(matched("GET", path).route->id, RouteId::page) << path;
  }
  EXPECT_EQ(matched("POST", "/ui/assets/main.js").allow, "GET, HEAD") << "the file's route alone";
  EXPECT_EQ(matched("GET", "/uix").route, nullptr);
}

TEST(Router, PathsOfOtlp_MayEndInASlash) {
  for (const char* path : {"/v1/ingest/otlp", "/v1/ingest/otlp/", "/v1/ingest/otlp/v1/traces", "/v1/ingest/otlp/v1/traces/"}) {
    ASSERT_NE(matched("POST", path).route, nullptr) << path;
    EXPECT_EQ(matched("POST", path).route->id, RouteId::otlp_traces);
  }
  EXPECT_EQ(matched("POST", "/v1/ingest/otlp/v1/logs/").route->id, RouteId::otlp_unused);
  for (const char* path : {"/v1/ingest/otlp//", "/v1/ingest/otlp/v1", "/v1/ingest/otlp/v1/traces//", "/v1/ingest/runs/"}) {
    EXPECT_EQ(matched("POST", path).route, nullptr) << path;
  }
}

TEST(Router, RequestsWithoutAQuery_AreThoseThatHaveNoUseForOne) {
  for (const char* path : {"/v1/ingest/runs", "/v1/analyze", "/v1/webhooks"}) {
    EXPECT_FALSE(takes_query(*matched("POST", path).route)) << path;
  }
  for (const char* path : {"/v1/failures/f", "/v1/failures/f/investigation", "/v1/openapi.json"}) {
    EXPECT_FALSE(takes_query(*matched("GET", path).route)) << path;
  }
  for (const char* path : {"/v1/runs", "/v1/runs/r", "/v1/detectors", "/healthz"}) {
    EXPECT_TRUE(takes_query(*matched("GET", path).route)) << path;
  }
}

TEST(Router, OtherPaths_NameNone) {
  for (const char* path : {"", "*", "//", "/v1", "/v1/", "/v1/run", "/v1/runs/", "/v1/runs/a/b", "/healthz/", "/HEALTHZ",
                           "/v1//ingest/runs", "/v1/ingest/runs/x"}) {
    EXPECT_EQ(matched("GET", path).route, nullptr) << path;
  }
  EXPECT_EQ(matched("GET", std::string(16'000, '/')).route, nullptr);
}

TEST(Router, AnotherMethod_IsNotAllowed_AndAllowSaysWhich) {
  EXPECT_FALSE(matched("GET", "/v1/ingest/runs").method_allowed);
  EXPECT_EQ(matched("GET", "/v1/ingest/runs").allow, "POST");
  EXPECT_FALSE(matched("get", "/healthz").method_allowed);
  EXPECT_EQ(matched("DELETE", "/v1/runs/a").allow, "GET, HEAD");
  EXPECT_TRUE(matched("HEAD", "/v1/runs/a").method_allowed);
}

TEST(Router, AParameter_IsSplitFirstAndDecodedOnce) {
  EXPECT_EQ(matched("GET", "/v1/runs/a%2Fb%20c%25").parameters, std::vector<std::string>{"a/b c%"});
  EXPECT_EQ(matched("GET", "/v1/runs/a+b").parameters, std::vector<std::string>{"a+b"});
  EXPECT_EQ(matched("GET", "/v1/runs/%C3%A9").parameters, std::vector<std::string>{"é"});
}

TEST(Router, BrokenEscapesAndNul_AreBadRequests) {
  for (const char* path : {"/v1/runs/%", "/v1/runs/%4", "/v1/runs/%zz", "/v1/runs/%00", "/v1/runs/a%00b"}) {
    const auto found = match("GET", path);
    ASSERT_FALSE(found.ok()) << path;
    EXPECT_EQ(found.error().code, Code::bad_request) << path;
  }
}

TEST(Router, AQuery_IsReadByName) {
  const auto query = parse_query("a=1&b=x%20y+z&&c&d=%3D");
  ASSERT_TRUE(query.ok());
  const std::vector<std::pair<std::string, std::string>> wanted{{"a", "1"}, {"b", "x y z"}, {"c", ""}, {"d", "="}};
  EXPECT_EQ(*query, wanted);
  EXPECT_FALSE(parse_query("a=1&a=2").ok());
  EXPECT_FALSE(parse_query("a=%").ok());
}

}  // namespace
}  // namespace runwarden::api
