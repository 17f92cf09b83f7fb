// Makes the bodies of messages from stored records. Reads the store; any thread.
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
  std::string public_url;  // page.public_url, without a trailing slash; empty: no links
};

struct Addressee {
  model::TenantId tenant = 0;
  const std::string& tenant_name;
  const model::Endpoint& endpoint;
};

// Whether the message reports a failure that was reviewed as a false alarm, so that it must not be sent. False for decisions about a group.
bool tells_of_false_alarm(store::RunStore& records, model::TenantId tenant, const model::Message& message);
// Whether the message reports a failure that was deleted since, so that a body that was made before must not be sent.
bool tells_of_deleted_failure(store::RunStore& records, model::TenantId tenant, const model::Message& message);

// Nothing if the failure that the message reports has been deleted.
std::optional<std::string> make_body(const BodySources& sources, const Addressee& to, const model::Message& message);

}  // namespace runwarden::webhooks
