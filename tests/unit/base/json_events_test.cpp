#include "base/json_events.h"

#include <gtest/gtest.h>

#include <string>

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
                         testing::Values(Bad{"", "not JSON at byte 0"}, Bad{"{\"a\":1", "not JSON at byte 6"}, Bad{"{}x", "byte 2"},
                                         Bad{"{}\0x"s, "a NUL byte at byte 2"}, Bad{"{\"a\":\"\0\"}"s, "a NUL byte at byte 6"},
                                         Bad{"[1e999]", "outside the range of a double"}, Bad{"[-1e999]", "outside the range of a double"},
                                         Bad{"[\"\xff\"]", "UTF-8"}, Bad{"[\"\xc0\xaf\"]", "UTF-8"}, Bad{"[\"\xed\xa0\x80\"]", "UTF-8"},
                                         Bad{"[\"\\ud800\"]", "surrogate"}, Bad{"[01]", "byte 2"}, Bad{"[1,]", "byte 3"},
                                         Bad{"{'a':1}", "byte 1"}, Bad{"[NaN]", "byte 1"}, Bad{"\n\n  nope", "line 3, column"},
                                         Bad{"[[[[[]]]]]", "limits.max_json_depth (4)"},
                                         Bad{std::string(100'000, '['), "limits.max_json_depth (4)"}, Bad{"{\"a\":1 \"b\":2}", "byte 9"}));

TEST(JsonEvents, AtTheDepthLimit_IsTaken) {
  Transcript events;
  EXPECT_TRUE(parse_json("[[[[1]]]]", 4, events).ok());
}

TEST(JsonEvents, WhenTheReaderStops_AnswersOk) {
  Transcript events;
  events.stop_at = 1;
  EXPECT_TRUE(parse_json("[1,2,3]", 4, events).ok());
  EXPECT_EQ(events.text, "[ 1 ");
}

}  // namespace
}  // namespace runwarden
