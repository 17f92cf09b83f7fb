// The ids that the service assigns. Each encodes the RecordKey of its record, so a look-up by id needs no index.
// Pure; any thread.
//
// A prefix, then 32 hexadecimal digits laid out like a UUID of version 7 (RFC 9562): 48 bits of milliseconds, the version, and the store's
// sequence number in the rest. They sort by time from 1970 on. A client may use a text of the same form as its own id, so after a look-up
// the caller must check that the record found has that id.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/record_key.h"

namespace runwarden::model {

std::string make_run_id(const RecordKey& key);              // run_0199...
std::string make_failure_id(const RecordKey& key);          // fail_0199...
std::string make_change_id(const RecordKey& key);           // change_0199...
std::string make_policy_revision_id(const RecordKey& key);  // polrev_0199...
std::string make_endpoint_id(const RecordKey& key);         // we_0199...
std::string make_delivery_id(const RecordKey& key);         // wd_0199...
std::string make_message_id(const RecordKey& key);          // msg_0199...
std::string make_candidate_id(const RecordKey& key);        // cand_0199...

// The key that an id encodes; nothing if it is not an id of that kind.
std::optional<RecordKey> parse_run_id(std::string_view id);
std::optional<RecordKey> parse_failure_id(std::string_view id);
std::optional<RecordKey> parse_change_id(std::string_view id);
std::optional<RecordKey> parse_policy_revision_id(std::string_view id);
std::optional<RecordKey> parse_endpoint_id(std::string_view id);
std::optional<RecordKey> parse_delivery_id(std::string_view id);

}  // namespace runwarden::model
