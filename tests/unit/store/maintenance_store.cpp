#include "unit/store/maintenance_store.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "unit/store/sample_reviews.h"

namespace runwarden::store {

std::unique_ptr<Store> MaintenanceTest::open(const std::filesystem::path& path, LmdbSettings::IfOlder if_older) {
  LmdbSettings settings;
  settings.path = path;
  settings.map_size = kMapBytes;
  settings.if_older = if_older;
  settings.ledger = ledger_;
  settings.listener.on_fatal = [this](const std::string&) { failed_ = true; };
  auto store = open_lmdb(settings, clock_);
  if (!store.ok()) throw std::runtime_error(store.error().detail);
  return std::move(*store);
}

Rows MaintenanceTest::rows(const std::filesystem::path& path) {
  Rows all;
  OpenStore store(path, 0, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
  const ReadTxn txn = store.env.read();
  store.tables.each([&](const Table& table) {
    // The log of commits is of the store, not of its records.
    if (std::string(table.name) == "meta" || std::string(table.name) == "commits") return;
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) all[table.name].emplace(cursor.key(), cursor.value());
  });
  return all;
}

void MaintenanceTest::spoil_last(const std::filesystem::path& path, const std::string& name) {
  tamper(path, name, [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    cursor.last();
    const std::string key(cursor.key());
    std::string value(cursor.value());
    value[4] = static_cast<char>(value[4] ^ 1);
    txn.put(in.handle, key, value);
  });
}

void MaintenanceTest::fill() {
  const auto store = open(path_);
  fill_all(*store);
}

void MaintenanceTest::fill_with_false_alarms_first() {
  const auto store = open(path_);
  model::KeyRecord key;
  key.id = "key";
  key.tenant_name = "acme";
  const model::TenantId tenant = store->put_key(key).tenant;
  const auto find = [&](const std::string& fingerprint) {
    clock_.advance_ms(1000);
    RunWrite write = sample_run(tenant, new_key(*store));
    write.failures = {failure_with(new_key(*store), fingerprint, "summary " + std::to_string(clock_.wall_ms()))};
    const std::string id = write.failures.front().id;
    commit(*store, std::move(write));
    return id;
  };
  const auto mark = [&](const std::string& id) {
    clock_.advance_ms(1000);
    commit(*store,
           ReviewWrite{
               tenant, {review_of(new_key(*store), *store->find_failure(tenant, id), model::ReviewVerdict::false_alarm)}, std::nullopt});
  };
  mark(find("alone"));
  find("alone");
  const auto first = find("beside");
  find("beside");
  mark(first);
  const auto one = find("all");
  const auto two = find("all");
  mark(one);
  mark(two);
  const auto earlier = find("again");
  const auto later = find("again");
  mark(earlier);
  mark(later);
  find("again");
}

std::string MaintenanceTest::exported(const std::string& tenant, std::int64_t since_ms) {
  std::string text;
  const auto counts = export_tenant(maintenance(), {tenant, since_ms}, [&](std::string_view lines) {
    text += lines;
    return true;
  });
  EXPECT_TRUE(counts.ok()) << counts.error().detail;
  return text;
}

LineSource MaintenanceTest::lines_of(const std::string& text) {
  auto at = std::make_shared<std::size_t>(0);
  return [text, at]() -> Result<std::optional<std::string>> {
    if (*at >= text.size()) return std::optional<std::string>();
    const std::size_t end = std::min(text.find('\n', *at), text.size());
    std::string line = text.substr(*at, end - *at);
    *at = end + 1;
    return std::optional(std::move(line));
  };
}

void MaintenanceTest::expect_good(const std::filesystem::path& path) {
  const auto verified = verify(maintenance(path));
  ASSERT_TRUE(verified.ok()) << verified.error().detail;
  for (const StoreFault& fault : verified->first_ones) ADD_FAILURE() << fault.table << " 0x" << fault.key << ": " << fault.detail;
}

std::size_t count_of(const Rows& rows) {
  std::size_t count = 0;
  for (const auto& [table, entries] : rows) count += entries.size();
  return count;
}

}  // namespace runwarden::store
