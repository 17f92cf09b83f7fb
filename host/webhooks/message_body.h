// The bodies of messages, made from what is stored. Reads the store; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/webhook.h"
#include "store/group_store.h"
#include "store/run_store.h"

namespace runwarden::webhooks {

constexpr std::size_t kMostBodyBytes = 20'000;
constexpr std::size_t kMostEvidenceCharacters = 300;
constexpr std::size_t kMostSlackCharacters = 3000;

struct BodySources {
  store::RunStore& records;
  store::GroupStore& groups;
  std::string public_url;  // page.public_url, without a slash at its end; empty: no links
};

struct Addressee {
  model::TenantId tenant = 0;
  const std::string& tenant_name;
  const model::Endpoint& endpoint;
};

// Whether its failure was found to be a false alarm: it is not to be told any more. What was decided about a group is.
bool tells_of_false_alarm(store::RunStore& records, model::TenantId tenant, const model::Message& message);

// Nothing: the failure that it tells of has been deleted.
std::optional<std::string> make_body(const BodySources& sources, const Addressee& to, const model::Message& message);

}  // namespace runwarden::webhooks
