// An NDJSON body that breaks off, in every way it can: either nothing of it is stored and the answer is the plain error, or the answer is
// 200 with a result for each line that was taken, and `brokenOff` names the first one that was not and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "support/service_process.h"
#include "unit/http/gzip_text.h"

namespace runwarden::test {
namespace {

using http::gzip_text;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// More than the first part of a body, which is read before a line is judged.
constexpr int kManyLines = 1100;
constexpr std::size_t kLineBytes = 8192;
constexpr int kPatienceMs = 60'000;

std::string chunk(const std::string& data) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}

std::string line(int number, std::size_t bytes = kLineBytes) {
  std::string text = "{\"runId\":\"run-" + std::to_string(number) + "\",\"padding\":\"";
  if (text.size() + 3 < bytes) text.append(bytes - text.size() - 3, 'x');
  return text + "\"}\n";
}

std::string lines(int from, int count, std::size_t bytes = kLineBytes) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line(from + i, bytes);
  return text;
}

// A request under way, and the service that it goes to.
struct Stream {
  ServiceProcess& service;
  HttpClient& client;
  std::string key;
  int sent = 0;  // whole lines
  void send(const std::string& bytes) { client.send(bytes); }
};

const char* const kChunked = "Transfer-Encoding: chunked\r\n";
const char* const kSized = "Content-Length: 200000000\r\n";

struct Break {
  const char* name;
  int status;
  const char* code;
  std::function<void(Stream&)> how;
  ServiceProcess::Options options = {};
  bool gzip = false;
  const char* framing = kChunked;
  enum class When { early, late, both } when = When::both;  // before or after lines were stored
};

void PrintTo(const Break& one, std::ostream* out) {
  *out << one.name;
}

ServiceProcess::Options with_limits(const std::string& limits, const std::string& server = {}) {
  ServiceProcess::Options options;
  options.limits = limits;
  options.server = server;
  return options;
}

std::string id_of(const ServiceProcess& service, const std::string& name) {
  for (const json& one : json::parse(service.cli({"keys", "list", "--json"}).out)) {
    if (one["name"] == name) return one["id"];
  }
  return "no such key";
}

std::string create_key(const ServiceProcess& service, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"keys", "create", "--tenant", "acme", "--scopes", "ingest"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::string key = service.cli(arguments).out;
  while (!key.empty() && key.back() == '\n') key.pop_back();
  return key;
}

const std::vector<Break>& ways_to_break_off() {
  static const std::vector<Break> ways{
      {"BadChunk", 400, "bad_request", [](Stream& to) { to.send("this is no chunk\r\n"); }},
      {"ChunkWithoutItsEnd", 400, "bad_request", [](Stream& to) { to.send("1\r\nxyz, and more\r\n"); }},
      {"EndlessChunkExtension", 400, "bad_request", [](Stream& to) { to.send("1;" + std::string(40'000, 'a')); }},
      {"FoldedTrailer", 400, "bad_request", [](Stream& to) { to.send("0\r\nX: a\r\n b\r\n\r\n"); }},
      {"OverLongLine", 413, "payload_too_large", [](Stream& to) { to.send(chunk(std::string(70'000, 'x'))); },
       with_limits("{max_body_bytes: 64KiB}")},
      {"OverLongLineAmongOthers", 413, "payload_too_large",
       [](Stream& to) { to.send(chunk(std::string(70'000, 'x') + "\n" + line(to.sent + 2)) + "0\r\n\r\n"); },
       with_limits("{max_body_bytes: 64KiB}")},
      {"OverBatchBytes", 413, "payload_too_large",
       [](Stream& to) {
         for (int i = 0; i < 20; ++i) to.send(chunk(lines(to.sent + 1 + i * 50, 50)));
       },
       with_limits("{max_batch_bytes: 12MiB, max_body_bytes: 64KiB}"), false, kChunked, Break::When::late},
      {"OverFewBatchBytes", 413, "payload_too_large", [](Stream& to) { to.send(chunk(lines(to.sent + 1, 200))); },
       with_limits("{max_batch_bytes: 1MiB, max_body_bytes: 64KiB}"), false, kChunked, Break::When::early},
      {"AnnouncedOverBatchBytes", 413, "payload_too_large", [](Stream& to) { to.send("8000000000000000\r\n"); }},
      {"OverBatchRuns", 413, "payload_too_large", [](Stream& to) { to.send(chunk(lines(to.sent + 1, 1500, 0))); },
       with_limits("{max_batch_runs: 1300}")},
      {"Stall", 408, "request_timeout", [](Stream& to) { to.send(chunk("{\"half\":")); }, with_limits("{body_timeout: 1500ms}")},
      {"HalfClose", 400, "bad_request",
       [](Stream& to) {
         to.send(chunk("{\"half\":"));
         to.client.half_close();
       }},
      {"HalfCloseOfASizedBody",
       400,
       "bad_request",
       [](Stream& to) {
         to.send("{\"half\":");
         to.client.half_close();
       },
       {},
       false,
       kSized},
      {"CorruptGzip", 400, "bad_request", [](Stream& to) { to.send(chunk("no gzip member")); }, {}, true},
      {"TruncatedGzip",
       400,
       "bad_request",
       [](Stream& to) { to.send(chunk(gzip_text(line(to.sent + 1)).substr(0, 20)) + "0\r\n\r\n"); },
       {},
       true},
      {"RevokedKey", 401, "unauthorized",
       [](Stream& to) {
         ASSERT_EQ(to.service.cli({"keys", "revoke", id_of(to.service, "stream")}).exit_code, 0);
       }},
      {"RevokedKeyWhileLinesCome", 401, "unauthorized",
       [](Stream& to) {
         ASSERT_EQ(to.service.cli({"keys", "revoke", id_of(to.service, "stream")}).exit_code, 0);
         for (int i = 0; i < 300 && !to.client.hears_within(10); ++i) to.send(chunk(line(to.sent + 1 + i)));
       }},
      {"Drain", 503, "unavailable", [](Stream& to) { to.service.signal(SIGTERM); }, with_limits("{}", "drain_timeout: 6s")},
  };
  return ways;
}

std::vector<Break> ways(Break::When when) {
  std::vector<Break> some;
  for (const Break& way : ways_to_break_off()) {
    if (way.when == when || way.when == Break::When::both) some.push_back(way);
  }
  return some;
}

class BrokenOff : public testing::TestWithParam<Break> {
 protected:
  BrokenOff() : service_(GetParam().options), reader_(service_.make_key()), key_(create_key(service_, {"--name", "stream"})) {}

  // Begins a request, with that many whole lines of it sent.
  Stream begin(int count) {
    client_.set_timeout(kPatienceMs);
    client_.connect(service_.port());
    Stream stream{service_, client_, key_, count};
    stream.send("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " + key_ +
                "\r\n" + (GetParam().gzip ? "Content-Encoding: gzip\r\n" : "") + GetParam().framing + "\r\n");
    if (count == 0) return stream;
    const std::string text = GetParam().gzip ? gzip_text(lines(1, count)) : lines(1, count);
    stream.send(GetParam().framing == kSized ? text : chunk(text));
    return stream;
  }
  int status_of(int number) { return service_.get("/v1/runs/run-" + std::to_string(number), reader_).status; }
  bool wait_until_stored(int number) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (std::chrono::steady_clock::now() < end) {
      if (status_of(number) == 200) return true;
      ::poll(nullptr, 0, 10);
    }
    return false;
  }
  // After a drain nobody answers any more: the store is looked at by another process.
  void look_again() {
    if (std::string(GetParam().name) != "Drain") return;
    EXPECT_EQ(service_.wait_for_end(), 0);
    service_.start();
  }

  ServiceProcess service_;
  std::string reader_, key_;
  HttpClient client_;
};

class BrokenOffLate : public BrokenOff {};
class BrokenOffEarly : public BrokenOff {};

TEST_P(BrokenOffLate, AfterLinesWereStored_IsA200ThatNamesThemAllAndTheFault) {
  Stream stream = begin(kManyLines);
  ASSERT_TRUE(wait_until_stored(1));
  GetParam().how(stream);
  const auto answer = client_.answer();
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->status, 200) << answer->body.substr(0, 500);
  const json body = json::parse(answer->body);
  ASSERT_TRUE(body.contains("brokenOff")) << answer->body.substr(answer->body.size() - 300);
  EXPECT_EQ(body["brokenOff"]["status"], GetParam().status);
  EXPECT_EQ(body["brokenOff"]["code"], GetParam().code);
  EXPECT_THAT(body["brokenOff"]["detail"].get<std::string>(), AllOf(Not(IsEmpty()), Not(HasSubstr("was stored"))));
  const int taken = static_cast<int>(body["results"].size());
  const int first_not_taken = body["brokenOff"]["line"];
  int last_taken = 0;
  for (int i = 0; i < taken; ++i) {
    const int number = body["results"][i]["line"];
    // Lines are judged side by side: of those that a revoked key sent, one may be stored and one before it not.
    ASSERT_TRUE(number > first_not_taken || number == i + 1) << "a line before the break has no result";
    ASSERT_NE(number, first_not_taken);
    ASSERT_EQ(body["results"][i]["status"], 201) << number;
    last_taken = number;
  }
  EXPECT_GE(taken, first_not_taken - 1);
  EXPECT_GT(taken, 0);
  EXPECT_EQ(body["accepted"], taken);
  EXPECT_EQ(body["rejected"], 0);
  EXPECT_EQ(answer->header("connection"), "close");
  EXPECT_TRUE(client_.closed_by_server());
  look_again();
  EXPECT_EQ(status_of(last_taken), 200);
  EXPECT_EQ(status_of(first_not_taken), 404);
}

TEST_P(BrokenOffEarly, WithNothingStored_IsThePlainError) {
  Stream stream = begin(3);
  ASSERT_EQ(service_.request(get_request("/healthz")).status, 200);
  GetParam().how(stream);
  const auto answer = client_.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, GetParam().status) << answer->body.substr(0, 500);
  EXPECT_EQ(answer->header("content-type"), "application/problem+json");
  const json problem = json::parse(answer->body);
  EXPECT_EQ(problem["code"], GetParam().code);
  // A client that sends only the rest again would lose the lines before it.
  EXPECT_THAT(problem["detail"].get<std::string>(),
              AnyOf(HasSubstr("; nothing was stored, send the whole batch again"), HasSubstr("; nothing of the batch was stored")));
  look_again();
  EXPECT_EQ(status_of(1), 404);
  EXPECT_EQ(status_of(3), 404);
}

std::string name_of(const testing::TestParamInfo<Break>& way) {
  return way.param.name;
}
INSTANTIATE_TEST_SUITE_P(Ways, BrokenOffLate, testing::ValuesIn(ways(Break::When::late)), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, BrokenOffEarly, testing::ValuesIn(ways(Break::When::early)), name_of);

// When the key ends is the machine's affair; whenever it does, the rule holds.
TEST(BrokenOffByTime, WhenTheKeyExpiresWhileLinesCome_NothingIsStoredAfterIt) {
  ServiceProcess service;
  const std::string reader = service.make_key();
  const std::string key = create_key(service, {"--expires", "4s"});
  HttpClient client = HttpClient::to(service.port(), kPatienceMs);
  ASSERT_TRUE(client.send("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                          key + "\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(lines(1, kManyLines))));
  int sent = kManyLines;
  for (; sent < 30'000 && !client.hears_within(10); sent += 10) client.send(chunk(lines(sent + 1, 10)));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  const json body = json::parse(answer->body);
  if (answer->status != 200) {
    EXPECT_EQ(body["code"], "unauthorized");
    EXPECT_EQ(service.get("/v1/runs/run-1", reader).status, 404);
    return;
  }
  EXPECT_EQ(body["brokenOff"]["code"], "unauthorized");
  EXPECT_EQ(body["brokenOff"]["status"], 401);
  EXPECT_EQ(body["accepted"], body["results"].size());
  EXPECT_EQ(service.get("/v1/runs/run-1", reader).status, 200);
  const int first_not_taken = body["brokenOff"]["line"];
  EXPECT_EQ(service.get("/v1/runs/run-" + std::to_string(first_not_taken), reader).status, 404);
}

// A store without room breaks nothing off: each line is told what became of it.
TEST(NotBrokenOff, WhenTheStoreIsFull_EachLineHasItsResult) {
  ServiceProcess::Options options;
  options.store = "map_size: 4MiB";
  ServiceProcess service(std::move(options));
  const std::string key = service.make_key();
  std::uint64_t state = 88172645463325252ull;
  std::string body;
  for (int i = 1; i <= 1500; ++i) {  // text that does not compress
    body += "{\"runId\":\"run-" + std::to_string(i) + "\",\"x\":\"";
    for (int n = 0; n < 6000; ++n) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      body += static_cast<char>('A' + state % 26);
    }
    body += "\"}\n";
  }
  HttpClient client = HttpClient::to(service.port(), kPatienceMs);
  ASSERT_TRUE(client.send("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                          key + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->status, 200) << answer->body.substr(0, 300);
  const json told = json::parse(answer->body);
  EXPECT_FALSE(told.contains("brokenOff"));
  ASSERT_EQ(told["results"].size(), 1500u);
  EXPECT_GT(told["accepted"], 0);
  EXPECT_GT(told["rejected"], 0);
  for (int i = 0; i < 1500; i += 25) {
    const json& one = told["results"][i];
    const int stored = service.get("/v1/runs/run-" + std::to_string(i + 1), key).status;
    EXPECT_EQ(stored, one["status"] == 201 ? 200 : 404) << one.dump();
    EXPECT_TRUE(one["status"] == 201 || one["status"] == 503) << one.dump();
  }
}

}  // namespace
}  // namespace runwarden::test
