// Reads the members of small JSON requests and collects every fault. Pure; each object belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "base/result.h"

namespace runwarden::ingest {

constexpr std::size_t kMostNoteBytes = 4096;  // of the note on a decision

// The faults of one request.
class RequestFaults {
 public:
  void add(std::string pointer, std::string code, std::string detail) {
    faults_.push_back({std::move(pointer), std::move(code), std::move(detail)});
  }
  // A member whose value is ambiguous because it appears twice.
  void add_twice(const std::string& pointer) {
    if (twice_.empty()) twice_ = pointer;
  }
  bool none() const { return faults_.empty() && twice_.empty(); }
  // malformed_json if a member appears twice, otherwise validation_failed with all faults.
  Error error();

 private:
  std::vector<FieldFault> faults_;
  std::string twice_;  // pointer to the first duplicate member; empty: none
};

// malformed_json, or validation_failed if it is not an object.
Status check_object(std::string_view body, int max_depth);

inline bool is_json_string(std::string_view json) {
  return json.starts_with('"');
}

// Returns the members of an object except those that are null. Unknown names, and known names that appear twice, are faults, with their
// pointers below `at`.
std::vector<JsonMember> known_members(std::string_view object, const std::string& at, const std::vector<std::string_view>& known,
                                      RequestFaults& faults);

// The text of a member. Returns nothing, and adds a fault, if it is not a string or is longer than `most_bytes`.
std::optional<std::string> text_of(const JsonMember& member, const std::string& at, std::size_t most_bytes, RequestFaults& faults);

// The value of a number; nothing if the JSON is not a number.
std::optional<double> number_of(std::string_view json);

// Likewise for a whole number from 0 to 2^53, whether it is written 3, 3.0 or 3e0.
std::optional<std::uint64_t> whole_number_of(std::string_view json);

}  // namespace runwarden::ingest
