#include "model/record_ids.h"

#include "base/ascii.h"
#include "base/hex.h"

namespace runwarden::model {
namespace {

constexpr std::string_view kRun = "run_";
constexpr std::string_view kFailure = "fail_";
constexpr std::string_view kChange = "change_";
constexpr std::string_view kPolicyRevision = "polrev_";
constexpr std::string_view kEndpoint = "we_";
constexpr std::string_view kDelivery = "wd_";
constexpr std::string_view kMessage = "msg_";
constexpr std::string_view kCandidate = "cand_";

constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << 48) - 1;
constexpr std::uint64_t kVersion = 0x7000;
constexpr std::uint64_t kBefore1970 = 4;
constexpr std::uint64_t kVariant = std::uint64_t{1} << 63;
constexpr int kLowSeqBits = 62;  // what the variant leaves of the second half; the two higher bits are next to the version
constexpr std::uint64_t kLowSeqMask = (std::uint64_t{1} << kLowSeqBits) - 1;

void append_hex(std::string& text, std::uint64_t number) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(number >> shift) & 15];
}

std::optional<std::uint64_t> read_hex(std::string_view text) {
  std::uint64_t number = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0 || ascii::is_upper(c)) return std::nullopt;
    number = number << 4 | static_cast<std::uint64_t>(digit);
  }
  return number;
}

std::string make(std::string_view prefix, const RecordKey& key) {
  std::string id(prefix);
  id.reserve(prefix.size() + 32);
  const std::uint64_t sign = key.time_ms < 0 ? kBefore1970 : 0;
  append_hex(id, (static_cast<std::uint64_t>(key.time_ms) & kTimeMask) << 16 | kVersion | sign | key.seq >> kLowSeqBits);
  append_hex(id, kVariant | (key.seq & kLowSeqMask));
  return id;
}

std::optional<RecordKey> parse(std::string_view prefix, std::string_view id) {
  if (id.size() != prefix.size() + 32 || !id.starts_with(prefix)) return std::nullopt;
  const auto high = read_hex(id.substr(prefix.size(), 16));
  const auto low = read_hex(id.substr(prefix.size() + 16));
  if (!high || !low) return std::nullopt;
  if ((*high & 0xFFF8) != kVersion || (*low >> kLowSeqBits) != 2) return std::nullopt;
  const std::uint64_t above = (*high & kBefore1970) != 0 ? ~kTimeMask : 0;
  return RecordKey{static_cast<std::int64_t>(*high >> 16 | above), (*high & 3) << kLowSeqBits | (*low & kLowSeqMask)};
}

}  // namespace

std::string make_run_id(const RecordKey& key) {
  return make(kRun, key);
}
std::string make_failure_id(const RecordKey& key) {
  return make(kFailure, key);
}
std::string make_change_id(const RecordKey& key) {
  return make(kChange, key);
}
std::string make_policy_revision_id(const RecordKey& key) {
  return make(kPolicyRevision, key);
}
std::string make_endpoint_id(const RecordKey& key) {
  return make(kEndpoint, key);
}
std::string make_delivery_id(const RecordKey& key) {
  return make(kDelivery, key);
}
std::string make_message_id(const RecordKey& key) {
  return make(kMessage, key);
}
std::string make_candidate_id(const RecordKey& key) {
  return make(kCandidate, key);
}

std::optional<RecordKey> parse_run_id(std::string_view id) {
  return parse(kRun, id);
}
std::optional<RecordKey> parse_failure_id(std::string_view id) {
  return parse(kFailure, id);
}
std::optional<RecordKey> parse_change_id(std::string_view id) {
  return parse(kChange, id);
}
std::optional<RecordKey> parse_policy_revision_id(std::string_view id) {
  return parse(kPolicyRevision, id);
}
std::optional<RecordKey> parse_endpoint_id(std::string_view id) {
  return parse(kEndpoint, id);
}
std::optional<RecordKey> parse_delivery_id(std::string_view id) {
  return parse(kDelivery, id);
}

}  // namespace runwarden::model
