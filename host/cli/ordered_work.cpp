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
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || in_order_.empty() || (in_order_.size() < max_jobs_ && bytes_ + bytes <= kMaxBytes); });
  if (stopped_) return false;
  bytes_ += bytes;
  in_order_.push_back(job);
  waiting_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

void OrderedWork::finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void OrderedWork::work(std::size_t worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || ending_ || !waiting_.empty(); });
    if (stopped_ || waiting_.empty()) return;
    const auto job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::string answer = job->task(worker);
    job->task = nullptr;
    lock.lock();
    job->answer = std::move(answer);
    job->done = true;
    deliver_done(lock);
  }
}

// Whoever finds the oldest answer done delivers; the others go on.
void OrderedWork::deliver_done(std::unique_lock<std::mutex>& lock) {
  if (delivering_) return;
  delivering_ = true;
  while (!stopped_ && !in_order_.empty() && in_order_.front()->done) {
    const auto job = std::move(in_order_.front());
    in_order_.pop_front();
    const bool more = !in_order_.empty() && in_order_.front()->done;
    lock.unlock();
    const bool read_on = deliver_(job->answer, more);
    lock.lock();
    bytes_ -= job->bytes;
    if (!read_on) stopped_ = true;
    changed_.notify_all();
  }
  delivering_ = false;
}

}  // namespace runwarden::cli
