#include "detect/settings_hash.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/digest.h"

namespace runwarden::detect {
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

std::string settings_hash(std::string_view settings_json) {
  return to_hex(sha256(canonical_json(settings_json)));
}

}  // namespace runwarden::detect
