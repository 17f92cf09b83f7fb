#include "ledger/bodies.h"

#include <utility>

#include "base/base64.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "model/triage_json.h"

namespace runwarden::ledger {
namespace {

constexpr int kBodyVersion = 1;

std::string sha256_text(std::string_view text) {
  return runwarden::to_hex(sha256(text));
}

// Hashes texts that mostly equal the previous one, such as detector results for runs in which nothing was found. One thread.
class RepeatedText {
 public:
  std::string sha256_of(std::string_view text) {
    if (text.size() > kLongest) return sha256_text(text);
    if (sha256_.empty() || text != text_) {
      std::string sha256 = sha256_text(text);
      text_ = text;
      sha256_ = std::move(sha256);
    }
    return sha256_;
  }

 private:
  static constexpr std::size_t kLongest = 4096;
  std::string text_;
  std::string sha256_;
};

std::string end(JsonWriter& out, std::string& text, CameBy came) {
  if (came == CameBy::import) out.key("imported").boolean(true);
  out.end_object();
  return std::move(text);
}

// Adds the content hash of each policy if the record has it.
void add_policies(JsonWriter& out, const model::RunRecord& run) {
  out.key("policies");
  if (run.policies_json.empty() || run.policies_json == "[]") return static_cast<void>(out.raw("[]"));
  out.begin_array();
  std::size_t number = 0;
  for (const std::string& policy : cut_json_elements(run.policies_json)) {
    out.begin_object();
    for (const JsonMember& member : cut_json_members(policy)) out.key(member.name).raw(member.json);
    if (number < run.policy_contents.size()) out.key("contentSha256").string(runwarden::to_hex(run.policy_contents[number]));
    ++number;
    out.end_object();
  }
  out.end_array();
}

void add_counts(JsonWriter& out, const char* name, const std::map<std::string, std::uint64_t>& counts) {
  out.key(name).begin_object();
  for (const auto& [kind, count] : counts) out.key(kind).integer(static_cast<std::int64_t>(count));
  out.end_object();
}

}  // namespace

std::string run_body(const model::RunRecord& run, CameBy came, const std::optional<model::Digest>& document) {
  thread_local RepeatedText failures;
  thread_local RepeatedText detectors;
  std::string text;
  text.reserve(512);
  JsonWriter out(text);
  const std::int64_t executed_ms = run.executed_ms == model::kNotExecuted ? run.key.time_ms : run.executed_ms;
  out.begin_object().key("v").integer(kBodyVersion).key("runId").string(run.run_id).key("revision").integer(run.revision);
  out.key("receivedAt").string(format_time(run.key.time_ms)).key("executedAt").string(format_time(executed_ms));
  out.key("document").string(runwarden::to_hex(document ? *document : sha256(run.document)));
  out.key("failures").string(failures.sha256_of(run.failures_json)).key("detectors").string(detectors.sha256_of(run.detectors_json));
  add_policies(out, run);
  return end(out, text, came);
}

std::string change_body(const model::ChangeRecord& change, CameBy came) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("v").integer(kBodyVersion).key("changeId").string(change.id).key("kind").string(change.kind);
  out.key("at").string(format_time(change.key.time_ms)).key("receivedAt").string(format_time(change.received_ms));
  out.key("document").string(sha256_text(change.document));
  return end(out, text, came);
}

std::string policy_body(const model::PolicyRecord& policy, CameBy came) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("v").integer(kBodyVersion).key("policyRevisionId").string(policy.id).key("policy").string(policy.policy);
  out.key("revision").string(policy.revision).key("author").string(policy.author).key("at").string(format_time(policy.key.time_ms));
  out.key("receivedAt").string(format_time(policy.received_ms)).key("contentSha256").string(runwarden::to_hex(policy.content));
  out.key("document").string(sha256_text(policy.document));
  return end(out, text, came);
}

std::string triage_body(const Decision& decision, CameBy came) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("v").integer(kBodyVersion).key("clusterId").string(decision.cluster_id).key("action").string(decision.action);
  out.key("author").string(decision.author).key("document").string(sha256_text(decision.document));
  return end(out, text, came);
}

Decision decision_of(const model::ClusterKey& cluster, const model::TriageEntry& entry) {
  return {model::cluster_id(cluster), model::name(entry.action), entry.author, model::triage_entry_json(entry)};
}

Decision decision_of(const model::Review& review) {
  return {review.cluster_id, model::name(review.verdict), review.author, review.document};
}

std::string start_body(const Start& start) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("v").integer(kBodyVersion);
  add_counts(out, "counts", start.counts);
  if (start.previous) {
    const SizedRoot& tree = start.previous->tree;
    out.key("previous").begin_object().key("origin").string(start.previous->origin);
    out.key("size").integer(static_cast<std::int64_t>(tree.size));
    out.key("root").string(bytes_to_base64({reinterpret_cast<const char*>(tree.root.data()), tree.root.size()})).end_object();
  }
  return end(out, text, CameBy::itself);
}

std::string receipt_body(const Receipt& receipt) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("v").integer(kBodyVersion).key("before");
  receipt.before_ms ? out.string(format_time(*receipt.before_ms)) : out.null();
  add_counts(out, "counts", receipt.counts);
  out.key("entries").begin_array();
  for (const auto& [first, last] : receipt.entries.ends()) {
    out.begin_array().integer(static_cast<std::int64_t>(first)).integer(static_cast<std::int64_t>(last)).end_array();
  }
  out.end_array();
  if (!receipt.deleted.empty()) add_counts(out, "deleted", receipt.deleted);
  return end(out, text, CameBy::itself);
}

std::string key_body(std::string_view public_key, std::string_view previous) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("v").integer(kBodyVersion).key("publicKey").string(bytes_to_base64(public_key)).key("previous");
  previous.empty() ? out.null() : out.string(bytes_to_base64(previous));
  return end(out, text, CameBy::itself);
}

std::optional<NamedKeys> keys_in(std::string_view body) {
  NamedKeys keys{bytes_from_base64(json_member_text(body, "publicKey")).bytes, bytes_from_base64(json_member_text(body, "previous")).bytes};
  if (keys.public_key.empty()) return std::nullopt;
  return keys;
}

}  // namespace runwarden::ledger
