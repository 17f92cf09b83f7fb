// The names of tenants by their ids, read from the store once: a name never changes. Any thread.
#pragma once

#include <map>
#include <string>

#include "base/mutex.h"
#include "model/records.h"
#include "store/key_store.h"

namespace runwarden::ingest {

class TenantNames {
 public:
  explicit TenantNames(store::KeyStore& store) : store_(store) {}  // the store outlives it

  // Empty for an id that no tenant has.
  std::string of(model::TenantId tenant) {
    const MutexLock lock(mutex_);
    const auto known = names_.find(tenant);
    if (known != names_.end()) return known->second;
    for (const model::Tenant& one : store_.tenants()) names_[one.id] = one.name;
    return names_[tenant];
  }

 private:
  store::KeyStore& store_;
  Mutex mutex_;
  std::map<model::TenantId, std::string> names_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::ingest
