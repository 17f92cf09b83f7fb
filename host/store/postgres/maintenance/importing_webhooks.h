// Imports webhooks, and what was or is to be sent to them. Internal to this folder; one thread, in the import's open transaction.
#pragma once

#include "store/postgres/connection.h"
#include "store/postgres/maintenance/import_tally.h"

namespace runwarden::store::postgres {

// Each waits for hosts that are sending to a webhook of the tenant, and keeps them waiting until the transaction ends.
void store_webhooks(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<WebhookLine>& lines);
// The webhooks must exist. Pending deliveries are sent from here, with the same ids.
void store_deliveries(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<DeliveryLine>& lines);

}  // namespace runwarden::store::postgres
