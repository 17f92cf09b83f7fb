// What every request may count on: answers, connections that stay or end, deadlines, limits, starting and draining.
#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <thread>

#include "support/http_client.h"
#include "unit/http/echo_handler.h"

namespace runwarden::http::test {
namespace {

using runwarden::test::get_request;
using runwarden::test::HttpAnswer;
using runwarden::test::HttpClient;
using runwarden::test::post_request;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(HttpServer, WhenABodyIsPosted_AnswersWithAllItsFields) {
  Running running;
  HttpClient client(running.port());
  client.send(post_request("/echo", "hello"));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(answer->header("content-type"), "application/json");
  EXPECT_EQ(answer->header("content-length"), "5");
  EXPECT_THAT(answer->header("date"), MatchesRegex("[A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] 20[0-9][0-9] [0-9:]+ GMT"));
  EXPECT_THAT(answer->header("x-request-id"), MatchesRegex("req_[0-9a-f]+"));
  EXPECT_EQ(answer->header("x-request-id").size(), 28u);
}

}  // namespace
}  // namespace runwarden::http::test
