#include "ingest/tenant_names.h"

#include <gtest/gtest.h>

namespace runwarden::ingest {
namespace {

// A store that lists the tenants it is given. What nobody asks for here is empty.
class ListedTenants : public store::KeyStore {
 public:
  std::vector<model::Tenant> listed;
  int asked = 0;

  std::vector<model::Tenant> tenants() override {
    ++asked;
    return listed;
  }

  model::KeyRecord put_key(model::KeyRecord key) override { return key; }
  std::vector<model::KeyRecord> keys() override { return {}; }
  std::uint64_t keys_version() override { return 0; }
  void touch_keys(std::span<const std::pair<std::string, std::int64_t>>) override {}
  Result<std::string> secret(std::string_view) override { return std::string(); }
};

TEST(TenantNames, AreReadOnce) {
  ListedTenants store;
  store.listed = {{1, "acme"}, {2, "globex"}};
  TenantNames names(store);
  EXPECT_EQ(names.of(1), "acme");
  EXPECT_EQ(names.of(2), "globex");
  EXPECT_EQ(names.of(1), "acme");
  EXPECT_EQ(store.asked, 1);
}

TEST(TenantNames, OneThatTheStoreDidNotList_IsAskedForAgain) {
  ListedTenants store;
  TenantNames names(store);
  EXPECT_EQ(names.of(1), "");
  store.listed = {{1, "acme"}};
  EXPECT_EQ(names.of(1), "acme");
}

}  // namespace
}  // namespace runwarden::ingest
