// A store with records of every kind, and its rows as they stand: for the tests of what is done to a whole store.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "filled_store.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/lmdb/store.h"
#include "store/maintenance_commands.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace runwarden::store {

constexpr std::uint64_t kMapBytes = std::uint64_t{64} << 20;

using Rows = std::map<std::string, std::map<std::string, std::string>>;  // by table, by key

class MaintenanceTest : public ::testing::Test, protected FillsStores {
 protected:
  MaintenanceTest() : path_(folder_.path() / "store") {}

  std::unique_ptr<Store> open(const std::filesystem::path& path, LmdbSettings::IfOlder if_older = LmdbSettings::IfOlder::refuse);

  MaintenanceContext maintenance(const std::filesystem::path& path) { return {path, clock_, {}, kMapBytes}; }
  MaintenanceContext maintenance() { return maintenance(path_); }

  // Every table's rows but those of meta.
  static Rows rows(const std::filesystem::path& path);

  // Works on the rows of one table behind the store's back.
  template <class Work>
  static void tamper(const std::filesystem::path& path, const std::string& name, Work work) {
    OpenStore store(path, 0, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
    WriteTxn txn = store.env.write();
    store.tables.each([&](const Table& table) {
      if (name == table.name) work(txn, table);
    });
    txn.commit();
  }

  // Turns a bit of the last record of a table, in its checksum.
  static void spoil_last(const std::filesystem::path& path, const std::string& name);

  using FillsStores::fill;
  void fill();

  // Groups of the tenant "acme" whose first failures are false alarms, reviewed before and after others came.
  void fill_with_false_alarms_first();

  std::string exported(const std::string& tenant = "acme", std::int64_t since_ms = kBeginningMs);
  static LineSource lines_of(const std::string& text);

  void expect_good(const std::filesystem::path& path);

  test::TempFolder folder_;
  std::filesystem::path path_;
  StoreSettings::Ledger ledger_ = StoreSettings::Ledger::as_it_is;
};

// How many rows there are in all.
std::size_t count_of(const Rows& rows);

}  // namespace runwarden::store
