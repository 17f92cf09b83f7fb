// Encodes and decodes changes and policy revisions. Internal to store/. Pure; any thread. Decoders throw BadValue.
#pragma once

#include <string>
#include <string_view>

#include "model/change_record.h"
#include "store/envelope.h"

namespace runwarden::store {

// A change that is a policy revision holds no copy of it: it has the same place as the revision, and its document is empty. A client's
// change has a document, and may have the same kind.
constexpr const char* kPolicyKind = "policy";
inline bool is_of_policy(const model::ChangeRecord& change) {
  return change.document.empty();
}

std::string encode_change(std::string_view key, const model::ChangeRecord& change);
model::ChangeRecord decode_change_head(std::string_view key, std::string_view value);
model::ChangeRecord decode_change(std::string_view key, std::string_view value);

std::string encode_policy(std::string_view key, const model::PolicyRecord& policy);
model::PolicyRecord decode_policy_head(std::string_view key, std::string_view value);
model::PolicyRecord decode_policy(std::string_view key, std::string_view value);

}  // namespace runwarden::store
