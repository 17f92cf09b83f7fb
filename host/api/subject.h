// Whose failures a query asks for: a group's, a detector's, or all. Any pool thread.
#pragma once

#include <string_view>

#include "api/admission.h"
#include "base/result.h"
#include "store/group_store.h"

namespace runwarden::api {

// By the members `cluster` and `detector`, of which there may be one. not_found for a group that the tenant does not have.
Result<store::Subject> read_subject(store::GroupStore& groups, const Admission& admission);

Error no_such_cluster(std::string_view id);

}  // namespace runwarden::api
