// Webhooks of an import, and what was or is to be sent to them. For the files of this folder only; one thread, in the import's open
// transaction.
#pragma once

#include "store/postgres/connection.h"
#include "store/postgres/maintenance/import_tally.h"

namespace runwarden::store::postgres {

// Each waits for whoever sends to a webhook of the tenant, and keeps it waiting until the transaction ends.
void store_webhooks(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<WebhookLine>& lines);
// Those of webhooks that are there. What waited goes out from here, with the same ids.
void store_deliveries(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<DeliveryLine>& lines);

}  // namespace runwarden::store::postgres
