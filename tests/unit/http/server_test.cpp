// What every request may count on: answers, connections that stay or end, deadlines, limits, starting and draining.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "http/handler.h"
#include "http/reply.h"
#include "http/reply_text.h"
#include "http/server.h"
#include "support/http_client.h"
#include "unit/http/echo_handler.h"
#include "unit/http/gzip_text.h"

namespace runwarden::http {
namespace {

using runwarden::test::get_request;
using runwarden::test::HttpAnswer;
using runwarden::test::HttpClient;
using runwarden::test::post_request;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr int kQuickMs = 200;

bool served(HttpClient& client, const std::string& body = "still here") {
  if (!client.send(post_request("/echo", body))) return false;
  const auto answer = client.answer();
  return answer && answer->status == 200 && answer->body == body;
}

std::string chunk(const std::string& data) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}

const std::string kChunkedPost = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(HttpServer, WhenABodyIsPosted_AnswersWithAllItsFields) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(post_request("/echo", "hello"));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(answer->header("content-type"), "application/json");
  EXPECT_EQ(answer->header("content-length"), "5");
  EXPECT_EQ(answer->header("connection"), "");
  EXPECT_THAT(answer->header("date"), MatchesRegex("[A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] 20[0-9][0-9] [0-9:]+ GMT"));
  EXPECT_THAT(answer->header("x-request-id"), MatchesRegex("req_[0-9a-f]+"));
  EXPECT_EQ(answer->header("x-request-id").size(), 28u);
}

TEST(HttpServer, WhenTheClientNamesItsRequest_TheAnswerBearsTheNameIfItIsGood) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(get_request("/echo", "X-Request-Id: mine-1\r\n"));
  EXPECT_EQ(client.answer()->header("x-request-id"), "mine-1");
  for (const std::string& bad : {std::string("two words"), std::string(129, 'x'), std::string(), std::string("\xc3\xa9")}) {
    client.send(get_request("/echo", "X-Request-Id: " + bad + "\r\n"));
    EXPECT_THAT(client.answer()->header("x-request-id"), HasSubstr("req_")) << bad;
  }
  client.send(get_request("/echo", "X-Request-Id: a\r\nX-Request-Id: b\r\n"));
  EXPECT_THAT(client.answer()->header("x-request-id"), HasSubstr("req_"));
}

TEST(HttpServer, WhenTheHeadCannotBeFramed_TheAnswerBearsARequestIdAndIsReported) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send("GET / HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(answer->header("x-request-id"), "mine");
  EXPECT_THAT(answer->body, HasSubstr("\"requestId\":\"mine\""));
  EXPECT_THAT(answer->body, HasSubstr("\"code\":\"bad_request\""));
  const auto seen = running.handler.wait_seen(1);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].path, "");
  EXPECT_EQ(seen[0].status, 400);
  EXPECT_TRUE(seen[0].delivered);
  EXPECT_EQ(running.server->counts().framing_errors, 1u);
}

TEST(HttpServer, WhenTheHeadCannotBeParsed_TheAnswerBearsTheNameThatCameBefore) {
  Running running;
  const std::string begin = "GET /echo HTTP/1.1\r\nHost: a\r\nX-Request-ID:  mine \r\n";
  for (const std::string& head :
       {begin + "X: " + std::string(17'000, 'x') + "\r\n\r\n", begin + "X: 1\n\r\n", begin + "X: 1\r\n folded\r\n\r\n",
        begin + ": x\r\n\r\n", std::string("GET /echo HTTP/3.0\r\nX-Request-Id: mine\r\nHost: a\r\n\r\n")}) {
    auto client = HttpClient::to(running.port());
    client.send(head);
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << head.substr(0, 100);
    EXPECT_GE(answer->status, 400);
    EXPECT_EQ(answer->header("x-request-id"), "mine") << head.substr(0, 100);
  }
  for (const std::string& head : {begin + "X-Request-Id: other\r\nX: 1\n\r\n", begin + " folded\r\n\r\n",
                                  std::string("GET /echo HTTP/1.1\r\nX: 1\nX-Request-Id: mine\r\n\r\n")}) {
    auto client = HttpClient::to(running.port());
    client.send(head);
    EXPECT_THAT(client.answer()->header("x-request-id"), HasSubstr("req_")) << head;
  }
}

TEST(HttpServer, WhenAnswered_TellsTheHandlerOfIt) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(post_request("/echo", "12345"));
  client.answer();
  client.send(get_request("/missing"));
  client.answer();
  const auto seen = running.handler.wait_seen(2);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].path, "/echo");
  EXPECT_EQ(seen[0].request_bytes, 5u);
  EXPECT_GT(seen[0].answer_bytes, 5u);
  EXPECT_EQ(seen[0].client, "127.0.0.1");
  EXPECT_TRUE(seen[0].had_request_handler);
  EXPECT_FALSE(seen[1].had_request_handler);
  EXPECT_EQ(seen[1].status, 404);
}

TEST(AnswerHead, WhenAFieldHoldsALineBreak_IsLeftOut) {
  using namespace std::string_literals;
  Reply reply;
  reply.body = "x";
  reply.headers = {{"Location", "/a\r\nSet-Cookie: b"}, {"X-Bad\n", "1"}, {"X-Nul", "a\0b"s}, {"X-Good", "kept"}};
  EXPECT_EQ(answer_head(reply, {"id", "today", false}),
            "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Type: application/json\r\nContent-Length: 1\r\nX-Request-Id: id\r\n"
            "X-Content-Type-Options: nosniff\r\nX-Good: kept\r\n\r\n");
}

TEST(DateText, IsTheDateOfRfc9110) {
  DateText date;
  EXPECT_EQ(date.at(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.at(1'709'164'800), "Thu, 29 Feb 2024 00:00:00 GMT");
}

TEST(HttpServer, WhenTheMethodIsHead_SendsTheLengthAndNoBody) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send("HEAD /big?1000 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.answer(true)->header("content-length"), "1000");
  EXPECT_TRUE(served(client));
}

TEST(HttpServer, WhenTheStatusIs204_SendsNeitherBodyNorLength) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(get_request("/empty"));
  const auto answer = client.answer();
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(answer->headers.count("content-length"), 0u);
  EXPECT_EQ(answer->headers.count("content-type"), 0u);
  EXPECT_TRUE(served(client));
}

TEST(HttpServer, WhenTheClientSpeaks10OrAsksToClose_ClosesAfterTheAnswer) {
  Running running;
  for (const char* request :
       {"GET /echo HTTP/1.0\r\n\r\n", "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n"}) {
    auto client = HttpClient::to(running.port());
    client.send(request);
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << request;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->header("connection"), "close");
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(HttpServer, WhenARefusedRequestHasASmallBody_TheConnectionIsKept) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(post_request("/missing", std::string(60'000, 'x')));
  EXPECT_EQ(client.answer()->status, 404);
  EXPECT_TRUE(served(client));
  client.send("POST /missing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(std::string(60'000, 'x')) + "0\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 404);
  EXPECT_TRUE(served(client));
}

TEST(HttpServer, WhenARefusedRequestHasALargeBody_IsAnsweredAtOnceAndClosed) {
  Running running;
  auto sized = HttpClient::to(running.port());
  sized.send("POST /missing HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  const auto answer = sized.answer();
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->header("connection"), "close");
  EXPECT_TRUE(sized.closed_by_server());
  auto chunked = HttpClient::to(running.port());
  chunked.send("POST /missing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(std::string(100'000, 'x')));
  EXPECT_EQ(chunked.answer()->header("connection"), "close");
}

TEST(HttpServer, WhenTheBodyIsTooLarge_TheClientSeesThe413ThoughItIsStillSending) {
  Running running;
  auto client = HttpClient::to(running.port());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 12582912\r\n\r\n"));
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(client.send(piece)) << i;
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_THAT(answer->body, HasSubstr("payload_too_large"));
  EXPECT_EQ(answer->header("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, WhenAChunkedBodyIsOneByteOverTheLimit_IsRefusedAndOneLessIsTaken) {
  Running running;
  running.handler.max_body_bytes = 1000;
  auto client = HttpClient::to(running.port());
  client.send(kChunkedPost + chunk(std::string(600, 'x')) + chunk(std::string(400, 'y')) + "0\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 200);
  client.send(kChunkedPost + chunk(std::string(600, 'x')) + chunk(std::string(401, 'y')) + "0\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 413);
}

TEST(HttpServer, WhenAChunkAnnouncesMoreThanTheLimit_IsRefusedBeforeItsBytesCome) {
  Running running;
  running.handler.max_body_bytes = 1000;
  running.handler.max_batch_bytes = 2000;
  struct Case {
    std::string path;
    std::string chunks;
    int status;
    std::string body;
  };
  const std::string line = std::string(600, 'x') + "\n";
  for (const Case& one :
       {Case{"/echo", "3e9\r\n", 413, "payload_too_large"}, Case{"/echo", "ffffffffffffffff\r\n", 413, "payload_too_large"},
        Case{"/echo", chunk(line) + "190\r\n", 413, "payload_too_large"}, Case{"/lines", "7d1\r\n", 413, "0"},
        Case{"/lines", chunk(line) + "8000000000000000\r\n", 413, "1"}, Case{"/missing", "8000000000000000\r\n", 404, ""}}) {
    auto client = HttpClient::to(running.port());
    client.send("POST " + one.path + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + one.chunks);
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << one.path << " " << one.chunks;
    EXPECT_EQ(answer->status, one.status) << one.path << " " << one.chunks;
    EXPECT_THAT(answer->body, HasSubstr(one.body));
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(HttpServer, WhenAChunkLineIsBad_IsRefusedBeforeMoreComes) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(kChunkedPost + "zz\r\n");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_THAT(answer->body, HasSubstr("the chunked body is malformed"));
}

TEST(HttpServer, WhenTheBodyIsGzip_HandsOnItsText) {
  Running running;
  auto client = HttpClient::to(running.port());
  for (const char* coding : {"gzip", "GZIP", "x-gzip"}) {
    client.send(post_request("/echo", gzip_text("unpacked"), std::string("Content-Encoding: ") + coding + "\r\n"));
    EXPECT_EQ(client.answer()->body, "unpacked");
  }
  client.send(post_request("/echo", gzip_text("unpacked").substr(0, 20), "Content-Encoding: gzip\r\n"));
  const auto answer = client.answer();
  EXPECT_EQ(answer->status, 400);
  EXPECT_THAT(answer->body, HasSubstr("gzip"));
  EXPECT_TRUE(served(client));
}

TEST(HttpServer, WhenTheClientExpects100_IsToldToGoOnOnlyIfItsBodyIsWanted) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 100);
  client.send("body");
  EXPECT_EQ(client.answer()->body, "body");
  EXPECT_TRUE(served(client));
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100000000\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 413);
  auto refused = HttpClient::to(running.port());
  refused.send("POST /missing HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(refused.answer()->status, 404);
  EXPECT_TRUE(refused.closed_by_server());
}

TEST(HttpServer, WhenAnEncodedBodyIsDeclaredFarLargerThanTheLimit_IsRefusedInsteadOfAwaited) {
  Running running;
  running.handler.max_body_bytes = 1000;
  running.handler.max_batch_bytes = 2000;
  for (const char* path : {"/echo", "/lines"}) {
    auto client = HttpClient::to(running.port());
    client.send("POST " + std::string(path) +
                " HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\nContent-Length: 70000\r\n\r\n");
    EXPECT_EQ(client.answer()->status, 413) << path;
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(HttpServer, WhenATrailerIsFolded_Answers400AndCloses) {
  Running running;
  for (const char* path : {"/echo", "/missing"}) {
    auto client = HttpClient::to(running.port());
    client.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("hello") +
                "0\r\nX: a\r\n b\r\n\r\n" + post_request("/echo", "not to be read"));
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, std::string(path) == "/echo" ? 400 : 404);
    EXPECT_EQ(answer->header("connection"), "close");
    EXPECT_TRUE(client.closed_by_server());
    EXPECT_EQ(client.rest(), "");
  }
}

TEST(HttpServer, WhenTheHandlerThrowsOrDropsItsTicket_Answers500AndGoesOn) {
  Running running;
  auto client = HttpClient::to(running.port());
  for (const char* path : {"/throw-head", "/throw-body", "/drop"}) {
    client.send(post_request(path, "x"));
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 500);
    EXPECT_THAT(answer->body, HasSubstr("\"code\":\"internal\""));
  }
  EXPECT_TRUE(served(client));
}

TEST(HttpServer, WhenTheHandlerHangsUp_TheClientGetsNoAnswerAndOthersAreServed) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(post_request("/hang-up", "x"));
  EXPECT_FALSE(client.answer());
  const auto seen = running.handler.wait_seen(1);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].path, "/hang-up");
  EXPECT_EQ(seen[0].answer_bytes, 0u);
  EXPECT_FALSE(seen[0].delivered);
  auto other = HttpClient::to(running.port());
  EXPECT_TRUE(served(other));
}

TEST(HttpServer, WhenTheClientHalfCloses_StillGetsItsAnswers) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(post_request("/hold", "one") + post_request("/echo", "two"));
  ASSERT_TRUE(running.handler.wait_held(1));
  client.half_close();
  running.handler.release();
  EXPECT_EQ(client.answer()->body, "one");
  EXPECT_EQ(client.answer()->body, "two");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, WhenTheClientHalfClosesAmidItsBody_IsToldSo) {
  Running running;
  for (const char* request : {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf",
                              "POST /lines HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1\nhalf",
                              "POST /lines HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n1\n\r\n",
                              "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r"}) {
    auto client = HttpClient::to(running.port());
    client.send(request);
    client.half_close();
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << request;
    EXPECT_EQ(answer->status, 400) << request;
    EXPECT_EQ(answer->header("connection"), "close");
    EXPECT_TRUE(client.closed_by_server());
  }
  auto refused = HttpClient::to(running.port());
  refused.send("POST /missing HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  refused.half_close();
  EXPECT_EQ(refused.answer()->status, 404);
}

TEST(HttpServer, WhenTheHeadIsTooLarge_Answers431) {
  Running running;
  auto one = HttpClient::to(running.port());
  one.send("GET /echo HTTP/1.1\r\nHost: a\r\nX: " + std::string(17'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(one.answer()->status, 431);
  std::string many = "GET /echo HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 100; ++i) many += "x: 1\r\n";
  auto two = HttpClient::to(running.port());
  two.send(many + "\r\n");
  const auto answer = two.answer();
  EXPECT_EQ(answer->status, 431);
  EXPECT_THAT(answer->body, HasSubstr("headers_too_large"));
  EXPECT_TRUE(two.closed_by_server());
}

TEST(HttpServer, WhenAProxyIsTrusted_TheClientIsWhomItNames) {
  ServerSettings settings;
  settings.trusted_proxies = {"127.0.0.0/8"};
  Running running(settings);
  auto client = HttpClient::to(running.port());
  client.send(get_request("/echo", "X-Forwarded-For: 6.6.6.6, 1.2.3.4\r\n"));
  client.answer();
  EXPECT_EQ(running.handler.last_client(), "1.2.3.4");
}

TEST(HttpServer, WhenListeningOnIpv6_Serves) {
  ServerSettings settings;
  settings.address = "[::1]:0";
  EchoHandler handler;
  auto server = Server::start(settings, handler);
  if (!server.ok()) GTEST_SKIP() << server.error().detail;
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  to.sin6_port = htons((*server)->port());
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  const std::string request = get_request("/echo");
  ASSERT_GT(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), 0);
  char got[12] = {};
  EXPECT_EQ(::recv(fd, got, sizeof got, MSG_WAITALL), 12);
  EXPECT_EQ(std::string(got, 12), "HTTP/1.1 200");
  ::close(fd);
  EXPECT_EQ(handler.last_client(), "::1");
  (*server)->drain();
}

// Deadlines -------------------------------------------------------------------------------------------------------------------

TEST(HttpServer, WhenTheHeadDoesNotCome_Answers408AndCloses) {
  ServerSettings settings;
  settings.header_timeout_ms = kQuickMs;
  Running running(settings);
  auto client = HttpClient::to(running.port());
  client.send("GET / HTTP/1.1\r\nHost:");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
  EXPECT_THAT(answer->body, HasSubstr("request_timeout"));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(running.server->counts().timeouts, 1u);
}

TEST(HttpServer, WhenTheBodyDoesNotCome_Answers408AndCloses) {
  ServerSettings settings;
  settings.body_timeout_ms = kQuickMs;
  Running running(settings);
  for (const char* path : {"/echo", "/lines"}) {
    auto client = HttpClient::to(running.port());
    client.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 408);
    EXPECT_TRUE(client.closed_by_server());
  }
  auto refused = HttpClient::to(running.port());
  refused.send("POST /missing HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(refused.answer()->status, 404);
  EXPECT_TRUE(refused.closed_by_server());
}

TEST(HttpServer, WhenABodyDripsForEver_IsEndedThoughBytesKeepComing) {
  ServerSettings settings;
  settings.body_timeout_ms = kQuickMs;
  Running running(settings);
  for (const char* path : {"/echo", "/lines"}) {
    auto client = HttpClient::to(running.port());
    client.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    int drops = 0;
    while (!client.hears_within(20) && ++drops < 500) client.send("x");
    EXPECT_LT(drops, 500);
    EXPECT_EQ(client.answer()->status, 408);
  }
}

TEST(HttpServer, WhenAConnectionIsIdle_IsClosedWithoutAWord) {
  ServerSettings settings;
  settings.idle_timeout_ms = kQuickMs;
  Running running(settings);
  auto fresh = HttpClient::to(running.port());
  auto used = HttpClient::to(running.port());
  EXPECT_TRUE(served(used));
  EXPECT_TRUE(used.closed_by_server());
  EXPECT_TRUE(fresh.closed_by_server());
  EXPECT_EQ(fresh.rest() + used.rest(), "");
}

TEST(HttpServer, WhenTooManyBodiesComeInAtOnce_Answers503AndTakesThemAgainLater) {
  ServerSettings settings;
  settings.max_buffered_body_bytes = 100'000;
  Running running(settings);
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n";
  auto first = HttpClient::to(running.port());
  first.send(head + std::string(80'000, 'x'));
  auto second = HttpClient::to(running.port());
  second.send(head + std::string(80'000, 'x'));
  for (int i = 0; i < 5000 && !first.hears_within(1) && !second.hears_within(1); ++i) {
  }
  auto& refused = second.hears_within(1) ? second : first;
  auto& taken = &refused == &second ? first : second;
  const auto answer = refused.answer();
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->header("retry-after"), "1");
  taken.send(std::string(10'000, 'x'));
  EXPECT_EQ(taken.answer()->status, 200);
  EXPECT_TRUE(served(taken, std::string(90'000, 'y')));
}

// Start and end ---------------------------------------------------------------------------------------------------------------

TEST(HttpServer, WhenAnotherListensThere_DoesNotStartAndNamesTheAddress) {
  Running running;
  ServerSettings settings;
  settings.address = "127.0.0.1:" + std::to_string(running.port());
  settings.threads = 2;
  EchoHandler handler;
  const auto second = Server::start(settings, handler);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().detail, HasSubstr(settings.address));
  EXPECT_THAT(second.error().detail, HasSubstr("stop it, or set another server.address"));
}

TEST(HttpServer, WhenAnotherListensThereWithReuseport_DoesNotStart) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  ServerSettings settings;
  settings.address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  EchoHandler handler;
  EXPECT_FALSE(Server::start(settings, handler).ok());
  ::close(fd);
}

TEST(HttpServer, WhenTwoStartOnOneAddressAtTheSameMoment_OneOfThemListens) {
  EchoHandler handler;
  for (int round = 0; round < 30; ++round) {
    ServerSettings settings;
    settings.threads = 2;
    settings.drain_timeout_ms = 100;
    {
      Running probe;  // a port that is free now
      settings.address = "127.0.0.1:" + std::to_string(probe.port());
    }
    std::atomic<int> started{0};
    std::vector<std::unique_ptr<Server>> servers(2);
    const auto start = [&](std::size_t which) {
      auto server = Server::start(settings, handler);
      if (!server.ok()) return;
      ++started;
      servers[which] = std::move(*server);
    };
    std::thread one(start, 0);
    std::thread two(start, 1);
    one.join();
    two.join();
    EXPECT_EQ(started, 1);
  }
}

TEST(HttpServer, WhenStartedAgainOnTheAddressOfOneThatEnded_Listens) {
  ServerSettings settings;
  for (int round = 0; round < 3; ++round) {
    Running running(settings);
    settings.address = "127.0.0.1:" + std::to_string(running.port());
    auto client = HttpClient::to(running.port());
    EXPECT_TRUE(served(client));
    client.send(get_request("/echo", "Connection: close\r\n"));  // the server's end goes through TIME_WAIT
    client.answer();
  }
}

TEST(HttpServer, WhenItHasSeveralWorkers_EachGetsConnections) {
  ServerSettings settings;
  settings.threads = 2;
  Running running(settings);
  // Connections are spread by the kernel's hash of their addresses: among 64 both workers have some but for one case in 2^63.
  std::vector<HttpClient> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(HttpClient::to(running.port()));
  for (auto& client : clients) EXPECT_TRUE(served(client));
  EXPECT_EQ(running.handler.workers_seen(), 2u);
}

TEST(HttpServer, WhenDrained_AnswersWhatIsInFlightAndClosesTheRest) {
  ServerSettings settings;
  settings.threads = 2;
  Running running(settings);
  std::vector<HttpClient> busy;
  for (int i = 0; i < 20; ++i) {
    busy.push_back(HttpClient::to(running.port()));
    busy.back().send(post_request("/hold", "answer " + std::to_string(i)));
  }
  ASSERT_TRUE(running.handler.wait_held(20));
  auto idle = HttpClient::to(running.port());
  ASSERT_TRUE(served(idle));
  std::thread drain([&] { running.server->drain(); });
  EXPECT_TRUE(idle.closed_by_server());
  running.handler.release();
  for (int i = 0; i < 20; ++i) {
    const auto answer = busy[i].answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "answer " + std::to_string(i));
    EXPECT_EQ(answer->header("connection"), "close");
    busy[i].close();
  }
  drain.join();
  EXPECT_FALSE(HttpClient::to(running.port()).connected());
}

TEST(HttpServer, WhenDrained_BodiesThatDoNotEndBreakOff) {
  ServerSettings settings;
  settings.drain_timeout_ms = 4000;
  Running running(settings);
  std::vector<HttpClient> clients;
  for (const char* path : {"/echo", "/lines"}) {
    clients.push_back(HttpClient::to(running.port()));
    clients.back().send("POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1\nhalf");
  }
  auto seen = HttpClient::to(running.port());
  ASSERT_TRUE(served(seen));  // so were the bytes before it
  std::thread drain([&] { running.server->drain(); });
  for (auto& client : clients) {
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(answer->header("connection"), "close");
    client.close();
  }
  drain.join();
  const auto batches = running.handler.batches();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].fault.code, Code::unavailable);
}

TEST(HttpServer, WhenAnAnswerComesAfterTheServerEnded_IsDropped) {
  ServerSettings settings;
  settings.drain_timeout_ms = 50;
  Running running(settings);
  auto client = HttpClient::to(running.port());
  client.send(post_request("/hold", "too late"));
  ASSERT_TRUE(running.handler.wait_held(1));
  running.server->drain();
  running.handler.release();
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, WhileItRuns_ItsWorkersAreAlive) {
  ServerSettings settings;
  settings.header_timeout_ms = kQuickMs;
  Running running(settings);
  auto client = HttpClient::to(running.port());
  EXPECT_TRUE(served(client));
  EXPECT_TRUE(running.server->workers_alive(5000));
  EXPECT_FALSE(running.server->workers_alive(-1));
}

// Lines -----------------------------------------------------------------------------------------------------------------------

TEST(HttpServer, WhenLinesAreSent_HandsThemOnInBatches) {
  Running running;
  auto client = HttpClient::to(running.port());
  std::string body;
  for (int i = 0; i < 90'000; ++i) body += "{\"line\":" + std::to_string(i) + ",\"padding\":\"" + std::string(80, 'x') + "\"}\r\n";
  ASSERT_TRUE(client.send(post_request("/lines", body)));
  EXPECT_EQ(client.answer()->body, "90000");
  const auto batches = running.handler.batches();
  ASSERT_GT(batches.size(), 3u);
  std::uint64_t number = 0;
  for (const auto& batch : batches) {
    for (const auto& line : batch.lines) ASSERT_EQ(line.number, ++number);
  }
  EXPECT_EQ(number, 90'000u);
  EXPECT_TRUE(served(client));
}

TEST(HttpServer, WhenALinesBodyIsEmpty_HandsOnOneLastBatch) {
  Running running;
  auto client = HttpClient::to(running.port());
  client.send(post_request("/lines", ""));
  EXPECT_EQ(client.answer()->body, "0");
  EXPECT_EQ(running.handler.batches().size(), 1u);
}

TEST(HttpServer, WhenTheHandlerKeepsABatch_StopsReadingTheSocket) {
  Running running;
  running.handler.hold_batches = true;
  running.handler.max_batch_bytes = 1 << 30;
  auto client = HttpClient::to(running.port(), 300);
  ASSERT_TRUE(client.send("POST /lines HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"));
  const std::string piece = std::string(1023, 'x') + "\n";
  std::string mebibyte;
  for (int i = 0; i < 1024; ++i) mebibyte += piece;
  int sent = 0;
  while (sent < 200 && client.send(mebibyte)) ++sent;
  EXPECT_LT(sent, 64);  // the first batch and what two kernel buffers hold
  ASSERT_TRUE(running.handler.wait_batch_held());
  running.handler.hold_batches = false;
  running.handler.release_batch();
  EXPECT_TRUE(client.send("x"));
}

TEST(HttpServer, WhenTheClientLeavesBetweenBatches_TheServerGoesOn) {
  Running running;
  running.handler.hold_batches = true;
  {
    auto client = HttpClient::to(running.port());
    ASSERT_TRUE(client.send("POST /lines HTTP/1.1\r\nHost: a\r\nContent-Length: 16000000\r\n\r\n" + std::string(1000, 'x') + "\n"));
    std::string lines;
    for (int i = 0; i < 10'000; ++i) lines += std::string(1000, 'x') + "\n";
    client.send(lines);
    ASSERT_TRUE(running.handler.wait_batch_held());
    client.abort();
  }
  running.handler.release_batch();
  auto other = HttpClient::to(running.port());
  EXPECT_TRUE(served(other));
}

TEST(HttpServer, WhenALinesBodyBreaksOff_TheHandlerHasWhatCameWholeAndTheFault) {
  Running running;
  auto client = HttpClient::to(running.port());
  std::string body;
  for (int i = 0; i < 9'000; ++i) body += std::string(1000, 'x') + "\n";
  client.send("POST /lines HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(body + "half") + "no chunk\r\n");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(answer->body, "9000");
  EXPECT_EQ(answer->header("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
  const auto batches = running.handler.batches();
  ASSERT_GT(batches.size(), 1u);
  EXPECT_FALSE(batches.front().last);
  EXPECT_TRUE(batches.back().last);
  EXPECT_EQ(batches.back().end, LineBatch::End::broken_off);
  EXPECT_EQ(batches.back().end_line, 9001u);
  EXPECT_THAT(batches.back().fault.detail, HasSubstr("chunk"));
  EXPECT_EQ(running.server->counts().framing_errors, 1u);
}

TEST(HttpServer, WhileABodyComesIn_TheHandlerIsAskedAgainAndMayEndIt) {
  Running running;
  for (const char* path : {"/echo", "/lines"}) {
    running.handler.refuse_at_recheck = false;
    running.handler.rechecks = 0;
    auto client = HttpClient::to(running.port());
    client.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1\nhalf");
    for (int i = 0; i < 1000 && running.handler.rechecks < 2; ++i) EXPECT_FALSE(client.hears_within(10));
    EXPECT_GE(running.handler.rechecks, 2);
    running.handler.refuse_at_recheck = true;
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 401);
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(HttpServer, WhenALinesBodyIsOverItsLimits_EndsWithTheHandlersAnswer) {
  Running running;
  running.handler.max_batch_bytes = 1000;
  auto client = HttpClient::to(running.port());
  client.send("POST /lines HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(std::string(900, 'a') + "\n") +
              chunk(std::string(900, 'b') + "\n"));
  const auto answer = client.answer();
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(answer->body, "1");
  EXPECT_TRUE(client.closed_by_server());
  auto declared = HttpClient::to(running.port());
  declared.send("POST /lines HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_THAT(declared.answer()->body, HasSubstr("payload_too_large"));
}

constexpr std::size_t kMoreThanTheKernelTakes = 32 << 20;

std::string ask_for_much() {
  return get_request("/big?" + std::to_string(kMoreThanTheKernelTakes));
}

TEST(HttpServer, WhileAClientDoesNotRead_TheAnswersLeaseIsHeld_UntilItHasReadIt) {
  Running running;
  HttpClient client;
  client.set_receive_buffer(4096);
  ASSERT_TRUE(client.connect(running.port()));
  ASSERT_TRUE(client.send(ask_for_much()));
  ASSERT_TRUE(client.hears_within(10'000));
  EXPECT_EQ(running.handler.budget.state().bytes, kMoreThanTheKernelTakes);
  ASSERT_TRUE(client.answer());
  EXPECT_TRUE(running.handler.wait_leases_ended()) << "the connection is still open";
}

TEST(HttpServer, WhenAClientHangsUpInsteadOfReading_TheAnswersLeaseEnds) {
  Running running;
  HttpClient client;
  client.set_receive_buffer(4096);
  ASSERT_TRUE(client.connect(running.port()));
  ASSERT_TRUE(client.send(ask_for_much()));
  ASSERT_TRUE(client.hears_within(10'000));
  client.abort();
  EXPECT_TRUE(running.handler.wait_leases_ended());
}

TEST(HttpServer, WhenAClientDoesNotReadInTime_TheAnswersLeaseEnds) {
  ServerSettings settings;
  settings.write_timeout_ms = 50;
  Running running(std::move(settings));
  HttpClient client;
  client.set_receive_buffer(4096);
  ASSERT_TRUE(client.connect(running.port()));
  ASSERT_TRUE(client.send(ask_for_much()));
  EXPECT_TRUE(running.handler.wait_undelivered());
  EXPECT_TRUE(running.handler.wait_leases_ended());
}

TEST(HttpServer, WhenAnAnswerHasNoBodyOnTheWire_ItsLeaseEndsAtOnce) {
  Running running;
  auto client = HttpClient::to(running.port());
  ASSERT_TRUE(client.send("HEAD /big?" + std::to_string(kMoreThanTheKernelTakes) + " HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(client.answer(true));
  EXPECT_TRUE(running.handler.wait_leases_ended());
}

TEST(HttpServer, WhenTheClientIsGoneBeforeItsAnswer_TheLeaseEnds) {
  Running running;
  {
    auto client = HttpClient::to(running.port());
    ASSERT_TRUE(client.send(post_request("/hold", "x")));
    ASSERT_TRUE(running.handler.wait_held(1));
    client.abort();
  }
  running.handler.release();
  EXPECT_TRUE(running.handler.wait_undelivered());
  EXPECT_TRUE(running.handler.wait_leases_ended());
}

TEST(HttpServer, WhenTheClientSendsOnBeforeItReads_ALargeAnswerStillArrives) {
  Running running;
  running.handler.max_batch_bytes = 1000;
  HttpClient client;
  client.set_receive_buffer(4096);
  ASSERT_TRUE(client.connect(running.port()));
  const std::string rest = chunk(std::string(1 << 20, 'c'));
  ASSERT_TRUE(client.send("POST /lines?6000000 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(std::string(1001, 'a'))));
  for (int i = 0; i < 14; ++i) ASSERT_TRUE(client.send(rest)) << i;
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body.size(), 6'000'000u);
  EXPECT_TRUE(client.closed_by_server());
}

}  // namespace
}  // namespace runwarden::http
