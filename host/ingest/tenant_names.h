// Maps tenant ids to names. Each name is read from the store once, because names never change. Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "model/key_record.h"
#include "model/record_key.h"
#include "store/key_store.h"

namespace runwarden::ingest {

class TenantNames {
 public:
  explicit TenantNames(store::KeyStore& store) : store_(store) {}  // the store must outlive it

  // Empty if no tenant has that id yet.
  std::string of(model::TenantId tenant) {
    if (const auto name = known(tenant)) return *name;
    remember(store_.tenants());
    return known(tenant).value_or(std::string());
  }

 private:
  std::optional<std::string> known(model::TenantId tenant) {
    const MutexLock lock(mutex_);
    const auto found = names_.find(tenant);
    return found == names_.end() ? std::nullopt : std::optional(found->second);
  }
  void remember(const std::vector<model::Tenant>& tenants) {
    const MutexLock lock(mutex_);
    for (const model::Tenant& one : tenants) names_[one.id] = one.name;
  }

  store::KeyStore& store_;
  Mutex mutex_;
  std::map<model::TenantId, std::string> names_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::ingest
