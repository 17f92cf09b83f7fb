#include "store/raw_json.h"

#include "base/json_cursor.h"
#include "base/json_members.h"
#include "store/envelope.h"

namespace runwarden::store {
namespace {

JsonCursor inside(std::string_view text, char bracket) {
  JsonCursor cursor(text);
  if (!cursor.enter(bracket)) throw BadValue(std::string("expected a JSON value that begins with ") + bracket);
  return cursor;
}

}  // namespace

std::vector<std::string_view> raw_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  JsonCursor cursor = inside(array, '[');
  while (cursor.more()) elements.push_back(cursor.value());
  return elements;
}

RawObject::RawObject(std::string_view object) {
  JsonCursor cursor = inside(object, '{');
  while (cursor.more()) {
    std::string name = json_name(cursor.name());
    members_.emplace_back(std::move(name), cursor.value());
  }
}

std::optional<std::string_view> RawObject::find(std::string_view name) const {
  for (const auto& [known, raw] : members_) {
    if (known == name) return raw;
  }
  return std::nullopt;
}

std::string_view RawObject::at(std::string_view name) const {
  const auto raw = find(name);
  if (!raw || raw->empty()) throw BadValue("the member \"" + std::string(name) + "\" is missing");
  return *raw;
}

}  // namespace runwarden::store
