#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "context_overflow/context_overflow.h"
#include "expensive_loop/expensive_loop.h"
#include "false_success/false_success.h"
#include "missing_tool_call/missing_tool_call.h"
#include "schema_ghost/schema_ghost.h"

namespace runwarden::plugins {
namespace {

std::string drop_in(std::string_view key) {
  std::ifstream file(std::filesystem::path(RUNWARDEN_DROP_INS) / (std::string(key) + ".yaml"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class D>
class DropIn : public testing::Test {};

using Detectors = testing::Types<FalseSuccess, ExpensiveLoop, SchemaGhost, MissingToolCall, ContextOverflow>;
TYPED_TEST_SUITE(DropIn, Detectors);

TYPED_TEST(DropIn, ShowsEverySetting) {
  const auto text = drop_in(TypeParam::kKey);
  ASSERT_NE(text.find("\nkey: " + std::string(TypeParam::kKey) + "\n"), std::string::npos);
  const auto schema = nlohmann::json::parse(TypeParam::schema());
  for (const auto& [name, rules] : schema.at("properties").items()) {
    const bool set = text.find("\n  " + name + ":") != std::string::npos;
    EXPECT_TRUE(set || text.find("\n  # " + name + ":") != std::string::npos) << name;
  }
}

TYPED_TEST(DropIn, SetsNoUnknownSetting) {
  std::istringstream lines(drop_in(TypeParam::kKey));
  const auto schema = nlohmann::json::parse(TypeParam::schema());
  std::size_t seen = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  ", 0) != 0 || line.size() < 3 || line[2] == ' ' || line[2] == '#') continue;
    ++seen;
    EXPECT_TRUE(schema.at("properties").contains(line.substr(2, line.find(':') - 2))) << line;
  }
  EXPECT_GT(seen, 2u);
}

}  // namespace
}  // namespace runwarden::plugins
