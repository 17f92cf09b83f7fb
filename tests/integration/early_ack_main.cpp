// A service that is wrong on purpose: it answers "stored" one batch before it stores. The durability test must see it lose runs.
#include <iostream>

#include "app/service.h"
#include "config/settings.h"
#include "support/forwarding_store.h"

namespace {

using namespace runwarden;

class EarlyAckStore final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::vector<store::WriteResult> commit(std::span<const store::Write> batch) override {
    real_->commit(held_);
    held_.assign(batch.begin(), batch.end());
    return std::vector<store::WriteResult>(batch.size());
  }

 private:
  std::vector<store::Write> held_;
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
