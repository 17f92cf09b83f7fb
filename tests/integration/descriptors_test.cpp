// The real binary with few file descriptors (`ulimit -n 64`): clients wait, the log says why, and nothing breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using ::testing::HasSubstr;

ServiceProcess::Options few_files() {
  ServiceProcess::Options options;
  options.max_files = 64;
  return options;
}

TEST(FewDescriptors, AreSaidAtTheStart_WithTheRemedy) {
  const ServiceProcess service(few_files());
  ASSERT_TRUE(service.wait_for_log("few_descriptors"));
  EXPECT_THAT(service.log_text(), HasSubstr("this process may only open 64 files"));
  EXPECT_THAT(service.log_text(), HasSubstr("Raise LimitNOFILE= (ulimit -n) to 10048, or lower limits.max_connections"));
}

TEST(FewDescriptors, ConnectionsWithinThem_AreNotWarnedOf) {
  ServiceProcess::Options options = few_files();
  options.limits = "{max_connections: 16}";
  const ServiceProcess service(std::move(options));
  EXPECT_EQ(service.log_text().find("few_descriptors"), std::string::npos);
}

TEST(FewDescriptors, WhenAllAreTaken_ClientsWaitAndTheLogSaysWhy_AndAllAreAnsweredInTheEnd) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UBSan, in the same preset, needs descriptors of its own to look at a vtable, and takes it for broken without";
#endif
  ServiceProcess service(few_files());
  const std::string key = service.make_key();
  std::vector<HttpClient> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(HttpClient::to(service.port()));
    ASSERT_TRUE(clients.back().connected()) << i;
  }
  const std::string run = post_request("/v1/ingest/runs", "{}", "Authorization: Bearer " + key + "\r\n");
  ASSERT_TRUE(service.wait_for_log("accept_paused", 30'000)) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr("ulimit -n, 64 files"));
  service.signal(SIGHUP);  // there is no descriptor for its files either
  ASSERT_TRUE(service.wait_for_log("\"reload", 30'000));

  // Each that is answered and goes makes room for one that waits.
  int stored = 0;
  for (HttpClient& client : clients) {
    ASSERT_TRUE(client.send(run));
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->status == 201 || answer->status == 503) << answer->status << answer->body;
    if (answer->status == 201) ++stored;
    client.close();
  }
  EXPECT_GT(stored, 0);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, "{}").status, 201);
  EXPECT_EQ(service.stop(), 0);
}

}  // namespace
}  // namespace runwarden::test
