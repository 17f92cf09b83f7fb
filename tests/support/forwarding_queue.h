// A store's queue of writes behind another, for a test that changes one of its functions. Threads as for the queue behind it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "store/write_queue.h"

namespace runwarden::test {

class ForwardingQueue : public store::WriteQueue {
 public:
  explicit ForwardingQueue(store::WriteQueue& real) : real_(real) {}

  bool submit(store::Write write, Done done, Permit permit = nullptr) override {
    return real_.submit(std::move(write), std::move(done), std::move(permit));
  }
  std::string refuses_for() const override { return real_.refuses_for(); }
  void run_between(Job job) override { real_.run_between(std::move(job)); }
  void drain() override { real_.drain(); }
  Depth depth() const override { return real_.depth(); }
  bool is_progressing(std::int64_t within_ms) const override { return real_.is_progressing(within_ms); }

 protected:
  store::WriteQueue& real_;
};

}  // namespace runwarden::test
