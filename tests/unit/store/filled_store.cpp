#include "unit/store/filled_store.h"

#include <algorithm>
#include <utility>

#include "unit/store/sample_opinions.h"

namespace runwarden::store {

model::RecordKey FillsStores::new_key(Store& store) {
  clock_.advance_ms(7);
  return {clock_.wall_ms(), store.next_seq()};
}

std::vector<WriteResult> FillsStores::commit_together(Store& store, const std::vector<Write>& writes) {
  return test::commit_together(store, writes, &failed_);
}

Buffered FillsStores::post(Store& store, model::TenantId tenant, const std::string& run_id, const std::string& event, bool final) {
  EventsWrite write;
  write.tenant = tenant;
  write.key = new_key(store);
  write.run_id = run_id;
  write.events = {{event, R"({"type":"tool_call","eventId":")" + event + R"("})"}, {"", R"({"type":"heartbeat"})"}};
  write.final = final;
  write.idempotency = idempotency(run_id + event, "content");
  return *commit(store, write).buffered;
}

void FillsStores::end(Store& store, model::TenantId tenant, const Buffered& buffered) {
  const auto claim = store.claim_run(tenant, buffered.run, model::Resolution::final, 1000);
  RunWrite write = sample_run(tenant, buffered.run, claim->run_id);
  write.run.revision = claim->revision;
  write.run.resolution = claim->resolution;
  write.claim = claim;
  write.run.dimensions = {{"version", "of events"}};
  write.failures.push_back(sample_failure(new_key(store), "expensive_loop", 60, "expensive_loop:" + claim->run_id));
  commit(store, write);
}

model::TenantId FillsStores::fill_with_runs(Store& store, const std::string& tenant_name, int count) {
  model::KeyRecord key;
  key.id = "key_" + tenant_name;
  key.digest = digest_of(key.id);
  key.tenant_name = tenant_name;
  key.digest = digest_of(tenant_name);
  const model::TenantId tenant = store.put_key(key).tenant;
  std::vector<Write> runs;
  for (int i = 0; i < count; ++i) {
    RunWrite run = sample_run(tenant, new_key(store), i % 3 == 0 ? "client-" + std::to_string(i) : "", "content " + std::to_string(i));
    run.run.fired = {"false_success"};
    run.run.max_score = 95;
    run.run.dimensions = {{"version", i % 3 == 0 ? "2.4.1" : "2.4.0"}};
    if (i % 2 == 0) run.run.dimensions.push_back({"a \"member\"", "\u00e9, \"quoted\""});
    run.failures.push_back(sample_failure(new_key(store), "false_success", 95, "f" + std::to_string(i % 2)));
    if (i % 4 == 0) {
      run.failures.push_back(sample_failure(new_key(store), "on_trial", 20, "f0"));
      run.failures.back().shadow = true;
    }
    if (i >= 16) run.opinions.push_back(candidate_of(run.run, new_key(store), "schema_ghost"));
    run.idempotency = idempotency(tenant_name + std::to_string(i), "content");
    runs.emplace_back(std::move(run));
  }
  commit_together(store, runs);
  return tenant;
}

void FillsStores::fill(Store& store, const std::string& tenant_name) {
  const model::TenantId tenant = fill_with_runs(store, tenant_name, 20);
  end(store, tenant, post(store, tenant, "ended", "e1", true));
  post(store, tenant, "ended-and-open", "e1", false);
  end(store, tenant, post(store, tenant, "ended-and-open", "e2", true));
  post(store, tenant, "ended-and-open", "e3", false);
  post(store, tenant, "open", "e1", false);
  post(store, tenant, "client-0", "e1", false);  // a whole run that goes on
  answer_opinions(store, tenant);
  for (const std::string kind : {"code", "policy"}) {  // the latter is a client's own, too, and no policy revision
    ChangeWrite change{tenant, {}, idempotency(tenant_name + "change" + kind, "c")};
    change.change.key = new_key(store);
    change.change.id = model::make_change_id(change.change.key);
    change.change.kind = kind;
    change.change.received_ms = clock_.wall_ms();
    change.change.document = R"({"kind":")" + kind + R"(","ref":"9f3c2d1"})";
    commit(store, change);
  }
  for (const char* revision : {"", "", "seven", "0012"}) {
    PolicyWrite policy{tenant, {}, idempotency(tenant_name + "policy" + revision + std::to_string(clock_.wall_ms()), "p")};
    policy.policy.key = new_key(store);
    policy.policy.id = model::make_policy_revision_id(policy.policy.key);
    policy.policy.policy = "refunds of " + tenant_name;
    policy.policy.revision = revision;
    policy.policy.author = "ann";
    policy.policy.content = digest_of("{}");
    policy.policy.received_ms = clock_.wall_ms();
    policy.policy.document = R"({"policy":"refunds","content":{}})";
    commit(store, policy);
  }
}

void FillsStores::answer_opinions(Store& store, model::TenantId tenant) {
  std::vector<model::Opinion> asked;
  for (const auto& one : store.opinions().claim_due(clock_.wall_ms(), clock_.wall_ms() + 30'000, 100)) {
    if (one.tenant == tenant) asked.push_back(one.opinion);
  }
  commit(store, confirming(tenant, asked.at(0), new_key(store), new_key(store)));
  OpinionWrite denied = settled(tenant, asked.at(1), model::OpinionState::denied);
  denied.reviews = {review_of_run(new_key(store), asked.at(1).run, "schema_ghost", model::ReviewVerdict::clean)};
  commit(store, denied);
  commit(store, settled(tenant, asked.at(2), model::OpinionState::dead));
}

void FillsStores::review(Store& store, model::TenantId tenant) {
  const auto say = [&](const model::FailureRecord& failure, const std::string& detector, model::ReviewVerdict verdict) {
    model::Review review;
    review.key = new_key(store);
    review.run = failure.run;
    review.run_id = "a run";
    if (detector.empty()) review.failure_id = failure.id;
    if (detector.empty()) review.cluster_id = model::cluster_id(model::cluster_key(failure.fingerprint));
    review.detector_key = detector.empty() ? failure.detector_key : detector;
    review.detector_version = "1.2.3";
    review.settings_hash = "abc";
    review.verdict = verdict;
    review.author = "ann";
    review.document = model::write_document(review, "a \"note\"\nof two lines");
    commit(store, ReviewWrite{tenant, {review}, idempotency(failure.id + detector + name(verdict), "r")});
  };
  const auto failures_of = [&](const std::string& fingerprint) {
    FailureQuery query;
    query.fingerprint = fingerprint;
    return store.failures(tenant, query).items;
  };
  const auto f0 = failures_of("f0");
  say(f0.at(1), "", model::ReviewVerdict::right);
  say(f0.at(2), "", model::ReviewVerdict::false_alarm);
  say(f0.at(3), "", model::ReviewVerdict::false_alarm);
  say(f0.at(3), "", model::ReviewVerdict::none);
  say(f0.at(4), "schema_ghost", model::ReviewVerdict::missed);
  for (const auto& one : failures_of("expensive_loop:ended-and-open")) say(one, "", model::ReviewVerdict::false_alarm);
}

void FillsStores::decide(Store& store, const std::string& tenant_name) {
  const auto tenants = store.tenants();
  const auto named = std::find_if(tenants.begin(), tenants.end(), [&](const model::Tenant& one) { return one.name == tenant_name; });
  const model::TenantId tenant = named->id;
  const auto triage = [&](const std::string& fingerprint, model::TriageAction action, const model::IgnoreUntil& until = {}) {
    TriageWrite write{tenant, model::cluster_key(fingerprint), {}, idempotency(tenant_name + fingerprint + name(action), "t")};
    write.entry.key = new_key(store);
    write.entry.action = action;
    write.entry.author = "ann";
    write.entry.note = "a \"note\"\nof two lines";
    write.entry.until = until;
    commit(store, write);
  };
  model::Endpoint endpoint;
  endpoint.url = "https://receiver.example/hook";
  endpoint.secret = std::string(model::kSecretBytes, '\x01');
  endpoint.events = model::subscribable_types();
  endpoint.key = store.webhooks().add_endpoint(tenant, endpoint)->key;
  triage("f0", model::TriageAction::resolve);
  RunWrite again = sample_run(tenant, new_key(store));
  again.failures.push_back(sample_failure(new_key(store), "false_success", 40, "f0"));
  commit(store, again);
  triage("f1", model::TriageAction::ignore, {.at_ms = clock_.wall_ms() + 100'000, .failures = {}, .share = 0.05});
  triage("f1", model::TriageAction::reopen);
  review(store, tenant);
  triage("expensive_loop:ended", model::TriageAction::ignore, {.at_ms = {}, .failures = 7, .share = {}});
  // One delivered, one dead, the others wait.
  const auto due = store.webhooks().due({tenant, endpoint}, clock_.wall_ms(), 2);
  store.webhooks().keep_bodies(std::vector<MadeBody>{{tenant, endpoint.key, due.at(0).key, "{\"a\":1}"}});
  store.webhooks().settle(
      std::vector<Attempt>{{tenant, endpoint.key, due.at(0).key, clock_.wall_ms(), true, true, 204, "", {}, {}},
                           {tenant, endpoint.key, due.at(1).key, clock_.wall_ms(), false, true, 500, "http_status", {}, {}}});
}

void FillsStores::fill_all(Store& store) {
  fill_with_runs(store, "other", 3);
  fill(store, "acme");
  decide(store, "acme");
}

}  // namespace runwarden::store
