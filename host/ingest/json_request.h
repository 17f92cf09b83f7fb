// What small requests ask for, read member by member with every fault noted. Pure; one thread an object.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "base/result.h"

namespace runwarden::ingest {

constexpr std::size_t kMostNoteBytes = 4096;  // of what somebody adds to a decision

// The faults of one request.
class RequestFaults {
 public:
  void add(std::string pointer, std::string code, std::string detail) {
    faults_.push_back({std::move(pointer), std::move(code), std::move(detail)});
  }
  // A member whose value is not known, since there are two.
  void add_twice(const std::string& pointer) {
    if (twice_.empty()) twice_ = pointer;
  }
  bool none() const { return faults_.empty() && twice_.empty(); }
  // malformed_json for a member that is there twice, else validation_failed with all of them.
  Error error();

 private:
  std::vector<FieldFault> faults_;
  std::string twice_;  // pointer to the first such member; empty: there is none
};

// malformed_json, or validation_failed for what is not an object.
Status check_object(std::string_view body, int max_depth);

inline bool is_json_string(std::string_view json) {
  return json.starts_with('"');
}

// The members of an object, those that are null left out. Names that are not known, and known ones that come twice, are faults, at their
// pointers below `at`.
std::vector<JsonMember> known_members(std::string_view object, const std::string& at, const std::vector<std::string_view>& known,
                                      RequestFaults& faults);

// The text of a member. Nothing: it is not a string, or longer than that, which is a fault.
std::optional<std::string> text_of(const JsonMember& member, const std::string& at, std::size_t most_bytes, RequestFaults& faults);

}  // namespace runwarden::ingest
