// Reads whose failures a query selects: a group's, a detector's, or all. Any pool thread.
#pragma once

#include <string_view>

#include "api/admission.h"
#include "base/result.h"
#include "store/group_store.h"

namespace runwarden::api {

// Reads the member `cluster` or `detector`; a query may have at most one of them. not_found if the tenant has no such group.
Result<store::Subject> read_subject(store::GroupStore& groups, const Admission& admission);

Error no_such_cluster(std::string_view id);

}  // namespace runwarden::api
