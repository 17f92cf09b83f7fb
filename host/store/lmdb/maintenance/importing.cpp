// Imports the lines of an export in one transaction.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "store/change_codec.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/events.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/ledger_start.h"
#include "store/lmdb/maintenance/commands.h"
#include "store/lmdb/maintenance/merge_group.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/lmdb/opinions.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/opinion_codec.h"
#include "store/record_lines.h"
#include "store/webhook_codec.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kFlushEvery = 4096;  // lines: bounds the memory for counts
constexpr std::uint64_t kReportEvery = 256;

// A line that stops the import.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Importing {
 public:
  Importing(const MaintenanceContext& maintenance, const LineSource& next)
      : context_(maintenance),
        next_(next),
        store_(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::alone, LmdbSettings::IfOlder::upgrade),
        room_(store_.env, maintenance.clock),
        txn_(store_.env.write()),
        batch_{txn_, store_.tables, room_, {maintenance.clock.wall_ms(), 0}, {}, {}} {
    batch_.dimension_names = maintenance.dimension_names;
    batch_.max_clusters = maintenance.max_clusters;
    const bool on = ledger_state(txn_, store_.tables) == LedgerState::on;
    using Records = LedgerWriter::Records;
    batch_.ledger.emplace(txn_, store_.tables, maintenance.clock.wall_ms(), on ? Records::make_entries : Records::make_none);
  }

  Result<Imported> run() {
    try {
      for (;;) {
        auto line = next_();
        if (!line.ok()) return std::move(line.error());
        if (!line->has_value()) break;
        ++line_;
        take(**line);
        if (line_ % kFlushEvery == 0) flush_all();
        if (line_ % kReportEvery == 0) report_progress(context_, {"import", "lines", "", line_, 0});
      }
      if (open_) throw BadLine("the export ends without its last line: it was truncated; export it again");
      if (imported_.tenants.empty()) throw BadLine("nothing to import: an export begins with a header line");
    } catch (const BadLine& bad) {
      return Error{Code::bad_request, "import: line " + std::to_string(line_) + ": " + bad.what() + "; nothing was imported", {}, {}};
    } catch (const BadValue& bad) {
      return Error{Code::bad_request, "import: line " + std::to_string(line_) + ": " + bad.what() + "; nothing was imported", {}, {}};
    }
    finish();
    return std::move(imported_);
  }

 private:
  void flush_all() {
    flush(batch_);
    batch_.ledger->flush();
  }

  // Adds the entry of a record that was just stored.
  void append_entry(ledger::Kind kind, const RecordName& name) {
    if (!batch_.ledger->takes_records()) return;
    constexpr auto kImported = ledger::CameBy::import;
    const auto body = body_of_record(txn_, store_.tables, tenant_, kind, name, kImported);
    if (body) batch_.ledger->append(tenant_, prepare_entry({kind, name, batch_.ledger->now_ms(), kImported}, body->body));
  }

  void finish() {
    flush_all();
    count_affected_runs();
    batch_.ledger->flush();
    // Numbers of later records must begin above those of the imported records.
    write_meta(txn_, store_.tables, meta::kStart, std::max(read_meta(txn_, store_.tables, meta::kStart), highest_start_));
    report_progress(context_, {"import", "lines", "", line_, line_});
    txn_.commit();
  }

  // Counts groups from the imported failures. What an older version exported is counted like an older store.
  void count_affected_runs() {
    for (const RunKey& place : affecting_) enter_affected(batch_, place);
    flush(batch_);
    // All of these have been counted as failures by now.
    for (const auto& [of, review] : reviewed_) settle_reviewed(batch_, of.first, review);
    for (auto& [cluster, change] : batch_.groups.clusters) {
      if (const auto known = known_since_.find(cluster); known != known_since_.end()) change.known_since_ms = known->second;
    }
    flush(batch_);
    if (!older_) return;
    write_group_build(txn_, store_.tables, group_build_start());
    while (build_groups(batch_, kFlushEvery)) {
    }
  }

  void take(const std::string& text) {
    const ReadLine line = read_line(text);
    if (const auto* const header = std::get_if<HeaderLine>(&line.record)) return begin(*header, text);
    if (!open_) throw BadLine("expected the header line of an export");
    if (const auto* const end = std::get_if<EndLine>(&line.record)) return close(*end);
    digest_->add(text);
    digest_->add("\n");
    ++lines_;
    std::visit([&](const auto& record) { put(line, record); }, line.record);
  }

  void begin(const HeaderLine& header, const std::string& text) {
    if (open_) throw BadLine("another export begins here, but the previous one has no last line: it was truncated; export it again");
    digest_.emplace();
    digest_->add(text);
    digest_->add("\n");
    lines_ = 0;
    open_ = true;
    tenant_ = enter_tenant(txn_, store_.tables, header.tenant);
    refused_.clear();
    named_.clear();
    joined_.clear();
    left_out_.clear();
    imported_.tenants.push_back(header.tenant);
  }

  void close(const EndLine& end) {
    if (end.lines != lines_) {
      throw BadLine("the export has " + std::to_string(lines_) + " records, but its last line says " + std::to_string(end.lines) +
                    ": it is incomplete; export it again");
    }
    if (end.sha256 != to_hex(digest_->so_far()))
      throw BadLine("the export's SHA-256 does not match: the file was modified; export it again");
    open_ = false;
  }

  // Whether to store the row, because its key is free. Counts an equal row as already there, and any other as a conflict.
  bool is_free(const Table& table, std::string_view key, const std::string& value, const char* what) {
    const auto found = txn_.get(table.handle, key);
    if (!found) return true;
    bool same = false;
    try {
      same = same_value(key, *found, value);
    } catch (const BadValue&) {
      // The row there cannot be read, so it differs.
    }
    if (same) {
      ++imported_.already_there;
    } else {
      conflict(std::string(what) + " already exists with different content; the stored record was kept");
    }
    return false;
  }

  void conflict(std::string detail) {
    ++imported_.conflicts;
    if (imported_.first_ones.size() < kMostTold) imported_.first_ones.push_back({line_, std::move(detail)});
  }

  void stored(const char* kind, const model::RecordKey& key) {
    ++imported_.stored[kind];
    highest_start_ = std::max(highest_start_, key.seq >> kCounterBits);
  }

  void put(const ReadLine&, const HeaderLine&) {}
  void put(const ReadLine&, const EndLine&) {}

  void put(const ReadLine& line, const RunLine& run) {
    const RunKey place{tenant_, run.stored.run.key};
    if (run.previous) {
      if (refused_.contains(place.key)) return;
      if (put_row(store_.tables.previous, previous_key(place, run.stored.run.revision), line, "run", place.key)) {
        append_entry(ledger::Kind::run, run_name(place.key, run.stored.run.revision));
      }
      return;
    }
    const KeyBytes key = place_key(tenant_, place.key);
    const std::string value = line.value(key);
    const std::string what = "the run \"" + run.stored.run.run_id + "\"";
    const std::uint64_t conflicts = imported_.conflicts;
    if (!is_free(store_.tables.runs, key, value, what.c_str())) {
      if (imported_.conflicts != conflicts) refused_.insert(place.key);
      return;
    }
    if (find_run_place(txn_, store_.tables, tenant_, run.stored.run.run_id)) {
      refused_.insert(place.key);
      return conflict(what + " already exists with a different receive time; the stored record was kept");
    }
    txn_.put(store_.tables.runs.handle, key, value);
    enter_run(batch_, place, run.stored.run.run_id);
    enter_dimensions(batch_, place, run.stored.run.dimensions);
    if (run.stored.buffering) enter_open_run(batch_, place, run.stored);
    if (run.stored.run.grouped && !run.stored.failures.empty()) affecting_.push_back(place);
    older_ = older_ || (!run.stored.run.grouped && !run.stored.buffering);
    if (!run.stored.buffering) append_entry(ledger::Kind::run, run_name(place.key, run.stored.run.revision));
    stored("run", place.key);
  }

  bool put_row(const Table& table, std::string_view key, const ReadLine& line, const char* kind, const model::RecordKey& place) {
    const std::string value = line.value(key);
    if (!is_free(table, key, value, "this part of the run")) return false;
    txn_.put(table.handle, key, value);
    stored(kind, place);
    return true;
  }

  void put(const ReadLine& line, const EventsLine& events) {
    if (refused_.contains(events.run)) return;
    put_row(store_.tables.events, events_key({tenant_, events.run}, events.packed, events.first), line, "events", events.run);
  }

  void put(const ReadLine&, const EventIdsLine& ids) {
    if (refused_.contains(ids.run)) return;
    bool any = false;
    for (const std::string& half : ids.halves) {
      if (half.size() != sizeof(Half)) throw BadValue("an event's id has " + std::to_string(half.size()) + " bytes");
      const KeyBytes key = event_id_key({tenant_, ids.run}, half);
      if (txn_.get(store_.tables.events.handle, key)) continue;
      txn_.put(store_.tables.events.handle, key, {});
      any = true;
    }
    any ? stored("event_ids", ids.run) : static_cast<void>(++imported_.already_there);
  }

  void put(const ReadLine& line, const model::FailureRecord& failure) {
    if (refused_.contains(failure.run)) return;
    const KeyBytes key = place_key(tenant_, failure.key);
    const Table& table = failure.shadow ? store_.tables.shadow_failures : store_.tables.failures;
    const std::string value = as_reviewed_there(table, key, line.value(key));
    if (!is_free(table, key, value, ("the failure " + failure.id).c_str())) return;
    put_failure(batch_, tenant_, failure, value);
    if (failure.grouped) joined_.insert(half_digest(failure.fingerprint));
    older_ = older_ || (!failure.grouped && !failure.shadow);
    stored(failure.shadow ? "shadow_failure" : "failure", failure.key);
  }

  // A line has a failure without its review. The stored failure may have one.
  std::string as_reviewed_there(const Table& table, std::string_view key, std::string value) const {
    const auto found = txn_.get(table.handle, key);
    if (!found) return value;
    try {
      const auto reviewed = decode_failure_head(key, *found).reviewed;
      return with_verdict(key, value, reviewed);
    } catch (const BadValue&) {  // is_free() reports it
      return value;
    }
  }

  void put(const ReadLine& line, const model::ChangeRecord& change) {
    const KeyBytes key = place_key(tenant_, change.key);
    const std::string value = line.value(key);
    if (!is_free(store_.tables.changes, key, value, ("the change " + change.id).c_str())) return;
    if (is_of_policy(change) && !txn_.get(store_.tables.policies.handle, key)) {
      return conflict("the change " + change.id + " belongs to a policy revision that was not imported, so it was skipped too");
    }
    txn_.put(store_.tables.changes.handle, key, value);
    if (!is_of_policy(change)) append_entry(ledger::Kind::change, place_name(change.key));
    stored("change", change.key);
  }

  void put(const ReadLine& line, const model::PolicyRecord& policy) {
    const KeyBytes key = place_key(tenant_, policy.key);
    const std::string value = line.value(key);
    const std::string what = "the revision \"" + policy.revision + "\" of the policy \"" + policy.policy + "\"";
    if (!is_free(store_.tables.policies, key, value, what.c_str())) return;
    if (place_of_revision(txn_, store_.tables, tenant_, policy)) {
      return conflict(what + " already exists with a different time; the stored record was kept");
    }
    txn_.put(store_.tables.policies.handle, key, value);
    append_entry(ledger::Kind::policy, place_name(policy.key));
    enter_policy(batch_, tenant_, policy);
    named_.insert(policy.policy);
    stored("policy", policy.key);
  }

  void put(const ReadLine&, const PolicyNameLine& name) {
    const bool raised = raise_revision(batch_, tenant_, name.policy, name.highest);
    raised || named_.contains(name.policy) ? stored("policy_name", {}) : static_cast<void>(++imported_.already_there);
  }

  // After the failures, which have made the group if there are any.
  void put(const ReadLine&, const GroupLine& line) {
    flush(batch_);
    const Half half = line.cluster.key;
    auto& since_ms = known_since_.try_emplace({tenant_, half}, line.cluster.first_ms).first->second;
    since_ms = std::min(since_ms, line.cluster.first_ms);
    switch (merge_group(batch_, tenant_, line, joined_.contains(half) ? Brings::failures : Brings::nothing)) {
      case Merged::changed: return stored("group", {});
      case Merged::unchanged: return joined_.contains(half) ? stored("group", {}) : static_cast<void>(++imported_.already_there);
      case Merged::left_out: left_out_.insert(half); return;
    }
  }

  void put(const ReadLine& line, const TriageLine& triage) {
    const Half half = model::cluster_key(triage.fingerprint);
    if (left_out_.contains(half)) return;
    if (!read_cluster(txn_, store_.tables, tenant_, half)) throw BadLine("history of a group that no earlier line contains");
    const KeyBytes key = KeyBytes(cluster_row_key(tenant_, half)).time(triage.entry.key.time_ms).u64(triage.entry.key.seq);
    const std::string value = line.value(key);
    if (!is_free(store_.tables.triage, key, value, "a decision about this group at this time")) return;
    txn_.put(store_.tables.triage.handle, key, value);
    append_entry(ledger::Kind::triage, triage_name(half, triage.entry.key));
    stored("triage", triage.entry.key);
  }

  void put(const ReadLine& line, const ReviewLine& review) {
    const KeyBytes key = place_key(tenant_, review.key);
    const std::string value = line.value(key);
    if (!is_free(store_.tables.reviews, key, value, "a review of this failure or run at this time")) return;
    put_review(batch_, tenant_, review, value);
    append_entry(ledger::Kind::triage, place_name(review.key));
    if (!review.failure_id.empty()) reviewed_.insert_or_assign({tenant_, review.failure_id}, review);
    stored("review", review.key);
  }

  void put(const ReadLine& line, const OpinionLine& of) {
    if (refused_.contains(of.run)) return;
    const KeyBytes key = place_key(tenant_, of.key);
    const std::string value = line.value(key);
    const model::Opinion opinion = decode_opinion(key, value);
    if (opinion.key != of.key || opinion.run != of.run) throw BadLine("the opinion's bytes belong to a different opinion");
    if (!txn_.get(store_.tables.runs.handle, place_key(tenant_, of.run))) throw BadLine("refers to a run that no earlier line contains");
    if (!is_free(store_.tables.opinions, key, value, ("the opinion " + of.id).c_str())) return;
    put_opinion(txn_, store_.tables, tenant_, opinion);
    stored("opinion", of.key);
  }

  // Its counts come from the deliveries that follow.
  void put(const ReadLine& line, const WebhookLine& webhook) {
    const KeyBytes key = endpoint_key(tenant_, webhook.key.seq);
    model::Endpoint endpoint = decode_endpoint(key, line.value(key));
    if (endpoint.key != webhook.key) throw BadLine("the webhook's bytes belong to a different webhook");
    if (const auto there = read_endpoint(txn_, store_.tables, tenant_, webhook.key.seq)) {
      if (there->id == endpoint.id) return static_cast<void>(++imported_.already_there);
      return conflict("a different webhook already has the number of " + endpoint.id + ", which was skipped");
    }
    endpoint.pending = 0;
    endpoint.dead = 0;
    txn_.put(store_.tables.endpoints.handle, key, encode_endpoint(key, endpoint));
    stored("webhook", webhook.key);
  }

  void put(const ReadLine& line, const DeliveryLine& delivery) {
    const KeyBytes key = delivery_key(tenant_, delivery.webhook.seq, delivery.key);
    const std::string value = line.value(key);
    const model::Delivery sent = decode_delivery_head(key, value);
    if (sent.key != delivery.key) throw BadLine("the delivery's bytes belong to a different delivery");
    auto endpoint = read_endpoint(txn_, store_.tables, tenant_, delivery.webhook.seq);
    if (!endpoint || endpoint->key != delivery.webhook) return;  // another one is there, which was reported
    if (!is_free(store_.tables.deliveries, key, value, ("the delivery " + sent.id).c_str())) return;
    txn_.put(store_.tables.deliveries.handle, key, value);
    if (sent.state == model::DeliveryState::pending) {
      const KeyBytes due = outbox_key(tenant_, delivery.webhook.seq, sent);
      txn_.put(store_.tables.outbox.handle, due, encode_queued(due, sent.key.time_ms));
    }
    endpoint->pending += sent.state == model::DeliveryState::pending ? 1 : 0;
    endpoint->dead += sent.state == model::DeliveryState::dead ? 1 : 0;
    const KeyBytes of = endpoint_key(tenant_, delivery.webhook.seq);
    txn_.put(store_.tables.endpoints.handle, of, encode_endpoint(of, *endpoint));
    stored("delivery", delivery.key);
  }

  void put(const ReadLine& line, const IdempotentAnswer& answer) {
    if (answer.kind == IdempotentAnswer::Kind::run || answer.kind == IdempotentAnswer::Kind::events) {
      if (refused_.contains(answer.record)) return;
    }
    const KeyBytes key = answer_key(answer, tenant_);
    const std::string value = line.value(key);
    if (!is_free(store_.tables.idempotency, key, value, "an answer to this Idempotency-Key")) return;
    txn_.put(store_.tables.idempotency.handle, key, value);
    stored("answer", answer.record);
  }

  const MaintenanceContext& context_;
  const LineSource& next_;
  OpenStore store_;
  SpaceAccounting room_;
  WriteTxn txn_;
  WriteBatch batch_;
  model::TenantId tenant_ = 0;
  bool open_ = false;  // between a header and its end
  std::optional<Sha256> digest_;
  std::uint64_t line_ = 0;
  std::uint64_t lines_ = 0;  // of this export
  std::uint64_t highest_start_ = 0;
  std::set<model::RecordKey> refused_;                                         // runs that met a conflict: what belongs to them is left out
  std::set<std::string> named_;                                                // policies named by revisions of this import
  std::set<Half> joined_;                                                      // groups with failures of this import
  std::set<Half> left_out_;                                                    // groups that are left out because there are too many
  std::map<std::pair<model::TenantId, std::string>, model::Review> reviewed_;  // by tenant and failureId
  std::map<std::pair<model::TenantId, Half>, std::int64_t> known_since_;       // by group of the exports
  std::vector<RunKey> affecting_;                                              // runs that came with failures
  bool older_ = false;                  // a version without groups wrote some of it
  Imported imported_;
};

}  // namespace

Result<Imported> lmdb::import_lines(const MaintenanceContext& maintenance, const LineSource& next) {
  return guarded(maintenance, [&]() -> Result<Imported> { return Importing(maintenance, next).run(); });
}

}  // namespace runwarden::store
