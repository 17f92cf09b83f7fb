#include "intake/otlp/span.h"

#include <algorithm>

namespace runwarden::intake::otlp {

const AnyValue* find(const Attributes& attributes, std::string_view key) {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const KeyValue& one) { return one.key == key; });
  return found == attributes.end() ? nullptr : &found->value;
}

const AnyValue* AnyValue::member(std::string_view key) const {
  return find(members, key);
}

}  // namespace runwarden::intake::otlp
