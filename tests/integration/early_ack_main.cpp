// A service that is wrong on purpose: it says "stored" some writes before it stores. The durability tests must see it lose runs.
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <utility>

#include "app/service.h"
#include "config/loading.h"
#include "support/forwarding_queue.h"

namespace {

using namespace runwarden;

class EarlyAckQueue final : public test::ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;

  bool submit(store::Write write, Done done, Permit /*permit*/ = nullptr) override {
    constexpr std::size_t kHeldWrites = 20;
    store::WriteResult result = stored(write);
    {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(write));
      if (held_.size() > kHeldWrites) {
        real_.submit(
            std::move(held_.front()), [](const store::WriteResult&) {}, nullptr);
        held_.pop_front();
      }
    }
    done(std::move(result));
    return true;
  }

 private:
  static store::WriteResult stored(const store::Write& write) {
    store::WriteResult result;
    if (const auto* events = std::get_if<store::EventsWrite>(&write)) {
      result.buffered.emplace();
      result.buffered->run = events->key;
      result.buffered->accepted = static_cast<std::uint32_t>(events->events.size());
    }
    return result;
  }

  std::mutex mutex_;
  std::deque<store::Write> held_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc == 4 ? argv[3] : "";  // serve --config FILE
  const auto load = [&] { return config::load(config::process_options(path, {})); };
  auto settings = load();
  if (!settings.ok()) {
    std::cerr << settings.error().detail << '\n';
    return 1;
  }
  app::ServiceHooks hooks;
  hooks.wrap_queue = [](store::WriteQueue& real) { return std::make_unique<EarlyAckQueue>(real); };
  return app::run_service(*settings, load, hooks);
}
