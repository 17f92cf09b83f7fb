#include "evidence/payload.h"

#include "common/json_scan.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kPayload = 300;  // bytes; less may still describe the error

/// True for a list, which the cursor is behind the beginning of, of some figures or objects: what a look-up found. Leaves the list.
bool lists_records(JsonScanner& cursor) {
  constexpr std::size_t kFewest = 2;
  const auto level = cursor.depth();
  std::size_t items = 0;
  for (auto token = cursor.next(); token != Token::kArrayEnd; token = cursor.next()) {
    items += token == Token::kObject || token == Token::kNumber ? 1u : 0u;
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return false;
    if (token == Token::kBad || token == Token::kEnd) return false;
  }
  return items >= kFewest && cursor.depth() < level;
}

/// True for the name of a member that describes an error: "trace", "errorDetails".
bool is_of_error(std::string_view key, const CallNames& names) {
  return names.error_detail_members.contains(key) || opens_with_any(key, names.error_prefixes);
}

/// True for an object whose members other than `error`, `message`, `trace` and the like hold a payload. An error with members of its own
/// may be a warning beside a list of records, and so may one beside such a list and a further figure or text.
bool beside_member(std::string_view output, const CallNames& names) {
  JsonScanner cursor(output);
  if (cursor.next() != Token::kObject) return false;
  std::size_t bytes = 0;
  bool others = false;  // figures or texts that are not of the error
  bool detailed = false;
  bool records = false;
  bool denied = false;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    const bool of_error = is_of_error(key, names);
    const auto begin = cursor.offset();
    token = cursor.next();
    denied |= token == Token::kFalse;
    detailed |= of_error && token == Token::kObject;
    others |= !of_error && (token == Token::kNumber || token == Token::kString);
    if (token == Token::kArray && !of_error) {
      records |= lists_records(cursor);
    } else if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) {
      return false;
    }
    if (token == Token::kBad || token == Token::kEnd) return false;
    if (!of_error) bytes += cursor.offset() - begin;
  }
  return bytes >= kPayload || (records && !denied && (detailed || others));
}

}  // namespace

bool has_payload(std::string_view output, const CallNames& names) {
  output = trim(output);
  return looks_like_json(output) && beside_member(output, names);
}

std::string payload_of(std::string_view output, const CallNames& names) {
  std::string payload;
  JsonScanner cursor(output);
  if (cursor.next() != Token::kObject) return payload;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const bool of_error = is_of_error(cursor.text(), names);
    const auto begin = cursor.offset();
    token = cursor.next();
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return {};
    if (token == Token::kBad || token == Token::kEnd) return {};
    if (!of_error) payload.append(output.substr(begin, cursor.offset() - begin)).append("\n");
  }
  return payload;
}

bool holds_nothing(std::string_view output) {
  output = trim(output);
  if (equal_ignoring_case(output, "null") || equal_ignoring_case(output, "none")) return true;
  if (output.empty() || output[0] != '{') return false;
  JsonScanner cursor(output);
  bool any = false;
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd; token = cursor.next()) {
    const bool empty = token == JsonScanner::Token::kNull || (token == JsonScanner::Token::kString && trim(cursor.text()).empty());
    any |= empty;
    if (!empty && token != JsonScanner::Token::kObject && token != JsonScanner::Token::kObjectEnd && token != JsonScanner::Token::kKey)
      return false;
  }
  return any;
}

}  // namespace runwarden::plugins
