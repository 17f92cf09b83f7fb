// Reads a change record or a policy revision. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/warning.h"

namespace runwarden::intake {

struct ChangeText {
  std::string kind;
  std::optional<std::int64_t> at_ms;
  std::string document;  // the normalized object with unknown members, without `changeId` and `receivedAt`
};

struct PolicyText {
  std::string policy;
  std::optional<std::string> revision;
  std::optional<std::string> author;
  std::optional<std::int64_t> at_ms;
  std::string content;   // compact JSON; "null" if there is none
  std::string document;  // normalized, without the members that the service assigns: `policyRevisionId`, `contentSha256`, `receivedAt`
};

// Returns the record, or malformed_json, or validation_failed with all faults. Appends likely mistakes to `warnings` (may be null) if the
// record is valid.
Result<ChangeText> read_change(std::string_view json, int max_json_depth, std::vector<Warning>* warnings = nullptr);
Result<PolicyText> read_policy(std::string_view json, int max_json_depth, std::vector<Warning>* warnings = nullptr);

}  // namespace runwarden::intake
