#include "api/ledger_reads.h"

#include <charconv>
#include <limits>
#include <optional>

#include "base/json_members.h"
#include "ingest/faults.h"
#include "ingest/ledger_json.h"
#include "model/cluster.h"

namespace runwarden::api {
namespace {

Error bad_query(std::string detail) {
  return {Code::bad_request, std::move(detail), {}, {}};
}

Error no_such_member(std::string_view what, const std::string& name, std::string_view known) {
  return bad_query("the query of " + std::string(what) + " has no member \"" + name.substr(0, 80) + "\"; its members are " +
                   std::string(known));
}

Result<std::uint64_t> whole_number(const std::string& name, const std::string& value, std::uint64_t least) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool read = end.ec == std::errc() && end.ptr == value.data() + value.size();
  if (read && number >= least && number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return number;
  return bad_query("the query's " + name + " must be a whole number from " + std::to_string(least) + ", got \"" + value.substr(0, 80) +
                   "\"");
}

}  // namespace

Result<std::string> LedgerReads::json(const Admission& admission, FairBudget::Lease& lease) {
  if (!ledger_.is_on()) return Error{Code::not_found, "no ledger: ledger.enabled is false in the service's configuration", {}, {}};
  switch (admission.route->id) {
    case RouteId::ledger: return checkpoint(admission);
    case RouteId::ledger_proof: return proof(admission, lease);
    default: return consistency(admission);
  }
}

Result<std::string> LedgerReads::checkpoint(const Admission& admission) {
  if (!admission.query.empty()) return bad_query("the ledger takes no query, got \"" + admission.query[0].first.substr(0, 80) + "\"");
  return ingest::checkpoint_json(ledger_.checkpoint(admission.principal->tenant));
}

Result<std::string> LedgerReads::proof(const Admission& admission, FairBudget::Lease& lease) {
  std::string record;
  std::optional<std::uint32_t> revision;
  for (const auto& [name, value] : admission.query) {
    if (name == "record") {
      record = value;
    } else if (name == "revision") {
      const auto number = whole_number(name, value, 1);
      if (!number.ok()) return number.error();
      revision = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, std::numeric_limits<std::uint32_t>::max()));
    } else {
      return no_such_member("a proof", name, "record, revision");
    }
  }
  if (record.empty()) return bad_query("the query needs record: the id of a run, a failure, a change or a policy revision");
  const model::TenantId tenant = admission.principal->tenant;
  auto head = store_.run_head(tenant, record, std::nullopt);
  const auto failure = head ? std::nullopt : store_.find_failure(tenant, record);
  const bool has_revision = failure ? model::revision_of(*failure) == revision : head.has_value();
  if (revision && !has_revision) {
    const std::string named = "\"" + record.substr(0, 256) + "\" of revision " + std::to_string(*revision);
    return Error{Code::not_found, "no run or failure " + named + "; changes and policy revisions have none", {}, {}};
  }
  if (failure) head = store_.run_head(tenant, json_member_text(failure->json, "runId"), std::nullopt);
  if (head && !lease.try_resize(head->json_bytes)) return ingest::no_room_for_reply(head->json_bytes);
  const auto proof = ledger_.prove(tenant, record, revision);
  if (!proof.ok()) return proof.error();
  return ingest::proof_json(*proof);
}

Result<std::string> LedgerReads::consistency(const Admission& admission) {
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> to;
  for (const auto& [name, value] : admission.query) {
    if (name != "from" && name != "to") return no_such_member("a consistency proof", name, "from, to");
    const auto number = whole_number(name, value, 0);
    if (!number.ok()) return number.error();
    (name == "from" ? from : to) = *number;
  }
  if (!from || !to) return bad_query("the query needs from and to: two sizes of the ledger");
  const auto path = ledger_.consistency(admission.principal->tenant, *from, *to);
  if (!path.ok()) return path.error();
  return ingest::consistency_json({*from, *to}, *path);
}

}  // namespace runwarden::api
