// The contract's tests work on LMDB.
#include <stdexcept>

#include "store/lmdb/store.h"
#include "support/temp_folder.h"
#include "unit/store/engines.h"

namespace runwarden::store {
namespace {

class LmdbInAFolder final : public Engine {
 public:
  using Engine::open;
  std::unique_ptr<Store> open(const Clock& clock, const Limits& limits) override {
    LmdbSettings settings;
    settings.max_clusters = limits.max_clusters;
    settings.max_pending_messages = limits.max_pending_messages;
    settings.ledger = limits.ledger;
    settings.path = folder_.path() / "store";
    settings.map_size = std::uint64_t{64} << 20;
    auto store = open_lmdb(settings, clock);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }

 private:
  test::TempFolder folder_;
};

}  // namespace

const std::vector<EngineKind>& engines() {
  static const std::vector<EngineKind> kinds{{"lmdb", [] { return std::unique_ptr<Engine>(std::make_unique<LmdbInAFolder>()); }, 1000}};
  return kinds;
}

}  // namespace runwarden::store
