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

}  // namespace
}  // namespace runwarden::guardrail
