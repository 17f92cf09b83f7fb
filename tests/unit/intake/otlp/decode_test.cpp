#include "intake/otlp/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "intake/otlp/json_tree.h"
#include "support/otlp.h"

namespace runwarden::intake::otlp {
namespace {

using test::OtlpSpan;
using testing::HasSubstr;

Attributes copy_of(const Attributes& attributes, Arena& arena);

AnyValue copy_of(const AnyValue& value, Arena& arena) {
  AnyValue copy = value;
  copy.text = keep_text(arena, value.text);
  copy.items = {};
  for (const AnyValue& item : value.items) copy.items.append(arena, copy_of(item, arena));
  copy.members = copy_of(value.members, arena);
  return copy;
}

Attributes copy_of(const Attributes& attributes, Arena& arena) {
  Attributes copy;
  for (const KeyValue& one : attributes) copy.append(arena, {keep_text(arena, one.key), copy_of(one.value, arena)});
  return copy;
}

// What a span shows is good during the call only.
Span copy_of(const Span& span, Arena& arena) {
  Span copy = span;
  for (std::string_view Span::*const text : {&Span::trace_id, &Span::span_id, &Span::parent_span_id, &Span::name, &Span::status_message}) {
    copy.*text = keep_text(arena, span.*text);
  }
  copy.attributes = copy_of(span.attributes, arena);
  copy.events = {};
  for (const SpanEvent& event : span.events) {
    copy.events.append(arena, {keep_text(arena, event.name), copy_of(event.attributes, arena)});
  }
  return copy;
}

struct Taken {
  Span span;
  std::string service;
  std::string scope;
  std::shared_ptr<Arena> arena;  // that the span lives in
};

class Collect final : public SpanSink {
 public:
  void take(Span& span, const Origin& origin) override {
    const AnyValue* const service = find(origin.resource, "service.name");
    spans.push_back({copy_of(span, *arena), std::string(service == nullptr ? "" : service->text), std::string(origin.scope), arena});
  }
  void restart() override { spans.clear(); }
  std::vector<Taken> spans;
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
};

std::vector<Taken> decoded(std::string_view body, Encoding encoding, const DecodeLimits& limits = {}) {
  Collect sink;
  const Status read = decode(body, encoding, limits, sink);
  EXPECT_TRUE(read.ok()) << read.error().detail;
  return std::move(sink.spans);
}

std::vector<Taken> decoded_json(std::string_view body, const DecodeLimits& limits = {}) {
  return decoded(body, Encoding::json, limits);
}

// A request with one span that has these members besides its ids.
std::string with_members(const std::string& members, const std::string& ids = R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331")") {
  return R"({"resourceSpans":[{"scopeSpans":[{"spans":[{)" + ids + (members.empty() ? "" : ",") + members + "}]}]}]}";
}

std::string with_value(const std::string& value) {
  return with_members(R"("attributes":[{"key":"a","value":)" + value + "}]");
}

AnyValue value_of(const std::string& value) {
  static Arena arena;

  const auto spans = decoded_json(with_value(value));
  const AnyValue* const found = spans.size() == 1 ? find(spans[0].span.attributes, "a") : nullptr;
  EXPECT_NE(found, nullptr) << value;
  return found == nullptr ? AnyValue() : copy_of(*found, arena);
}

TEST(OtlpDecode, BothEncodings_GiveTheSameSpans) {
  OtlpSpan span;
  span.parent_id = "00f067aa0ba902b7";
  span.name = "chat gpt-4o";
  span.status = 2;
  span.status_message = "it failed";
  span.attributes = {{"text", std::string("b\"\xC3\xA4\n")}, {"whole", std::int64_t{-9'007'199'254'740'993}}, {"number", 0.5}, {"flag", true}};
  span.events = {{"exception", {{"exception.type", std::string("TimeoutError")}}}};
  for (const auto& spans : {decoded(test::otlp_json({span}), Encoding::json), decoded(test::otlp_protobuf({span}), Encoding::protobuf)}) {
    ASSERT_EQ(spans.size(), 1u);
    const Span& got = spans[0].span;
    EXPECT_EQ(got.fault, "");
    EXPECT_EQ(got.trace_id, span.trace_id);
    EXPECT_EQ(got.span_id, span.span_id);
    EXPECT_EQ(got.parent_span_id, span.parent_id);
    EXPECT_EQ(got.name, span.name);
    EXPECT_EQ(got.start_ns, 1'790'000'000'000'000'000u);
    EXPECT_EQ(got.status, StatusCode::error);
    EXPECT_EQ(got.status_message, "it failed");
    ASSERT_EQ(got.attributes.size(), 4u);
    EXPECT_EQ(find(got.attributes, "text")->text, "b\"\xC3\xA4\n");
    EXPECT_EQ(find(got.attributes, "whole")->integer, -9'007'199'254'740'993);
    EXPECT_EQ(find(got.attributes, "number")->number, 0.5);
    EXPECT_TRUE(find(got.attributes, "flag")->boolean);
    ASSERT_EQ(got.events.size(), 1u);
    EXPECT_EQ(find(got.events.front().attributes, "exception.type")->text, "TimeoutError");
    EXPECT_EQ(spans[0].service, "shop");
    EXPECT_EQ(spans[0].scope, "test");
  }
}

TEST(OtlpDecode, NoSpans_AreARequestAllTheSame) {
  EXPECT_TRUE(decoded("", Encoding::protobuf).empty());
  EXPECT_TRUE(decoded_json("").empty());
  EXPECT_TRUE(decoded_json("{}").empty());
  EXPECT_TRUE(decoded_json(R"({"resourceSpans":[]})").empty());
  EXPECT_TRUE(decoded_json(R"({"resourceSpans":null,"other":[{"spans":[{}]}]})").empty());
}

TEST(OtlpDecode, WhatIsNoRequest_IsRefused) {
  for (const char* const body : {"[]", "7", "{", R"({"resourceSpans":[{)", "\"text\"", "{\"a\":\x01}"}) {
    Collect sink;
    const Status read = decode(body, Encoding::json, {}, sink);
    EXPECT_FALSE(read.ok()) << body;
  }
  for (const std::string& body : {std::string("\x0a\xff"), std::string("\x0a\x05\x12\xff\xff\xff\x7f"), std::string("\x0f"), std::string("\x08")}) {
    Collect sink;
    const Status read = decode(body, Encoding::protobuf, {}, sink);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().detail, HasSubstr("application/json"));
  }
}

TEST(OtlpDecode, Ids_AreHexadecimalOfEitherCaseAndNeverZero) {
  const auto fault = [](const std::string& ids) {
    const auto spans = decoded_json(with_members("", ids));
    return spans.size() == 1 ? spans[0].span.fault : "no span";
  };
  const auto upper = decoded_json(with_members("", R"("traceId":"0AF7651916CD43DD8448EB211C80319C","spanId":"B7AD6B7169203331")"));
  ASSERT_EQ(upper.size(), 1u);
  EXPECT_EQ(upper[0].span.fault, "");
  EXPECT_EQ(upper[0].span.trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(upper[0].span.span_id, "b7ad6b7169203331");
  EXPECT_THAT(fault(R"("spanId":"b7ad6b7169203331")"), HasSubstr("traceId"));
  EXPECT_THAT(fault(R"("traceId":"00000000000000000000000000000000","spanId":"b7ad6b7169203331")"), HasSubstr("traceId"));
  EXPECT_THAT(fault(R"("traceId":"CvdlGRbNQ92ESOshHIAxnA==","spanId":"b7ad6b7169203331")"), HasSubstr("traceId"));
  EXPECT_THAT(fault(R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"0000000000000000")"), HasSubstr("spanId"));
  EXPECT_THAT(fault(R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b716920333g")"), HasSubstr("spanId"));
  EXPECT_THAT(fault(R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":12)"), HasSubstr("spanId"));
}

TEST(OtlpDecode, ABadId_CostsItsOwnSpan) {
  OtlpSpan good;
  OtlpSpan bad;
  bad.trace_id = "0af7";
  const auto spans = decoded(test::otlp_protobuf({bad, good}), Encoding::protobuf);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_THAT(spans[0].span.fault, HasSubstr("traceId"));
  EXPECT_EQ(spans[1].span.fault, "");
}

TEST(OtlpDecode, ABadParentId_CostsItsOwnSpan_AndMakesItNoRoot) {
  const auto fault = [](const std::string& parent) {
    const auto spans = decoded_json(with_members(R"("parentSpanId":)" + parent));
    return spans.size() == 1 ? spans[0].span.fault : "no span";
  };
  for (const char* bad : {R"("abc")", R"("b7ad6b716920333g")", R"("000")", "12", "true", "{}", "[]"}) {
    EXPECT_THAT(fault(bad), HasSubstr("parentSpanId")) << bad;
  }
  for (const char* none : {R"("")", "null", R"("0000000000000000")", R"("B7AD6B7169203332")"}) EXPECT_EQ(fault(none), "") << none;
  OtlpSpan bad;
  bad.parent_id = "0af765";
  OtlpSpan zero;
  zero.parent_id = "0000000000000000";
  const auto spans = decoded(test::otlp_protobuf({bad, zero}), Encoding::protobuf);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_THAT(spans[0].span.fault, HasSubstr("parentSpanId"));
  EXPECT_EQ(spans[1].span.fault, "");
  EXPECT_EQ(spans[1].span.parent_span_id, "");
}

TEST(OtlpDecode, Numbers_AreTextsOrNumbers) {
  EXPECT_EQ(value_of(R"({"intValue":"9007199254740993"})").integer, 9'007'199'254'740'993);
  EXPECT_EQ(value_of(R"({"intValue":131})").integer, 131);
  EXPECT_EQ(value_of(R"({"intValue":1.31e2})").integer, 131);
  EXPECT_EQ(value_of(R"({"intValue":"-1"})").integer, -1);
  EXPECT_EQ(value_of(R"({"intValue":"1.31e2"})").integer, 131);
  EXPECT_EQ(value_of(R"({"intValue":100000000000000000000})").number, 1e20) << "as JavaScript writes it";
  EXPECT_EQ(value_of(R"({"doubleValue":"0.25"})").number, 0.25);
  EXPECT_EQ(value_of(R"({"doubleValue":3})").number, 3.0);
  const auto spans = decoded_json(with_members(R"("startTimeUnixNano":1795187442052959697,"endTimeUnixNano":"1795187442052959698","flags":"769")"));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].span.start_ns, 1'795'187'442'052'959'697u);
  EXPECT_EQ(spans[0].span.end_ns, 1'795'187'442'052'959'698u);
  EXPECT_EQ(spans[0].span.flags, 769u);
}

TEST(OtlpDecode, NumbersThatJsonHasNoTextFor_AreNoFault) {
  EXPECT_TRUE(std::isnan(value_of(R"({"doubleValue":"NaN"})").number));
  EXPECT_TRUE(std::isinf(value_of(R"({"doubleValue":"-Infinity"})").number));
  EXPECT_TRUE(std::isnan(value_of(R"({"doubleValue":null})").number));
  EXPECT_EQ(value_of(R"({"intValue":NaN})").kind, AnyValue::Kind::null);
  EXPECT_TRUE(std::isnan(value_of(R"({"doubleValue":NaN})").number));
  EXPECT_TRUE(std::isnan(value_of(R"({"doubleValue":-Infinity})").number));
  EXPECT_EQ(value_of(R"({"stringValue":"NaN, Infinity"})").text, "NaN, Infinity");
}

TEST(OtlpDecode, BrokenCharacters_BecomeTheReplacementCharacter) {
  EXPECT_EQ(value_of(R"({"stringValue":"a\ud83db"})").text, "a\xEF\xBF\xBD" "b");
  EXPECT_EQ(value_of(R"({"stringValue":"\udc00\\ud83d"})").text, "\xEF\xBF\xBD\\ud83d");
  EXPECT_EQ(value_of(R"({"stringValue":"\ud83d\ude00\ud83d"})").text, "\xF0\x9F\x98\x80\xEF\xBF\xBD");
  EXPECT_EQ(value_of("{\"stringValue\":\"a\xFF\"}").text, "a\xEF\xBF\xBD");
}

TEST(OtlpDecode, ListsAndMaps_AreRead) {
  std::string text;
  append_json(text, value_of(R"({"kvlistValue":{"values":[{"key":"x","value":{"arrayValue":{"values":[{"intValue":"1"},{"stringValue":"b"},{}]}}},)"
                             R"({"key":"y","value":{"bytesValue":"AQI="}},{"key":"z","value":{"kvlistValue":{}}}]}})"));
  EXPECT_EQ(text, R"({"x":[1,"b",null],"y":"AQI=","z":{}})");
}

TEST(OtlpDecode, AMemberOfAnotherType_IsRefusedWithItsPlace) {
  const auto refusal = [](const std::string& body) {
    Collect sink;
    const Status read = decode(body, Encoding::json, {}, sink);
    return read.ok() ? "taken: " + body : read.error().detail.substr(0, read.error().detail.find(';'));
  };
  const auto of_span = [&](const std::string& members) { return refusal(with_members(members)); };
  const std::string span = "/resourceSpans/0/scopeSpans/0/spans/0";
  EXPECT_EQ(refusal(R"({"resourceSpans":{"scopeSpans":[]}})"), "/resourceSpans must be a list");
  EXPECT_EQ(refusal(R"({"resourceSpans":"x"})"), "/resourceSpans must be a list");
  EXPECT_EQ(refusal(R"({"resourceSpans":[{},7]})"), "/resourceSpans/1 must be an object");
  EXPECT_EQ(refusal(R"({"resourceSpans":[{"resource":[]}]})"), "/resourceSpans/0/resource must be an object");
  EXPECT_EQ(refusal(R"({"resourceSpans":[{"resource":{"attributes":{}}}]})"), "/resourceSpans/0/resource/attributes must be a list");
  EXPECT_EQ(refusal(R"({"resourceSpans":[{"scopeSpans":{}}]})"), "/resourceSpans/0/scopeSpans must be a list");
  EXPECT_EQ(refusal(R"({"resourceSpans":[{"scopeSpans":[{},{"scope":{"name":5}}]}]})"),
            "/resourceSpans/0/scopeSpans/1/scope/name must be a string");
  EXPECT_EQ(refusal(R"({"resourceSpans":[{"scopeSpans":[{"spans":{"name":"x"}}]}]})"),
            "/resourceSpans/0/scopeSpans/0/spans must be a list");
  for (const char* const item : {"\"x\"", "5", "null", "[]"}) {
    EXPECT_EQ(refusal(R"({"resourceSpans":[{"scopeSpans":[{"spans":[{},)" + std::string(item) + "]}]}]}"),
              "/resourceSpans/0/scopeSpans/0/spans/1 must be an object");
  }
  EXPECT_EQ(of_span(R"("attributes":{"key":"a"})"), span + "/attributes must be a list");
  EXPECT_EQ(of_span(R"("attributes":[{"key":"a","value":{}},{"key":"a","value":"chat"}])"), span + "/attributes/1/value must be an object");
  EXPECT_EQ(of_span(R"("attributes":[{"key":7}])"), span + "/attributes/0/key must be a string");
  EXPECT_EQ(of_span(R"("events":[{"attributes":[{"value":{"arrayValue":{"values":[{},{"stringValue":1}]}}}]}])"),
            span + "/events/0/attributes/0/value/arrayValue/values/1/stringValue must be a string");
  EXPECT_EQ(of_span(R"("attributes":[{"value":{"kvlistValue":[]}}])"), span + "/attributes/0/value/kvlistValue must be an object");
  EXPECT_EQ(of_span(R"("attributes":[{"value":{"intValue":"many"}}])"),
            span + "/attributes/0/value/intValue must be a whole number, or a string that holds one from -2^63 to 2^63 - 1");
  for (const char* const number : {"1.5", "\"1.5\"", "\"9223372036854775808\"", "\"NaN\"", "true", "{}"}) {
    EXPECT_THAT(of_span(R"("attributes":[{"value":{"intValue":)" + std::string(number) + "}}]"), HasSubstr("/value/intValue must be")) << number;
  }
  for (const char* const bytes : {"\"***\"", "\"AQI*\"", "\"AQ=I\"", "7", "[1]"}) {
    EXPECT_EQ(of_span(R"("attributes":[{"value":{"bytesValue":)" + std::string(bytes) + "}}]"), span + "/attributes/0/value/bytesValue must be a string in Base64");
  }
  EXPECT_EQ(of_span(R"("attributes":[{"value":{"boolValue":"true"}}])"), span + "/attributes/0/value/boolValue must be true or false");
  for (const char* const time :
       {"\"abc\"", "-5", "\"-5\"", "1.5", "true", "18446744073709551616", "\"18446744073709551616\"", "{}", "[]"}) {
    EXPECT_THAT(of_span(R"("startTimeUnixNano":)" + std::string(time)), HasSubstr(span + "/startTimeUnixNano must be an integer")) << time;
  }
  EXPECT_EQ(of_span(R"("status":"ERROR")"), span + "/status must be an object");
  EXPECT_EQ(of_span(R"("status":{"code":"ERROR"})"), span + "/status/code must be a number, or the name of a status code");
  EXPECT_EQ(of_span(R"("name":5)"), span + "/name must be a string");
}

TEST(OtlpDecode, Null_IsAbsent) {
  const auto spans = decoded_json(with_members(
      R"("name":null,"startTimeUnixNano":null,"parentSpanId":null,"status":null,"events":null,"flags":null,)"
      R"("attributes":[{"key":null,"value":null},{"key":"a","value":{"stringValue":null,"arrayValue":null,"boolValue":true}}])"));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].span.fault, "");
  EXPECT_EQ(spans[0].span.start_ns, 0u);
  EXPECT_TRUE(find(spans[0].span.attributes, "a")->boolean);
  EXPECT_TRUE(
      decoded_json(
          R"({"resourceSpans":[{"resource":null,"scopeSpans":null},{"resource":{"attributes":null},"scopeSpans":[{"scope":null,"spans":null}]}]})")
          .empty());
}

TEST(OtlpDecode, UnknownMembers_AreSkipped) {
  const auto spans = decoded_json(
      R"({"x":{"spans":[{}]},"resourceSpans":[{"schemaUrl":"u","resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s","new":[1]}}]},)"
      R"("scopeSpans":[{"scope":{"name":"n","version":"1"},"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",)"
      R"("links":[{"traceId":"0af7651916cd43dd8448eb211c80319c"}],"kind":"SPAN_KIND_CLIENT","future":{"a":[{"b":1}]},"name":"n"}]}]}]})");
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].span.fault, "");
  EXPECT_EQ(spans[0].span.name, "n");
  EXPECT_EQ(spans[0].service, "s");
  EXPECT_TRUE(spans[0].span.attributes.empty());
}

TEST(OtlpDecode, AResourceBehindItsSpans_IsTheirs) {
  const auto spans = decoded_json(
      R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331"}],"scope":{"name":"late"}},)"
      R"({"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203332"}]}],)"
      R"("resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s1"}}]}},)"
      R"({"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s2"}}]},"scopeSpans":[{"scope":{"name":"early"},)"
      R"("spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203333"}]}]}]})");
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].service + " " + spans[0].scope, "s1 late");
  EXPECT_EQ(spans[1].service + " " + spans[1].scope, "s1 ");
  EXPECT_EQ(spans[2].service + " " + spans[2].scope, "s2 early");
}

TEST(OtlpDecode, NestingAndNumberOfValues_AreBounded) {
  DecodeLimits limits;
  limits.max_value_depth = 3;
  const auto nested = [](int levels) {
    std::string value = R"({"intValue":"1"})";
    for (int i = 0; i < levels; ++i) value = R"({"arrayValue":{"values":[)" + value + "]}}";
    return with_value(value);
  };
  EXPECT_EQ(decoded_json(nested(3), limits).at(0).span.fault, "");
  EXPECT_THAT(decoded_json(nested(4), limits).at(0).span.fault, HasSubstr("limits.max_json_depth (3)"));
  limits.max_values = 2;
  OtlpSpan span;
  span.attributes = {{"a", true}, {"b", true}, {"c", true}};
  EXPECT_THAT(decoded(test::otlp_protobuf({span}), Encoding::protobuf, limits).at(0).span.fault, HasSubstr("more than 2 attributes"));
  EXPECT_THAT(decoded_json(test::otlp_json({span}), limits).at(0).span.fault, HasSubstr("more than 2 attributes"));
}

TEST(OtlpDecode, DeepJson_CostsItsSpanAndNoStack) {
  for (const int levels : {100, 400, 3'000, 20'000}) {
    std::string deep;
    for (int i = 0; i < levels; ++i) deep += R"({"arrayValue":{"values":[)";
    deep += R"({"intValue":"1"})";
    for (int i = 0; i < levels; ++i) deep += "]}}";
    const auto span = [](char id, const std::string& value) {
      return R"({"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b716920333)" + std::string(1, id) +
             R"(","attributes":[{"key":"a","value":)" + value + "}]}";
    };
    const auto spans = decoded_json(R"({"resourceSpans":[{"scopeSpans":[{"spans":[)" + span('1', deep) + "," +
                                    span('2', R"({"intValue":"7"})") + "]}]}]}");
    ASSERT_EQ(spans.size(), 2u) << levels;
    EXPECT_THAT(spans[0].span.fault, HasSubstr("nested deeper")) << levels;
    EXPECT_EQ(spans[1].span.fault, "") << levels;
  }
}

TEST(OtlpDecode, DeepProtobuf_CostsItsSpanAndNoStack) {
  std::string value;
  protozero::pbf_writer(value).add_int64(3, 1);
  for (int i = 0; i < 3'000; ++i) {
    std::string list;
    protozero::pbf_writer(list).add_message(1, value);
    std::string outer;
    protozero::pbf_writer(outer).add_message(5, list);
    value = std::move(outer);
  }
  std::string pair;
  protozero::pbf_writer of_pair(pair);
  of_pair.add_string(1, "a");
  of_pair.add_message(2, value);
  std::string span;
  protozero::pbf_writer of_span(span);
  of_span.add_bytes(1, std::string(16, 'a'));
  of_span.add_bytes(2, std::string(8, 'b'));
  of_span.add_message(9, pair);
  std::string scope;
  protozero::pbf_writer(scope).add_message(2, span);
  std::string resource;
  protozero::pbf_writer(resource).add_message(2, scope);
  std::string body;
  protozero::pbf_writer(body).add_message(1, resource);
  const auto spans = decoded(body, Encoding::protobuf);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_THAT(spans[0].span.fault, HasSubstr("nested deeper"));
}

std::string tree_of(std::string_view text) {
  std::string json;
  Arena arena;
  const auto tree = read_json_tree(text, arena);
  if (tree) append_json(json, *tree);
  return json;
}

TEST(JsonTree, TextThatEncodersWriteAlthoughItIsNoJson_IsMended) {
  EXPECT_EQ(tree_of(R"([{"role":"user","content":"Hi \ud83d"}])"), "[{\"role\":\"user\",\"content\":\"Hi \uFFFD\"}]");
  EXPECT_EQ(tree_of(R"([{"content":"Hi \ud83d\ude00"},{"content":"\ude00"}])"),
            "[{\"content\":\"Hi \U0001F600\"},{\"content\":\"\uFFFD\"}]");
  EXPECT_EQ(tree_of(R"({"content":"NaN","score":NaN,"worst":-Infinity})"), R"({"content":"NaN","score":null,"worst":null})");
  EXPECT_EQ(tree_of("{\"content\":\"a\xFF\"}"), "{\"content\":\"a\uFFFD\"}");
  EXPECT_EQ(tree_of(R"("\udc00")"), "\"\uFFFD\"");
  EXPECT_EQ(tree_of(R"([{"score":NaN,"content":"Hi \ud83d, refund)"), "[{\"score\":null,\"content\":\"Hi \uFFFD, refund\"}]");
  EXPECT_EQ(tree_of(R"([{"content":"Hi \ud83d)"), "[{\"content\":\"Hi \uFFFD\"}]") << "cut off between two surrogates";
}

TEST(JsonTree, TextThatWasCutOff_IsReadAsFarAsItGoes) {
  EXPECT_EQ(tree_of(R"([{"role":"user","content":"Refund ord)"), R"([{"role":"user","content":"Refund ord"}])");
  EXPECT_EQ(tree_of(R"([{"role":"user","content":"a\u00)"), R"([{"role":"user","content":"a"}])");
  EXPECT_EQ(tree_of(R"({"a":1,"b)"), R"({"a":1,"b":null})");
  EXPECT_EQ(tree_of(R"({"a":1,"b":)"), R"({"a":1,"b":null})");
  EXPECT_EQ(tree_of(R"({"a":[1,2,)"), R"({"a":[1,2]})");
  EXPECT_EQ(tree_of(R"({"a":[1,2],"b":tru)"), R"({"a":[1,2],"b":null})");
  EXPECT_EQ(tree_of("no JSON"), "");
  EXPECT_EQ(tree_of("{no JSON"), "");
  EXPECT_EQ(tree_of(std::string(100'000, '[')), "");
}

}  // namespace
}  // namespace runwarden::intake::otlp
