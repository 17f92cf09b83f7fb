// A service that is wrong on purpose: it says "stored" some batches before it stores. The durability tests must see it lose runs.
#include <deque>
#include <iostream>

#include "app/service.h"
#include "config/settings.h"
#include "support/forwarding_store.h"

namespace {

using namespace runwarden;

class EarlyAckStore final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::vector<store::WriteResult> commit(std::span<const store::Write> batch) override {
    constexpr std::size_t kHeldBatches = 20;
    held_.emplace_back(batch.begin(), batch.end());
    if (held_.size() > kHeldBatches) {
      real().commit(held_.front());
      held_.pop_front();
    }
    std::vector<store::WriteResult> results;
    for (const store::Write& write : batch) results.push_back(stored(write));
    return results;
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

  std::deque<std::vector<store::Write>> held_;
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
  hooks.wrap_store = [](std::unique_ptr<store::Store> real) { return std::make_unique<EarlyAckStore>(std::move(real)); };
  return app::run_service(*settings, load, hooks);
}
