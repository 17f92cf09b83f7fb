// Which requests share an entity tag.
#include <gtest/gtest.h>

#include <set>

#include "api/cluster_reads.h"
#include "support/sample_values.h"
#include "unit/store/engines.h"
#include "unit/store/sample_records.h"

namespace runwarden::api {
namespace {

class EntityTags : public store::StoreContractTest {
 protected:
  std::string tag(const Route& route, std::vector<std::string> parameters, Query query, model::TenantId tenant = kTenant) {
    Admission admission;
    admission.route = &route;
    admission.parameters = std::move(parameters);
    admission.query = std::move(query);
    admission.principal.emplace();
    admission.principal->tenant = tenant;
    return ClusterReads(*store_, store_->groups(), seal_, clock_).tag(admission);
  }

  const Route run_{RouteId::run, "/v1/runs/{runId}", "GET", Access::read};
  const Route cluster_{RouteId::cluster, "/v1/clusters/{clusterId}", "GET", Access::read};
  const auth::CursorSeal seal_{std::string(32, 's')};
};

TEST_P(EntityTags, AreOfOnePathAndQuery) {
  const std::set<std::string> tags{tag(run_, {"a"}, {}),
                                   tag(run_, {"b"}, {}),
                                   tag(cluster_, {"a"}, {}),
                                   tag(run_, {"a"}, {{"view", "head"}}),
                                   tag(run_, {"a"}, {{"view", "tail"}}),
                                   tag(run_, {"a"}, {{"view", "head"}, {"revision", "1"}}),
                                   tag(run_, {"a\n4:view\n4:head"}, {}),
                                   tag(run_, {"a"}, {}, kTenant + 1)};
  EXPECT_EQ(tags.size(), 8u);
  EXPECT_EQ(tag(run_, {"a"}, {{"view", "head"}}), tag(run_, {"a"}, {{"view", "head"}}));
}

TEST_P(EntityTags, ChangeWithACommit_AndWithTheMinute) {
  const std::string before = tag(run_, {"a"}, {});
  commit(store::sample_run(kTenant, new_key()));
  const std::string committed = tag(run_, {"a"}, {});
  EXPECT_NE(committed, before);
  clock_.advance_ms(60'000);
  EXPECT_NE(tag(run_, {"a"}, {}), committed);
}

INSTANTIATE_TEST_SUITE_P(Engines, EntityTags, store::kEngines, store::kEngineName);

}  // namespace
}  // namespace runwarden::api
