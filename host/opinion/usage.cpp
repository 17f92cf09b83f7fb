#include "opinion/usage.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/json_check.h"
#include "base/json_members.h"

namespace runwarden::opinion {
namespace {

constexpr int kMostBodyDepth = 64;
constexpr std::uint64_t kMostTokens = 1'000'000'000;

std::uint64_t count_of(const std::vector<JsonMember>& members, std::string_view name) {
  const std::string json = json_member(members, name);
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(json.data(), json.data() + json.size(), value);
  return wrong == std::errc() && end == json.data() + json.size() ? std::min(value, kMostTokens) : 0;
}

}  // namespace

Usage read_usage(std::string_view body) {
  if (!check_json(body, kMostBodyDepth).ok()) return {};
  const auto usage = json_members(json_member(json_members(body), "usage"));
  Usage used{count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")};
  const std::uint64_t total = count_of(usage, "total_tokens");
  if (total > used.all()) used.completion = total - used.prompt;  // the server does not report them separately
  return used;
}

}  // namespace runwarden::opinion
