#include "cli/ordered_work.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kJobsPerThread = 16;
constexpr std::size_t kMaxBytes = 64 << 20;  // of texts held; one larger text is let in alone

}  // namespace

OrderedWork::OrderedWork(std::size_t threads, Deliver deliver) : deliver_(std::move(deliver)), max_jobs_(threads * kJobsPerThread) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

OrderedWork::~OrderedWork() {
  finish();
}

bool OrderedWork::submit(Task task, std::size_t bytes) {
  auto job = std::make_shared<Job>();
  job->task = std::move(task);
  job->bytes = bytes;
  MutexLock lock(mutex_);
  changed_.wait(lock, [&]() RW_REQUIRES(mutex_) {
    return stopped_ || in_order_.empty() || (in_order_.size() < max_jobs_ && bytes_ + bytes <= kMaxBytes);
  });
  if (stopped_) return false;
  bytes_ += bytes;
  in_order_.push_back(job);
  waiting_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

void OrderedWork::finish() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void OrderedWork::work(std::size_t worker) {
  MutexLock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this]() RW_REQUIRES(mutex_) { return stopped_ || ending_ || !waiting_.empty(); });
    if (stopped_ || waiting_.empty()) return;
    const auto job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::string answer = job->task(worker);
    job->task = nullptr;
    lock.lock();
    job->answer = std::move(answer);
    job->done = true;
    while (const auto next = next_delivery()) {
      lock.unlock();
      const bool read_on = deliver_(next->job->answer, next->more);
      lock.lock();
      delivered(*next->job, read_on);
    }
  }
}

// Empty while another thread delivers, which then asks for the next one itself.
std::optional<OrderedWork::Delivery> OrderedWork::next_delivery() {
  if (delivering_ || stopped_ || in_order_.empty() || !in_order_.front()->done) return std::nullopt;
  delivering_ = true;
  Delivery next{std::move(in_order_.front()), false};
  in_order_.pop_front();
  next.more = !in_order_.empty() && in_order_.front()->done;
  return next;
}

void OrderedWork::delivered(const Job& job, bool read_on) {
  delivering_ = false;
  bytes_ -= job.bytes;
  if (!read_on) stopped_ = true;
  changed_.notify_all();
}

}  // namespace runwarden::cli
