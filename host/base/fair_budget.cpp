#include "base/fair_budget.h"

namespace runwarden {

std::optional<FairBudget::Lease> FairBudget::take(Party party, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const Allocation own = allocation_of(party);
  const bool fits = all_.leases == 0 || (fit(own.bytes, all_.bytes, bytes, max_bytes_) && fit(own.leases, all_.leases, 1, max_leases_));
  if (!fits) {
    ++refused_;
    return std::nullopt;
  }
  hold(party, {bytes, 1});
  return Lease(*this, party, bytes);
}

void FairBudget::set_max_bytes(std::uint64_t max_bytes) {
  const MutexLock lock(mutex_);
  max_bytes_ = max_bytes;
}

FairBudget::State FairBudget::state() const {
  const MutexLock lock(mutex_);
  return {all_.bytes, max_bytes_, all_.leases, refused_};
}

bool FairBudget::fit(std::uint64_t own, std::uint64_t all, std::uint64_t more, std::uint64_t max) {
  return all <= max && own <= max - all && more <= (max - all - own) / 2;
}

bool FairBudget::try_change(Party party, std::uint64_t from, std::uint64_t to) {
  const MutexLock lock(mutex_);
  const bool fits = to <= from || all_.bytes == from || fit(allocation_of(party).bytes - from, all_.bytes - from, to, max_bytes_);
  if (!fits) {
    ++refused_;
    return false;
  }
  hold(party, {to - from, 0});
  return true;
}

void FairBudget::change(Party party, std::uint64_t from, std::uint64_t to) {
  const MutexLock lock(mutex_);
  hold(party, {to - from, 0});
}

void FairBudget::give_back(Party party, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  hold(party, {0 - bytes, 0 - std::uint64_t{1}});
}

FairBudget::Allocation FairBudget::allocation_of(Party party) const {
  const auto found = allocations_.find(party);
  return found == allocations_.end() ? Allocation{} : found->second;
}

void FairBudget::hold(Party party, Allocation more) {
  all_.bytes += more.bytes;
  all_.leases += more.leases;
  const auto found = allocations_.try_emplace(party).first;
  found->second.bytes += more.bytes;
  found->second.leases += more.leases;
  if (found->second.leases == 0) allocations_.erase(found);
}

}  // namespace runwarden
