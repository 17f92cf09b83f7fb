// A service that is wrong on purpose: it answers "stored" one batch before it stores. The durability test must see it lose runs.
#include <iostream>

#include "app/service.h"
#include "config/settings.h"

namespace {

using namespace runwarden;

class EarlyAckStore final : public store::Store {
 public:
  explicit EarlyAckStore(std::unique_ptr<store::Store> real) : real_(std::move(real)) {}

  std::vector<store::WriteResult> commit(std::span<const store::Write> batch) override {
    real_->commit(held_);
    held_.assign(batch.begin(), batch.end());
    return std::vector<store::WriteResult>(batch.size());
  }
  std::uint64_t next_seq() override { return real_->next_seq(); }
  std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view id) override { return real_->find_run(tenant, id); }
  std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) override {
    return real_->find_replay(tenant, identity);
  }
  model::KeyRecord put_key(model::KeyRecord key) override { return real_->put_key(std::move(key)); }
  std::vector<model::KeyRecord> keys() override { return real_->keys(); }
  std::uint64_t keys_version() override { return real_->keys_version(); }
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>> used) override { real_->touch_keys(used); }
  store::Space space() override { return real_->space(); }
  Status writable() override { return real_->writable(); }

 private:
  std::unique_ptr<store::Store> real_;
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
