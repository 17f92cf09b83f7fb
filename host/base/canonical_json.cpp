#include "base/canonical_json.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace runwarden {
namespace {

using nlohmann::json;

constexpr double kExact = 9007199254740992.0;  // 2^53: doubles represent all integers below it exactly

void unify_numbers(json& value) {
  if (value.is_structured()) {
    for (json& inner : value) unify_numbers(inner);
    return;
  }
  if (!value.is_number_float()) return;
  const double number = value.get<double>();
  if (std::abs(number) < kExact && number == std::trunc(number)) value = static_cast<std::int64_t>(number);
}

}  // namespace

std::string canonical_json(std::string_view text) {
  if (text.empty()) return "{}";
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return std::string(text);
  unify_numbers(value);
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace runwarden
