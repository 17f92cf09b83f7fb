#include "guardrail/yaml.h"

#include <gtest/gtest.h>

namespace runwarden::guardrail {
namespace {

TEST(GuardrailYaml, NestedValues_StandInBlocks) {
  EXPECT_EQ(yaml_of(R"({"a":{"b":1,"c":[]},"d":[{"e":true,"f":{"g":"x"}},"two words"],"h":{}})"),
            "a:\n  b: 1\n  c: []\nd:\n  - e: true\n    f:\n      g: x\n  - \"two words\"\nh: {}\n");
}

TEST(GuardrailYaml, WhatYamlWouldReadAsSomethingElse_IsQuoted) {
  EXPECT_EQ(yaml_of(R"({"a":"no","b":"1","c":"x: y","d":"","e":["True","plain-word"],"null":"a\nb"})"),
            "a: \"no\"\nb: \"1\"\nc: \"x: y\"\nd: \"\"\ne: [\"True\", plain-word]\n\"null\": \"a\\nb\"\n");
}

// U+0085 ends a line in YAML 1.1; its readers refuse the others.
TEST(GuardrailYaml, CharactersThatYaml11DoesNotAllow_AreEscaped) {
  EXPECT_EQ(yaml_of("{\"say\":\"a\x7f\u0085\u009f\u00a0b\",\"key\u2028\":\"\u2029\ufeff\xef\xbf\xbe\xef\xbf\xbf\ufffd\U0001f600\"}"),
            "say: \"a\\u007f\\u0085\\u009f\u00a0b\"\n\"key\\u2028\": \"\\u2029\\ufeff\\ufffe\\uffff\ufffd\U0001f600\"\n");
}

}  // namespace
}  // namespace runwarden::guardrail
