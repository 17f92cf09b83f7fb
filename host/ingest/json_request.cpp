#include "ingest/json_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/json_check.h"

namespace runwarden::ingest {

Error RequestFaults::error() {
  if (!twice_.empty()) return {Code::malformed_json, "the member " + twice_ + " appears twice; send it once", {}, {}};
  std::string detail = "the request has " + std::to_string(faults_.size()) + (faults_.size() == 1 ? " fault: " : " faults, the first: ");
  detail += faults_.front().pointer + " " + faults_.front().detail;
  return {Code::validation_failed, std::move(detail), {}, std::move(faults_)};
}

Status check_object(std::string_view body, int max_depth) {
  if (Status status = check_json(body, max_depth); !status.ok()) return status;
  const auto first = body.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && body[first] == '{') return Nothing{};
  return Error{Code::validation_failed, "the request must be a JSON object", {}, {{"", "wrong_type", "must be an object"}}};
}

std::vector<JsonMember> known_members(std::string_view object, const std::string& at, const std::vector<std::string_view>& known,
                                      RequestFaults& faults) {
  std::vector<JsonMember> members;
  std::set<std::string> seen;
  for (JsonMember& member : json_members(object)) {
    const std::string pointer = at + "/" + member.name.substr(0, 80);
    const bool is_known = std::find(known.begin(), known.end(), member.name) != known.end();
    if (!seen.insert(member.name).second) {
      if (is_known) faults.add_twice(pointer);
    } else if (!is_known) {
      std::string names;
      for (const std::string_view name : known) names.append(names.empty() ? "" : ", ").append(name);
      faults.add(pointer, "unknown_member", "is an unknown member; the members are " + names);
    } else if (member.json != "null") {
      members.push_back(std::move(member));
    }
  }
  return members;
}

std::optional<std::string> text_of(const JsonMember& member, const std::string& at, std::size_t most_bytes, RequestFaults& faults) {
  if (!is_json_string(member.json)) {
    faults.add(at, "wrong_type", "must be a string");
    return std::nullopt;
  }
  std::string text = json_string_value(member.json);
  if (text.size() <= most_bytes) return text;
  faults.add(at, "too_long", "has " + std::to_string(text.size()) + " bytes; send at most " + std::to_string(most_bytes));
  return std::nullopt;
}

std::optional<double> number_of(std::string_view json) {
  double number = 0;
  const auto end = std::from_chars(json.data(), json.data() + json.size(), number);
  if (end.ec != std::errc() || end.ptr != json.data() + json.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> whole_number_of(std::string_view json) {
  constexpr double kMost = 9'007'199'254'740'992.0;
  const auto number = number_of(json);
  if (!number || *number < 0 || *number > kMost || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

}  // namespace runwarden::ingest
