#include "store/commit_queue.h"

#include <chrono>
#include <exception>
#include <map>
#include <unordered_map>
#include <utility>

namespace runwarden::store {
namespace {

constexpr model::TenantId kCanaryTenant = 0;

std::uint64_t bytes_of(const SealedWrite& write) {
  std::uint64_t bytes = store::bytes_of(write.write);
  for (const std::string& value : write.sealed) bytes += value.size();
  return bytes;
}

}  // namespace

CommitQueue::CommitQueue(BatchWriter& store, Limits limits, const Clock& clock, Listener listener)
    : store_(store),
      limits_(limits),
      clock_(clock),
      listener_(std::move(listener)),
      room_(limits.max_bytes, limits.max_items),
      thread_([this] { work(); }) {}

CommitQueue::~CommitQueue() {
  drain();
}

bool CommitQueue::submit(Write write, Done done, Permit permit) {
  SealedWrite sealed = store_.seal(std::move(write));
  const std::uint64_t bytes = bytes_of(sealed);
  const model::TenantId tenant = tenant_of(sealed.write);
  {
    const MutexLock lock(mutex_);
    if (stopping_ || failed_) return false;
    auto room = room_.take(tenant, bytes);
    if (!room) return false;
    if (!busy_ && items_.empty() && jobs_.empty()) note_turn();
    if (tenant != kCanaryTenant) senders_.note(tenant, clock_.monotonic_ns());
    items_.push(tenant, {std::move(sealed), std::move(done), bytes, std::move(permit), std::move(*room)});
  }
  wake_.notify_one();
  return true;
}

void CommitQueue::run_between(Job job) {
  {
    const MutexLock lock(mutex_);
    if (stopping_ || failed_) return;
    if (!busy_ && items_.empty() && jobs_.empty()) note_turn();
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void CommitQueue::drain() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CommitQueue::refuse_waiting(const WriteResult& result) {
  FairQueue<Item> refused;
  {
    const MutexLock lock(mutex_);
    std::swap(refused, items_);
  }
  while (!refused.empty()) {
    Item item = refused.pop();
    complete(item, result);
  }
}

CommitQueue::Depth CommitQueue::depth() const {
  const MutexLock lock(mutex_);
  return {items_.size(), room_.state().bytes};
}

bool CommitQueue::is_progressing(std::int64_t within_ms) const {
  const MutexLock lock(mutex_);
  if (!busy_ && items_.empty() && jobs_.empty()) return true;
  return clock_.monotonic_ns() - turned_ns_ <= within_ms * 1'000'000;
}

void CommitQueue::note_turn() {
  turned_ns_ = clock_.monotonic_ns();
}

// Returns when there is work, and once in idle_maintain_ms without work. False: the queue was drained and nothing is left.
bool CommitQueue::wait_for_work(MutexLock& lock) {
  wake_.wait_for(lock, std::chrono::milliseconds(limits_.idle_maintain_ms),
                 [this]() RW_REQUIRES(mutex_) { return stopping_ || !items_.empty() || !jobs_.empty(); });
  if (limits_.commit_interval_ms > 0 && !items_.empty()) {
    wake_.wait_for(lock, std::chrono::milliseconds(limits_.commit_interval_ms), [this]() RW_REQUIRES(mutex_) {
      return stopping_ || items_.size() >= limits_.max_commit_records || room_.state().bytes >= limits_.max_commit_bytes;
    });
  }
  return !stopping_ || !items_.empty() || !jobs_.empty();
}

std::vector<CommitQueue::Item> CommitQueue::take_batch() {
  struct Share {
    std::size_t records = 0;
    std::uint64_t bytes = 0;
  };
  const bool shared = senders_.shared(clock_.monotonic_ns(), limits_.shared_ms * 1'000'000);
  std::unordered_map<std::uint64_t, Share> shares;
  std::vector<Item> batch;
  std::uint64_t bytes = 0;
  while (!items_.empty() && batch.size() < limits_.max_commit_records) {
    if (!batch.empty() && bytes + items_.front().bytes > limits_.max_commit_bytes) break;
    // Turns are fair: all tenants have had as many as the next one.
    if (const auto turn = items_.turn(); shared && turn) {
      Share& share = shares[*turn];
      share.bytes += items_.front().bytes;
      if (share.records++ > 0 && (share.records > limits_.max_shared_records || share.bytes > limits_.max_shared_bytes)) break;
    }
    bytes += items_.front().bytes;
    batch.push_back(items_.pop());
    batch.back().room = {};
  }
  return batch;
}

void CommitQueue::work() {
  try {
    MutexLock lock(mutex_);
    while (wait_for_work(lock)) {
      std::vector<Item> batch = take_batch();
      std::vector<Job> jobs = std::exchange(jobs_, {});
      note_turn();
      busy_ = true;
      lock.unlock();
      commit(std::move(batch));
      do_jobs(std::move(jobs));
      store_.maintain();
      lock.lock();
      busy_ = false;
      note_turn();
    }
  } catch (const std::exception& fault) {
    FairQueue<Item> untold;
    {
      const MutexLock lock(mutex_);
      failed_ = true;
      std::swap(untold, items_);
      jobs_.clear();
    }
    if (listener_.on_fatal) listener_.on_fatal(fault.what());
  }
}

void CommitQueue::complete(Item& item, WriteResult result) {
  try {
    item.done(std::move(result));
  } catch (const std::exception& fault) {
    if (listener_.on_fault) listener_.on_fault(fault.what());
  }
}

// Each permit is asked once, however many writes share it.
void CommitQueue::refuse_denied(std::vector<Item>& batch) {
  std::map<const void*, std::optional<Error>> refusals;
  const auto denied = [&](Item& item) {
    if (!item.permit) return false;
    const auto [place, fresh] = refusals.try_emplace(item.permit.get());
    std::optional<Error>& refusal = place->second;
    if (fresh) refusal = (*item.permit)();
    if (!refusal) return false;
    WriteResult result;
    result.outcome = WriteResult::Outcome::denied;
    result.refusal = *refusal;
    complete(item, std::move(result));
    return true;
  };
  std::erase_if(batch, denied);
}

void CommitQueue::commit(std::vector<Item> batch) {
  refuse_denied(batch);
  if (batch.empty()) return;
  std::vector<SealedWrite> writes;
  writes.reserve(batch.size());
  CommitReport report;
  for (Item& item : batch) {
    if (!std::holds_alternative<CanaryWrite>(item.write.write)) {
      ++report.records;
      report.bytes += item.bytes;
    }
    writes.push_back(std::move(item.write));
  }
  const std::int64_t begun_ns = clock_.monotonic_ns();
  std::vector<WriteResult> results;
  try {
    results = store_.commit(writes);
  } catch (...) {
    in_doubt_ = std::move(batch);
    throw;
  }
  report.commit_ns = clock_.monotonic_ns() - begun_ns;
  if (listener_.on_commit && report.records > 0) listener_.on_commit(report);  // before the answers: clients find the commit counted
  for (std::size_t i = 0; i < batch.size(); ++i) complete(batch[i], std::move(results[i]));
}

void CommitQueue::do_jobs(std::vector<Job> jobs) {
  for (const Job& job : jobs) {
    try {
      job();
    } catch (const FatalStoreError&) {
      throw;
    } catch (const std::exception& fault) {
      if (listener_.on_fault) listener_.on_fault(fault.what());
    }
  }
}

}  // namespace runwarden::store
