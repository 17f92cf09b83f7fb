// What no client should send, and what the service says to it: the right error each, memory bounded, and it goes on.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using namespace std::string_literals;
using nlohmann::json;

// `mebibytes` of one character, as gzip.
std::string gzip_of(std::size_t mebibytes, char filler) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string piece(1 << 20, filler);
  std::string out;
  std::string chunk(1 << 16, '\0');
  for (std::size_t i = 0; i <= mebibytes; ++i) {
    stream.next_in = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_in = i < mebibytes ? static_cast<uInt>(piece.size()) : 0;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream.avail_out = static_cast<uInt>(chunk.size());
      deflate(&stream, i < mebibytes ? Z_NO_FLUSH : Z_FINISH);
      out.append(chunk, 0, chunk.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return out;
}

std::size_t peak_memory_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

class HostileInput : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service_ = new ServiceProcess;
    key_ = service_->make_key();
  }
  static void TearDownTestSuite() { delete service_; }
  void TearDown() override { EXPECT_EQ(service_->post("/v1/ingest/runs", key_, "{}").status, 201) << "the service goes on"; }

  static std::string code_of(const HttpAnswer& answer) {
    return std::to_string(answer.status) + " " + json::parse(answer.body).value("code", "");
  }
  static std::string posted(const std::string& body, const std::string& fields = {}) {
    return code_of(service_->post("/v1/ingest/runs", key_, body, fields));
  }

  static inline ServiceProcess* service_ = nullptr;
  static inline std::string key_;
};

TEST_F(HostileInput, JsonThatIsNone) {
  for (const std::string& body :
       {std::string(), "{"s, "{}}"s, "{}\0garbage"s, "{\"a\":\"\0\"}"s, "{\"a\":\"\xff\"}"s, "{\"a\":1e999}"s, "{\"a\":-1e999}"s,
        "{\"runId\":\"a\",\"runId\":\"a\"}"s, "{\"steps\":[{\"status\":\"a\",\"status\":\"b\"}]}"s, std::string(100'000, '['),
        "{\"a\":" + std::string(65, '[') + std::string(65, ']') + "}", "{\"a\":" + std::string(100'000, '[')}) {
    EXPECT_EQ(posted(body), "400 malformed_json") << body.substr(0, 60);
  }
  EXPECT_EQ(posted("{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}").substr(0, 3), "201");
}

TEST_F(HostileInput, BodiesThatAreTooLarge) {
  EXPECT_EQ(posted("{\"a\":\"" + std::string(9 << 20, 'x') + "\"}"), "413 payload_too_large");
  EXPECT_EQ(posted("{\"a\":\"" + std::string((8 << 20) - 8, 'x') + "\"}").substr(0, 3), "201") << "exactly the limit";
  EXPECT_EQ(posted("{\"a\":\"" + std::string((8 << 20) - 7, 'x') + "\"}"), "413 payload_too_large") << "one byte over";
}

TEST_F(HostileInput, AChunkThatAnnouncesMoreThanTheLimit_IsRefusedBeforeItsBytesCome) {
  for (const char* type : {"application/json", "application/x-ndjson"}) {
    for (const char* size : {"ffffffffffffffff", "8000000000000000", "10000001"}) {
      HttpClient client = HttpClient::to(service_->port());
      ASSERT_TRUE(client.send("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ + "\r\nContent-Type: " + type +
                              "\r\nTransfer-Encoding: chunked\r\n\r\n" + size + "\r\n"));
      ASSERT_TRUE(client.hears_within(5'000)) << type << " " << size << ": sooner than limits.body_timeout";
      const auto answer = client.answer();
      ASSERT_TRUE(answer) << type << " " << size;
      EXPECT_EQ(code_of(*answer), "413 payload_too_large");
      EXPECT_TRUE(client.closed_by_server());
    }
  }
}

TEST_F(HostileInput, AGzipBomb_IsStoppedAtTheLimit) {
  const std::string bomb = gzip_of(200, 'x');
  ASSERT_LT(bomb.size(), 1u << 20);
  const std::size_t before = peak_memory_kib(service_->pid());
  EXPECT_EQ(posted(bomb, "Content-Encoding: gzip\r\n"), "413 payload_too_large");
  EXPECT_LT(peak_memory_kib(service_->pid()), before + (64u << 10));
}

TEST_F(HostileInput, AGzipBodyLargerThanAnyOfTheLimit_IsRefusedBeforeItComes) {
  for (const char* size : {"Transfer-Encoding: chunked\r\n\r\n1dcd6500\r\n", "Content-Length: 500000000\r\nExpect: 100-continue\r\n\r\n"}) {
    HttpClient client = HttpClient::to(service_->port());
    ASSERT_TRUE(client.send("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ +
                            "\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n" + size));
    ASSERT_TRUE(client.hears_within(5'000)) << size << ": sooner than limits.body_timeout";
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << size;
    EXPECT_EQ(code_of(*answer), "413 payload_too_large");
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST_F(HostileInput, AGzipOfEmptyMembers_IsBoundedAsItIsSent) {
  const std::string member = gzip_of(0, 'x');
  std::string members;
  while (members.size() < (9u << 20)) members += member;
  EXPECT_EQ(posted(members, "Content-Encoding: gzip\r\n"), "413 payload_too_large");
}

TEST_F(HostileInput, ManySmallSteps_AreBounded) {
  std::string body = "{\"steps\":[{}";
  while (body.size() < (7u << 20)) body += ",{}";
  EXPECT_EQ(posted(body + "]}"), "422 validation_failed");
}

TEST_F(HostileInput, PathsAndQueries) {
  EXPECT_EQ(service_->get("/" + std::string(15'000, '/'), key_).status, 404);
  EXPECT_EQ(service_->get("/v1/runs/%00", key_).status, 400);
  EXPECT_EQ(service_->get("/v1/runs/%zz", key_).status, 400);
  EXPECT_EQ(service_->get("/v1/runs/..%2f..%2fetc", key_).status, 404);
  EXPECT_EQ(service_->get("/v1/runs/a?x=%", key_).status, 400);
}

// The answer to these bytes, and whether the connection ended with it.
std::string answered(const ServiceProcess& service, const std::string& bytes) {
  HttpClient client = HttpClient::to(service.port());
  if (!client.send(bytes)) return "not sent";
  const auto answer = client.answer();
  if (!answer) return "no answer";
  if (answer->header("connection") != "close") return std::to_string(answer->status);
  return std::to_string(answer->status) + (client.closed_by_server() && client.rest().empty() ? " closed" : " not closed");
}

TEST_F(HostileInput, AHostThatIsNone) {
  for (const char* host : {"a:80a", "[::1", "a:-1", "a:80:80", "[::1]x", "%"}) {
    EXPECT_EQ(answered(*service_, std::string("GET /healthz HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"), "400 closed") << host;
  }
  EXPECT_EQ(answered(*service_, "GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"), "200");
}

TEST_F(HostileInput, AFoldedTrailer) {
  const std::string head =
      "POST /v1/ingest/runs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key_ +
      "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n17\r\n{\"runId\":\"folded-away\"}\r\n0\r\n";
  EXPECT_EQ(answered(*service_, head + "X: a\r\n b\r\n\r\n"), "400 closed");
  EXPECT_EQ(service_->get("/v1/runs/folded-away", key_).status, 404);
  EXPECT_EQ(answered(*service_, head + "X: a\r\n\r\n"), "201");
}

TEST_F(HostileInput, AHigherMinorVersion_IsServedAsHttp11) {
  EXPECT_EQ(answered(*service_, "GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n"), "200");
  EXPECT_EQ(answered(*service_, "GET /healthz HTTP/1.2\r\n\r\n"), "400 closed");
  EXPECT_EQ(answered(*service_, "GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n"), "400 closed");
}

TEST_F(HostileInput, AnAsterisk_IsForOptionsAlone) {
  EXPECT_EQ(answered(*service_, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"), "400 closed");
  const HttpAnswer options = service_->request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.header("allow"), "GET, HEAD, POST, DELETE, OPTIONS");
}

}  // namespace
}  // namespace runwarden::test
