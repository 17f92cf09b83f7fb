// The framing of requests and bodies by itself, cut at every byte.
#include "http/framing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "unit/http/gzip_text.h"

namespace runwarden::http {
namespace {

using ::testing::HasSubstr;

BodyPlan whole_plan(std::uint64_t limit, bool gzip = false) {
  BodyPlan plan;
  plan.max_body_bytes = limit;
  plan.coding = gzip ? Coding::gzip : Coding::identity;
  return plan;
}

BodyPlan lines_plan(std::uint64_t line_limit, std::uint64_t batch_limit = 1 << 30, std::uint64_t lines = 1'000'000) {
  BodyPlan plan;
  plan.form = BodyForm::lines;
  plan.max_body_bytes = line_limit;
  plan.max_batch_bytes = batch_limit;
  plan.max_lines = lines;
  return plan;
}

std::optional<Error> fault_of(const std::string& head, RequestHead* out = nullptr) {
  HeadScan scan(16 * 1024);
  const auto size = scan.scan(head);
  if (!size) return size.error();
  EXPECT_EQ(*size, head.size());
  RequestParser parser(100);
  RequestHead local;
  return parser.read_head(head, out ? *out : local);
}

TEST(HeadScan, WhenTheHeadComesByteByByte_FindsItsEndAtTheLastByte) {
  const std::string head = "\r\nGET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n";
  HeadScan scan(1024);
  for (std::size_t size = 1; size < head.size(); ++size) {
    const auto found = scan.scan(std::string_view(head).substr(0, size));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, 0u) << size;
  }
  EXPECT_EQ(*scan.scan(head + "GET /next"), head.size());
}

TEST(HeadScan, WhenTheHeadIsOverTheLimit_IsRefusedThoughItHasNoEnd) {
  HeadScan scan(100);
  EXPECT_EQ(scan.scan(std::string(101, 'a')).error().code, Code::headers_too_large);
  HeadScan exact(37);
  EXPECT_TRUE(exact.scan("GET / HTTP/1.1\r\nHost: abcdefghijk\r\n\r\n").ok());
  HeadScan under(36);
  EXPECT_FALSE(under.scan("GET / HTTP/1.1\r\nHost: abcdefghijk\r\n\r\n").ok());
}

TEST(RequestParser, WhenAHeadIsGood_GivesItsParts) {
  RequestHead head;
  ASSERT_FALSE(fault_of("POST /v1/a%20b?x=1&y HTTP/1.1\r\nHOST: h:80\r\nX-Two:  a b \t\r\nx-two: c\r\nContent-Length: 3\r\n\r\n", &head));
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/v1/a%20b");
  EXPECT_EQ(head.query, "x=1&y");
  EXPECT_EQ(*head.header("x-two"), "a b");
  EXPECT_EQ(head.count("x-two"), 2u);
  EXPECT_TRUE(head.has_body);
}

TEST(RequestParser, WhenTheTargetIsAbsolute_TakesItsPath) {
  RequestHead head;
  ASSERT_FALSE(fault_of("GET http://host:1/p?q HTTP/1.1\r\nHost: host:1\r\n\r\n", &head));
  EXPECT_EQ(head.path, "/p");
  EXPECT_EQ(head.query, "q");
  RequestHead bare;
  ASSERT_FALSE(fault_of("GET http://host HTTP/1.1\r\nHost: host\r\n\r\n", &bare));
  EXPECT_EQ(bare.path, "/");
}

class BadHead : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadHead, IsABadRequestWhoseTextNamesTheFault) {
  const auto fault = fault_of(GetParam().first);
  ASSERT_TRUE(fault) << GetParam().first;
  EXPECT_EQ(fault->code, Code::bad_request);
  EXPECT_THAT(fault->detail, HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    Framing, BadHead,
    ::testing::Values(
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12abc\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +12\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x10\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "2 times"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "Content-Length"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", "Transfer-Encoding"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "Transfer-Encoding"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", "Transfer-Encoding"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "Transfer-Encoding"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding"),
        std::pair("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0"),
        std::pair("GET / HTTP/1.1\r\n\r\n", "Host"), std::pair("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "Host"),
        std::pair("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "Host"), std::pair("GET / HTTP/1.1\r\nHost : a\r\n\r\n", "white space"),
        std::pair("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n", "obs-fold"),
        std::pair("GET / HTTP/1.1\r\nHost: a\r\nX: 1\n\r\n", "bare line feed"), std::pair("GET / HTTP/1.1\nHost: a\n\n", "bare line feed"),
        std::pair("GET / HTTP/1.1\r\nHost: a\rb: c\r\n\r\n", "CRLF"), std::pair("GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", "control"),
        std::pair("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", "field name"), std::pair("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
        std::pair("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1"), std::pair("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1"),
        std::pair("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "HTTP/1"), std::pair("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", "method"),
        std::pair("GET a HTTP/1.1\r\nHost: a\r\n\r\n", "target"), std::pair("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
        std::pair("GET * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS"), std::pair("OPTIONS *x HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
        std::pair("OPTIONS *?x HTTP/1.1\r\nHost: a\r\n\r\n", "target"), std::pair("GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
        std::pair("GET http://a:80a/ HTTP/1.1\r\nHost: a\r\n\r\n", "target"),
        std::pair("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", "target"), std::pair("GET / HTTP/3.1\r\nHost: a\r\n\r\n", "HTTP/1"),
        std::pair("GET / HTTP/0.9\r\nHost: a\r\n\r\n", "HTTP/1"), std::pair("GET / HTTP/1.\r\nHost: a\r\n\r\n", "HTTP/1"),
        std::pair("GET / HTTP/1.10\r\nHost: a\r\n\r\n", "HTTP/1"), std::pair("GET / HTTP/1.a\r\nHost: a\r\n\r\n", "HTTP/1"),
        std::pair("GET / HTTP/1.2\r\n\r\n", "Host"),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\n", "Expect")));

// RFC 9112, section 3.2, and RFC 3986, section 3.2: a host, and perhaps a port.
TEST(RequestParser, WhenHostIsAHostAndPerhapsAPort_IsTaken) {
  for (const char* host : {"",
                           "a",
                           "A.example",
                           "a:",
                           "a:0",
                           "a:80",
                           "a:65535",
                           "a:00080",
                           "127.0.0.1",
                           "127.0.0.1:8080",
                           "999.1.1.1",
                           "a_b-c.d~",
                           "a%20b",
                           "a!$&'()*+;=b",
                           "[::1]",
                           "[::1]:80",
                           "[::1]:",
                           "[2001:db8::127.0.0.1]:1",
                           "[v1.fe80::a+en1]",
                           "xn--bcher-kva.example."}) {
    EXPECT_FALSE(fault_of(std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n")) << host;
    if (*host == '\0') continue;
    RequestHead head;
    EXPECT_FALSE(fault_of(std::string("GET http://") + host + "/p HTTP/1.1\r\nHost: other\r\n\r\n", &head)) << host;
    EXPECT_EQ(head.path, "/p");
  }
}

TEST(RequestParser, WhenHostIsAnythingElse_IsABadRequest) {
  for (const char* host : {"a:80a",   "a:-1",     "a:+1",  "a: 80",     "a:80:80",      "a:65536", "a:99999999999999999999",
                           ":80",     ":",        "[::1",  "::1]",      "::1",          "[::1]x",  "[::1]80",
                           "[]",      "[:::1]",   "[::g]", "[1.2.3.4]", "[::1%25eth0]", "[v1.]",   "[v.a]",
                           "[vg.a]",  "[v1.a/b]", "%",     "%4",        "%4g",          "a%zz",    "a b",
                           "a\tb",    "a,b",      "a/b",   "a?b",       "a#b",          "a@b",     "a\\b",
                           "a\"b",    "a<b",      "a^b",   "a`b",       "a{b",          "a|b",     "\xc3\xa9",
                           "http://a"}) {
    const auto fault = fault_of(std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    ASSERT_TRUE(fault) << host;
    EXPECT_EQ(fault->code, Code::bad_request) << host;
    EXPECT_THAT(fault->detail, HasSubstr("Host")) << host;
  }
}

TEST(RequestParser, WhenTheMinorVersionIsHigher_IsReadAsHttp11) {
  for (const char* version : {"1.2", "1.9"}) {
    RequestHead head;
    RequestParser parser(100);
    const auto fault =
        parser.read_head(std::string("POST /p?q HTTP/") + version + "\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", head);
    ASSERT_FALSE(fault) << fault->detail;
    EXPECT_EQ(head.path, "/p");
    EXPECT_TRUE(parser.framing().http_1_1);
    EXPECT_TRUE(parser.framing().keep_alive);
    EXPECT_TRUE(parser.framing().chunked);
  }
}

TEST(RequestParser, WhenTheTargetIsAnAsterisk_IsForOptionsAlone) {
  RequestHead head;
  EXPECT_FALSE(fault_of("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", &head));
  EXPECT_EQ(head.path, "*");
}

TEST(RequestParser, WhenTheTargetHoldsNul_IsABadRequest) {
  using namespace std::string_literals;
  EXPECT_TRUE(fault_of("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"s));
  EXPECT_TRUE(fault_of("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"s));
}

TEST(RequestParser, WhenThereAre101Fields_IsRefusedWith431AndTakes100) {
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 99; ++i) head.append("x").append(std::to_string(i)).append(": 1\r\n");
  EXPECT_FALSE(fault_of(head + "\r\n"));
  EXPECT_EQ(fault_of(head + "y: 1\r\n\r\n")->code, Code::headers_too_large);
}

// Feeds a chunked body as the server does: what was not taken is offered again with more.
struct Chunked {
  Chunked() { EXPECT_FALSE(parser.read_head("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", head)); }
  void feed(std::string_view piece) {
    pending.append(piece);
    pending.erase(0, parser.read_body(pending, &reader));
    if (parser.body_done() && reader.state() == BodyReader::State::reading) reader.end();
  }
  RequestParser parser{100};
  RequestHead head;
  BodyReader reader{whole_plan(1 << 20)};
  std::string pending;
};

TEST(RequestParser, WhenAChunkedBodyIsCutAtEveryByte_IsReadAlike) {
  for (const char* text : {"5\r\nhello\r\n6;a=\"b;c\"\r\n world\r\n0\r\nTrailer: x\r\n\r\n", "00B\r\nhello world\r\n000\r\n\r\n"}) {
    const std::string body = text;
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
      for (std::size_t second = cut; second <= body.size(); ++second) {
        Chunked one;
        one.feed(std::string_view(body).substr(0, cut));
        one.feed(std::string_view(body).substr(cut, second - cut));
        one.feed(body.substr(second) + "GET");
        ASSERT_TRUE(one.parser.body_done()) << cut << " " << second;
        EXPECT_EQ(one.pending, "GET");
        EXPECT_EQ(one.reader.take_body(), "hello world");
      }
    }
  }
}

TEST(RequestParser, WhenAnEmptyChunkedBodyComesByteByByte_IsDone) {
  Chunked one;
  for (const char c : std::string("0\r\n\r\n")) one.feed(std::string(1, c));
  EXPECT_TRUE(one.parser.body_done());
  EXPECT_EQ(one.reader.take_body(), "");
}

TEST(RequestParser, WhenChunksAreMalformed_IsBroken) {
  for (const char* body :
       {"5\nhello\r\n0\r\n\r\n", "g\r\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
        "11111111111111111\r\nhello\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n"}) {
    Chunked one;
    one.feed(body);
    EXPECT_TRUE(one.parser.body_broken()) << body;
  }
}

TEST(RequestParser, WhenAChunkLineIsBad_IsBrokenBeforeMoreComes) {
  for (const char* body : {"z", "zz\r\n", "\r\n", "5z", "5 z", "5\n", "5\rx", "-5", "5\r\nhellox", "5\r\nhello\rx", "5\r\nhello\r\nz", "5\r\nhello\r\n5\n"}) {
    Chunked one;
    one.feed(body);
    EXPECT_TRUE(one.parser.body_broken()) << body;
    EXPECT_THAT(one.parser.body_fault(), HasSubstr("hexadecimal digits"));
  }
  for (const char* body : {"", "5", "0\r\n", "5;", "5 \t", "5 ;", "5\r\nhello\r\n5 ;a=b\r", "5\r", "5\r\nhello", "5\r\nhello\r", "5\r\nhello\r\n", "5\r\nhello\r\nf\r"}) {
    Chunked one;
    one.feed(body);
    EXPECT_FALSE(one.parser.body_broken()) << body;
  }
}

TEST(RequestParser, WhenATrailerIsFolded_IsBrokenHoweverItIsCut) {
  for (const char* text :
       {"5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n", "0\r\nX: a\r\n\tb\r\nY: c\r\n\r\n", "0;e\r\nY: c\r\nX: a\r\n \r\n\r\n"}) {
    const std::string body = text;
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
      Chunked one;
      one.feed(std::string_view(body).substr(0, cut));
      one.feed(std::string_view(body).substr(cut));
      ASSERT_TRUE(one.parser.body_broken()) << body << " cut at " << cut;
      EXPECT_THAT(one.parser.body_fault(), HasSubstr("obs-fold"));
    }
  }
}

TEST(RequestParser, WhenATrailerFramesTheBody_SaysSo) {
  for (const char* field : {"Content-Length: 5", "Transfer-Encoding: chunked"}) {
    Chunked one;
    one.feed("5\r\nhello\r\n0\r\n" + std::string(field) + "\r\n\r\n");
    EXPECT_THAT(one.parser.body_fault(), HasSubstr("a trailer field")) << field;
  }
}

TEST(RequestParser, WhenAChunkLineOrTrailerIsLong_IsBrokenHoweverItIsCut) {
  const std::string most(16'000, 'a');
  const std::string more(20'000, 'a');
  for (const auto& [begin, end] : {std::pair<std::string, std::string>{"5;", "\r\nhello\r\n0\r\n\r\n"},
                                   {"5\r\nhello\r\n5;", "\r\nhello\r\n0\r\n\r\n"},
                                   {"5\r\nhello\r\n0\r\nX: ", "\r\n\r\n"},
                                   {"0;", "\r\n\r\n"}}) {
    for (const std::size_t cut : {std::size_t{0}, begin.size() + 10, begin.size() + more.size()}) {
      for (const bool is_long : {false, true}) {
        const std::string body = begin + (is_long ? more : most) + end;
        Chunked one;
        one.feed(std::string_view(body).substr(0, cut));
        one.feed(std::string_view(body).substr(std::min(cut, body.size())));
        EXPECT_EQ(one.parser.body_broken(), is_long) << begin << " cut at " << cut;
        if (!is_long) continue;
        EXPECT_THAT(one.parser.body_fault(), HasSubstr("16 KiB")) << begin << " cut at " << cut;
      }
    }
  }
}

TEST(RequestParser, WhenChunksAreMostlyFrame_IsBroken) {
  Chunked line;
  line.feed("5;" + std::string(40'000, 'a'));
  EXPECT_THAT(line.parser.body_fault(), HasSubstr("16 KiB"));
  Chunked many;
  for (int i = 0; i < 100 && !many.parser.body_broken(); ++i) many.feed("1;" + std::string(1000, 'a') + "\r\nx\r\n");
  EXPECT_THAT(many.parser.body_fault(), HasSubstr("chunk extensions"));
  Chunked trailers;
  trailers.feed("0\r\nX: " + std::string(40'000, 'a'));
  EXPECT_THAT(trailers.parser.body_fault(), HasSubstr("trailers"));
  Chunked plain;
  for (int i = 0; i < 100'000; ++i) plain.feed("1\r\nx\r\n");
  EXPECT_FALSE(plain.parser.body_broken());
}

// Whatever the bytes: an end is found or a fault is told, and no more is taken than there is.
TEST(RequestParser, WhenRequestsAreMutated_NeverTakesMoreThanThereIs) {
  std::minstd_rand random(7);
  const std::string good =
      "POST /v1/x?y=z HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;a=\"b\"\r\nhello\r\n0\r\nT: x\r\n\r\n";
  int heads = 0;
  int bodies = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string bytes = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const auto at = random() % bytes.size();
      switch (random() % 4) {
        case 0: bytes.erase(at, 1 + random() % 4); break;
        case 1: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 16)); break;
        default: bytes[at] = "\r\n\0 :;,\"0f\xff"[random() % 11];
      }
    }
    HeadScan scan(16 * 1024);
    const auto size = scan.scan(bytes);
    if (!size || *size == 0) continue;
    ASSERT_LE(*size, bytes.size());
    RequestParser parser(100);
    RequestHead head;
    if (parser.read_head(std::string_view(bytes).substr(0, *size), head)) continue;
    ++heads;
    if (!parser.framing().has_body()) continue;
    BodyReader reader(whole_plan(1000));
    std::string rest = bytes.substr(*size);
    ASSERT_LE(parser.read_body(rest, &reader), rest.size());
    bodies += parser.body_done() ? 1 : 0;
  }
  EXPECT_GT(heads, 1000);
  EXPECT_GT(bodies, 1000);
}

TEST(BodyReader, WhenAGzipBodyIsCutAtEveryByte_IsDecodedAlike) {
  const std::string packed = gzip_text("first ") + gzip_text("second");
  for (std::size_t cut = 0; cut <= packed.size(); ++cut) {
    BodyReader reader(whole_plan(100, true));
    EXPECT_EQ(reader.put(std::string_view(packed).substr(0, cut)), cut);
    reader.put(std::string_view(packed).substr(cut));
    reader.end();
    ASSERT_EQ(reader.state(), BodyReader::State::whole_ready) << cut;
    EXPECT_EQ(reader.take_body(), "first second");
  }
}

TEST(BodyReader, WhenAGzipBodyIsEmpty_IsAnEmptyBody) {
  BodyReader reader(whole_plan(100, true));
  reader.end();
  ASSERT_EQ(reader.state(), BodyReader::State::whole_ready);
  EXPECT_EQ(reader.take_body(), "");
}

TEST(BodyReader, WhenGzipIsTruncatedOrCorrupt_SaysSo) {
  const std::string packed = gzip_text("some text that is packed");
  for (std::size_t size = 1; size < packed.size(); ++size) {
    BodyReader reader(whole_plan(100, true));
    reader.put(std::string_view(packed).substr(0, size));
    reader.end();
    EXPECT_EQ(reader.state(), BodyReader::State::bad_encoding) << size;
  }
  for (const std::string& bad : {std::string("not gzip"), packed + "rest", packed.substr(0, packed.size() - 8) + "00000000"}) {
    BodyReader reader(whole_plan(100, true));
    reader.put(bad);
    reader.end();
    EXPECT_EQ(reader.state(), BodyReader::State::bad_encoding) << bad;
  }
}

TEST(BodyReader, WhenTheDecodedBodyIsOneByteOverTheLimit_IsTooLarge) {
  for (const bool gzip : {false, true}) {
    for (const std::size_t size : {1000u, 1001u}) {
      const std::string text(size, 'a');
      BodyReader reader(whole_plan(1000, gzip));
      reader.put(gzip ? gzip_text(text) : text);
      reader.end();
      EXPECT_EQ(reader.state(), size == 1000 ? BodyReader::State::whole_ready : BodyReader::State::too_large);
    }
  }
}

TEST(BodyReader, WhenMoreIsAnnouncedThanItsLimit_EndsBeforeItComes) {
  BodyReader whole(whole_plan(1000));
  whole.put(std::string(600, 'x'));
  whole.announce(400);
  EXPECT_EQ(whole.state(), BodyReader::State::reading);
  whole.announce(~std::uint64_t{0});
  EXPECT_EQ(whole.state(), BodyReader::State::too_large);
  BodyReader lines(lines_plan(1000, 1000));
  lines.put("one\nhalf");
  lines.announce(993);
  ASSERT_EQ(lines.state(), BodyReader::State::batch_ready);
  const LineBatch batch = lines.take_batch();
  EXPECT_EQ(batch.end, LineBatch::End::over_batch_bytes);
  EXPECT_EQ(batch.end_line, 2u);
  EXPECT_EQ(batch.lines.size(), 1u);
  BodyReader packed(whole_plan(1000, true));
  packed.announce(2000);
  EXPECT_EQ(packed.state(), BodyReader::State::reading) << "the limit is on decoded bytes";
  packed.announce(66'537);
  EXPECT_EQ(packed.state(), BodyReader::State::reading);
  packed.announce(66'538);
  EXPECT_EQ(packed.state(), BodyReader::State::too_large) << "more than any coding of 1000 bytes needs";
}

// Members without content decode to nothing, however many there are.
TEST(BodyReader, WhenEncodedBytesDecodeToNothing_AreBoundedToo) {
  const std::string member = gzip_text("");
  std::string members;
  while (members.size() < 200'000) members += member;
  for (const std::size_t piece : {members.size(), std::size_t{777}}) {
    BodyReader whole(whole_plan(1000, true));
    std::size_t taken = 0;
    for (std::size_t at = 0; at < members.size() && whole.state() == BodyReader::State::reading; at += piece) {
      taken += whole.put(std::string_view(members).substr(at, piece));
    }
    EXPECT_EQ(whole.state(), BodyReader::State::too_large);
    EXPECT_EQ(taken, 66'537u) << "1000 bytes, a thousandth of it and 64 KiB";
  }
  BodyPlan plan = lines_plan(1000, 2000);
  plan.coding = Coding::gzip;
  BodyReader lines(plan);
  lines.put(gzip_text("one\n") + members);
  ASSERT_EQ(lines.state(), BodyReader::State::batch_ready);
  const LineBatch batch = lines.take_batch();
  EXPECT_EQ(batch.end, LineBatch::End::over_batch_bytes);
  EXPECT_EQ(batch.lines.size(), 1u);
}

TEST(BodyReader, WhenABombIsSent_StopsDecodingAtTheLimit) {
  const std::string bomb = gzip_text(std::string(64 << 20, '\0'));
  BodyReader reader(whole_plan(1 << 20, true));
  const std::size_t taken = reader.put(bomb);
  EXPECT_EQ(reader.state(), BodyReader::State::too_large);
  EXPECT_LT(taken, bomb.size() / 16);
}

std::vector<LineBatch::Line> all_lines(BodyReader& reader, std::string_view bytes, LineBatch::End& end, std::size_t piece) {
  std::vector<LineBatch::Line> lines;
  const auto take = [&] {
    while (reader.state() == BodyReader::State::batch_ready) {
      auto batch = reader.take_batch();
      for (auto& line : batch.lines) lines.push_back(std::move(line));
      end = batch.end;
      if (batch.last) return true;
      reader.resume();
    }
    return false;
  };
  while (!bytes.empty()) {
    bytes.remove_prefix(reader.put(bytes.substr(0, piece)));
    if (take()) return lines;
  }
  reader.end();
  EXPECT_TRUE(take());
  return lines;
}

TEST(BodyReader, WhenLinesAreCutAnywhere_CountsAndSplitsThemAlike) {
  const std::string text = "one\r\n\n  \t\r\ntwo\n4444444444\r\nlast";
  for (const bool gzip : {false, true}) {
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      auto plan = lines_plan(10);
      plan.coding = gzip ? Coding::gzip : Coding::identity;
      BodyReader reader(plan);
      LineBatch::End end{};
      const auto lines = all_lines(reader, gzip ? gzip_text(text) : text, end, piece);
      ASSERT_EQ(lines.size(), 4u);
      EXPECT_EQ(end, LineBatch::End::complete);
      EXPECT_EQ(lines[0].text, "one");
      EXPECT_EQ(lines[1].number, 4u);
      EXPECT_EQ(lines[1].text, "two");
      EXPECT_EQ(lines[2].text, "4444444444");
      EXPECT_EQ(lines[3].text, "last");
      EXPECT_EQ(lines[3].number, 6u);
    }
  }
}

TEST(BodyReader, WhenALineIsOverTheLimit_EndsTheBodyBeforeIt) {
  for (const char* text : {"one\n\n44444444444\nlast", "one\n\n4444444444x", "one\n\n44444444444\r\n"}) {
    for (const bool gzip : {false, true}) {
      for (std::size_t piece = 1; piece <= 20; ++piece) {
        auto plan = lines_plan(10);
        plan.coding = gzip ? Coding::gzip : Coding::identity;
        BodyReader reader(plan);
        LineBatch last;
        const std::string wire = gzip ? gzip_text(text) : text;
        for (std::size_t at = 0; at < wire.size() && reader.state() == BodyReader::State::reading; at += piece) {
          reader.put(std::string_view(wire).substr(at, piece));
        }
        reader.end();
        ASSERT_EQ(reader.state(), BodyReader::State::batch_ready);
        last = reader.take_batch();
        ASSERT_TRUE(last.last);
        ASSERT_EQ(last.lines.size(), 1u) << text << " " << piece;
        EXPECT_EQ(last.lines[0].text, "one");
        EXPECT_EQ(last.end, LineBatch::End::line_too_long);
        EXPECT_EQ(last.end_line, 3u);
      }
    }
  }
}

TEST(BodyReader, WhenBrokenOff_GivesTheLinesThatCameWholeAndTheFault) {
  BodyReader reader(lines_plan(100));
  reader.put("one\n\ntwo\nhalf");
  reader.break_off({Code::request_timeout, "too late", {}, {}});
  ASSERT_EQ(reader.state(), BodyReader::State::batch_ready);
  const auto batch = reader.take_batch();
  EXPECT_TRUE(batch.last);
  ASSERT_EQ(batch.lines.size(), 2u);
  EXPECT_EQ(batch.lines[1].text, "two");
  EXPECT_EQ(batch.end, LineBatch::End::broken_off);
  EXPECT_EQ(batch.end_line, 4u);
  EXPECT_EQ(batch.fault.code, Code::request_timeout);
  EXPECT_EQ(reader.kept_bytes(), 0u);
}

TEST(BodyReader, WhenABatchOfLinesIsFull_PausesUntilResumed) {
  const std::string line = std::string(1023, 'a') + "\n";
  std::string text;
  for (int i = 0; i < 10 * 1024; ++i) text += line;
  for (const bool gzip : {false, true}) {
    auto plan = lines_plan(2000);
    plan.coding = gzip ? Coding::gzip : Coding::identity;
    BodyReader reader(plan);
    std::string wire = gzip ? gzip_text(text) : text;
    wire.erase(0, reader.put(wire));
    ASSERT_EQ(reader.state(), BodyReader::State::batch_ready);
    EXPECT_NEAR(static_cast<double>(reader.take_batch().lines.size()), 8192, 16);
    EXPECT_EQ(reader.put("more"), 0u);
    reader.resume();
    wire.erase(0, reader.put(wire));
    ASSERT_EQ(reader.state(), BodyReader::State::batch_ready);
    EXPECT_EQ(reader.take_batch().lines.size(), 512u);
    std::size_t lines = 0;
    for (bool last = false; !last;) {
      reader.resume();
      wire.erase(0, reader.put(wire));
      if (wire.empty()) reader.end();
      if (reader.state() != BodyReader::State::batch_ready) continue;
      const auto batch = reader.take_batch();
      lines += batch.lines.size();
      last = batch.last;
    }
    EXPECT_NEAR(static_cast<double>(lines), 10 * 1024 - 8192 - 512, 16);
  }
}

TEST(BodyReader, WhenLinesAreOverALimit_EndsTheBatchThere) {
  LineBatch::End end{};
  BodyReader bytes(lines_plan(100, 20));
  EXPECT_EQ(all_lines(bytes, "123456789\n123456789\nx\n", end, 100).size(), 2u);
  EXPECT_EQ(end, LineBatch::End::over_batch_bytes);
  BodyReader lines(lines_plan(100, 1000, 2));
  EXPECT_EQ(all_lines(lines, "1\n\n2\n3\n4\n", end, 100).size(), 2u);
  EXPECT_EQ(end, LineBatch::End::over_lines);
  BodyReader exact(lines_plan(100, 1000, 2));
  EXPECT_EQ(all_lines(exact, "1\n\n2\n\n", end, 100).size(), 2u);
  EXPECT_EQ(end, LineBatch::End::complete);
  auto plan = lines_plan(100);
  plan.coding = Coding::gzip;
  BodyReader broken(plan);
  all_lines(broken, gzip_text("1\n2\n").substr(0, 15), end, 100);
  EXPECT_EQ(end, LineBatch::End::bad_encoding);
}

}  // namespace
}  // namespace runwarden::http
