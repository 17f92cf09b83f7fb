#include "base/json_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/json_text.h"

namespace runwarden {
namespace {

using namespace std::string_literals;

// Writes what it is told as one line, so that a table can say what is expected.
class Transcript final : public JsonEvents {
 public:
  bool scalar(const JsonScalar& value) override {
    switch (value.type) {
      case JsonScalar::Type::null: text += "null "; break;
      case JsonScalar::Type::boolean: text += value.boolean ? "true " : "false "; break;
      case JsonScalar::Type::number: text += std::string(value.text) + " "; break;
      case JsonScalar::Type::string: text += "'" + std::string(value.text) + "' "; break;
    }
    return text.size() < stop_at;
  }
  bool open_object() override { return note("{ "); }
  bool open_array() override { return note("[ "); }
  bool key(std::string_view name) override { return note(std::string(name) + ": "); }
  bool close() override { return note("} "); }
  void restart() override { text.clear(); }
  std::string text;
  std::size_t stop_at = 1'000'000;

 private:
  bool note(const std::string& what) {
    text += what;
    return true;
  }
};

TEST(JsonEvents, GivenADocument_TellsEachValueInOrder) {
  Transcript events;
  ASSERT_TRUE(parse_json(R"( {"a":[1,-2,3.50,1e2,12345678901234567890123],"b":{"c":null,"d":true,"é":"x\ny"}} )", 64, events).ok());
  EXPECT_EQ(events.text, "{ a: [ 1 -2 3.50 1e2 12345678901234567890123 } b: { c: null d: true é: 'x\ny' } } ");
}

struct Bad {
  std::string text;
  std::string says;
};

class JsonEventsRefuses : public testing::TestWithParam<Bad> {};

TEST_P(JsonEventsRefuses, WithPlaceAndReason) {
  Transcript events;
  const Status status = parse_json(GetParam().text, 4, events);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::malformed_json);
  EXPECT_NE(status.error().detail.find(GetParam().says), std::string::npos) << status.error().detail;
}

INSTANTIATE_TEST_SUITE_P(Table, JsonEventsRefuses,
                         testing::Values(Bad{"", "not JSON at byte 0: it is empty"}, Bad{" \n", "not JSON at byte 0: it is empty"},
                                         Bad{"{\"a\":1", "not JSON at byte 6"}, Bad{"{}x", "byte 2"}, Bad{"{}\0x"s, "a NUL byte at byte 2"},
                                         Bad{"{\"a\":\"\0\"}"s, "a NUL byte at byte 6"}, Bad{"[1e999]", "outside the range of a double"},
                                         Bad{"[-1e999]", "outside the range of a double"}, Bad{"[\"\xff\"]", "UTF-8"},
                                         Bad{"[\"\xc0\xaf\"]", "UTF-8"}, Bad{"[\"\xed\xa0\x80\"]", "UTF-8"},
                                         Bad{"[\"\\ud800\"]", "surrogate"}, Bad{"[01]", "byte 2"}, Bad{"[1,]", "byte 3"},
                                         Bad{"{'a':1}", "byte 1"}, Bad{"[NaN]", "byte 1"}, Bad{"\n\n  nope", "line 3, column"},
                                         Bad{"  nope", "not JSON at byte 3: "}, Bad{"{}\n}", "byte 3 (line 2, column 1): "},
                                         Bad{"[[[[[]]]]]", "limits.max_json_depth (4)"},
                                         Bad{std::string(100'000, '['), "limits.max_json_depth (4)"}, Bad{"{\"a\":1 \"b\":2}", "byte 9"}));

TEST(JsonEvents, AtTheDepthLimit_IsTaken) {
  Transcript events;
  EXPECT_TRUE(parse_json("[[[[1]]]]", 4, events).ok());
}

TEST(JsonEvents, BeyondTheDepthOfRecursion_IsReadAsFarAsTheLimitGoes) {
  constexpr int kDepth = 50'000;
  const std::string deep = std::string(kDepth, '[') + "1" + std::string(kDepth, ']');
  Transcript events;
  EXPECT_FALSE(parse_json(deep, kDepth - 1, events).ok());
  events.text.clear();
  ASSERT_TRUE(parse_json(deep, kDepth, events).ok());
  EXPECT_EQ(std::count(events.text.begin(), events.text.end(), '['), kDepth);
  EXPECT_EQ(std::count(events.text.begin(), events.text.end(), '}'), kDepth);
}

// The most arrays that were open at once, by whatever was told: also what was taken back.
class Deepest final : public JsonEvents {
 public:
  bool scalar(const JsonScalar&) override { return true; }
  bool open_object() override { return true; }
  bool open_array() override {
    deepest = std::max(deepest, ++open_);
    return true;
  }
  bool key(std::string_view) override { return true; }
  bool close() override {
    --open_;
    return true;
  }
  void restart() override { open_ = 0; }
  int deepest = 0;

 private:
  int open_ = 0;
};

TEST(JsonEvents, WhenATextIsCutOff_NothingOfTheOneBeforeItIsRead) {
  Deepest events;
  ASSERT_TRUE(parse_json("[0," + std::string(100, '[') + std::string(100, ']') + "]", 200, events).ok());
  events.deepest = 0;
  ASSERT_FALSE(parse_json("[[[", 200, events).ok());
  EXPECT_EQ(events.deepest, 3);
}

TEST(JsonEvents, WhenTheReaderStops_AnswersOk) {
  Transcript events;
  events.stop_at = 1;
  EXPECT_TRUE(parse_json("[1,2,3]", 4, events).ok());
  EXPECT_EQ(events.text, "[ 1 ");
}

// Writes the document again from its events.
class Rewriter final : public JsonEvents {
 public:
  bool scalar(const JsonScalar& value) override {
    write_json_scalar(out_, value);
    return true;
  }
  bool open_object() override {
    open_ += '{';
    out_.begin_object();
    return true;
  }
  bool open_array() override {
    open_ += '[';
    out_.begin_array();
    return true;
  }
  bool key(std::string_view name) override {
    out_.key(name);
    return true;
  }
  bool close() override {
    open_.back() == '{' ? out_.end_object() : out_.end_array();
    open_.pop_back();
    return true;
  }
  void restart() override {
    text.clear();
    open_.clear();
    out_ = JsonWriter(text);
  }
  std::string text;

 private:
  std::string open_;
  JsonWriter out_{text};
};

TEST(JsonEvents, OnManyBrokenDocuments_JudgesAsNlohmannDoes) {
  const std::vector<std::string> seeds{
      R"({"a":[1,-2.5e3,true,false,null],"b":{"c":"x\u00e9\n\"","d":[]},"e":12345678901234567890123,"f":-0,"g":"é😀"})",
      R"([[],{},[{"k":[[1]]}],"", "\ud83d\ude00", 0.1, 1E+2, 18446744073709551615, -9223372036854775808])", "  \"just text\"  ", "-12.5",
      "{\"a\" : {\"a\" : 1}, \"a\" : 2}\n"};
  const std::string alphabet = "{}[],:\"\\ \n\t0123456789.eE+-truefalsnu\x01\x7f\xc3\xa9\xff/";
  std::mt19937 random(20261121);
  int taken = 0;
  for (int round = 0; round < 40'000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (auto edits = random() % 4; edits-- > 0;) {
      const auto at = random() % (text.size() + 1);
      switch (random() % 3) {
        case 0: text.insert(at, 1, alphabet[random() % alphabet.size()]); break;
        case 1: text.erase(at, 1 + random() % 3); break;
        default:
          if (at < text.size()) text[at] = alphabet[random() % alphabet.size()];
      }
    }
    const auto wanted = nlohmann::json::parse(text, nullptr, false);
    Rewriter events;
    const bool ok = parse_json(text, 64, events).ok();
    ASSERT_EQ(ok, !wanted.is_discarded()) << text;
    if (ok) {
      ++taken;
      ASSERT_EQ(nlohmann::json::parse(events.text), wanted) << text;
    }
  }
  EXPECT_GT(taken, 10'000) << "most of them broken: the comparison would show little";
}

// Parses what each string holds while it is told of it.
class Inward final : public JsonEvents {
 public:
  explicit Inward(std::string& out) : out_(out) {}
  bool scalar(const JsonScalar& value) override {
    out_.append(value.text).append(" ");
    if (value.type == JsonScalar::Type::string) {
      Inward inner(out_);
      static_cast<void>(parse_json(value.text, 10, inner));
    }
    return true;
  }
  bool open_object() override { return true; }
  bool open_array() override { return true; }
  bool key(std::string_view) override { return true; }
  bool close() override { return true; }
  void restart() override {}

 private:
  std::string& out_;
};

TEST(JsonEvents, AReaderMayParseWhatItIsToldOf) {
  std::string inner = "[7,8]";
  std::string told = "7 8 ";
  for (int depth = 0; depth < 6; ++depth) {
    std::string text = "[";
    append_json_string(text, inner);
    told.insert(0, inner + " ").append("9 ");
    inner = text + ",9]";
  }
  std::string out;
  Inward reader(out);
  ASSERT_TRUE(parse_json(inner, 10, reader).ok());
  EXPECT_EQ(out, told);
}

}  // namespace
}  // namespace runwarden
