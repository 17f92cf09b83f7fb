// A store whose file is damaged, cut or gone: what is still there is served, and what is not is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

void overwrite(const fs::path& path, std::size_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file << bytes;
}

// Changes the first byte of every place where these bytes stand; says how many there were.
int damage(const fs::path& path, const std::string& bytes) {
  const std::string text = bytes_of(path);
  int places = 0;
  for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1), ++places) overwrite(path, at, "#");
  return places;
}

double metric(const ServiceProcess& service, const std::string& name) {
  const std::string text = "\n" + service.get("/metrics", "").body;
  const auto at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

json note(const std::string& text) {
  return {{"type", "tool_call"}, {"eventId", text}, {"name", "look_up"}, {"status", "completed"}, {"output", text}};
}

class Damaged : public testing::Test {
 protected:
  fs::path data() const { return service_.folder() / "data" / "data.mdb"; }
  void post_events(const std::string& run, const std::string& text, bool final = false) {
    const json body{{"runId", run}, {"events", {note(text)}}, {"final", final}};
    const int status = service_.post("/v1/ingest/events", key_, body.dump()).status;
    ASSERT_EQ(status, final ? 201 : 202);
  }

  ServiceProcess service_;
  std::string key_ = service_.make_key();
};

TEST_F(Damaged, EventOfAnOpenRun_IsLeftOutCountedAndNamed_AndHidesNothingElse) {
  post_events("streamed", "the-first-event");
  post_events("streamed", "the-second-event");
  post_events("streamed", "the-third-event");
  post_events("other", "of-another-run");
  ASSERT_EQ(service_.stop(), 0);
  ASSERT_GT(damage(data(), "the-second-event"), 0);
  service_.start();

  const HttpAnswer list = service_.get("/v1/runs", key_);
  ASSERT_EQ(list.status, 200) << list.body;
  const json items = json::parse(list.body)["items"];
  ASSERT_EQ(items.size(), 2u) << list.body;
  EXPECT_EQ(items[1]["runId"], "streamed");
  ASSERT_EQ(items[1]["steps"].size(), 2u) << list.body;
  EXPECT_EQ(items[1]["steps"][0]["outputSummary"], "the-first-event");
  EXPECT_EQ(items[1]["steps"][1]["outputSummary"], "the-third-event");
  EXPECT_EQ(metric(service_, "runwarden_store_unreadable_records_total"), 1);
  EXPECT_TRUE(service_.wait_for_log("unreadable_record"));
  EXPECT_THAT(service_.log_text(), HasSubstr("database \\\"events\\\", key 0x"));

  const std::string file = service_.folder() / "acme.ndjson";
  const CommandResult exported = service_.cli({"export", "--tenant", "acme", "--output", file});
  EXPECT_EQ(exported.exit_code, 1) << "it is not everything";
  EXPECT_THAT(exported.err, HasSubstr("records left out because they could not be read: 1."));
  const std::string lines = bytes_of(file);
  const json end = json::parse(lines.substr(lines.rfind('\n', lines.size() - 2) + 1));
  EXPECT_EQ(end["record"], "end");
  EXPECT_EQ(end["unreadableRecords"], 1);
  EXPECT_EQ(end["unreadable"][0]["table"], "events");
  EXPECT_THAT(lines, HasSubstr("the-third-event"));
  EXPECT_THAT(lines, HasSubstr("of-another-run"));

  post_events("streamed", "the-last-event", true);
  const HttpAnswer run = service_.get("/v1/runs/streamed", key_);
  ASSERT_EQ(run.status, 200) << run.body;
  EXPECT_EQ(json::parse(run.body)["state"], "resolved");
  EXPECT_EQ(json::parse(run.body)["steps"].size(), 3u);
  EXPECT_EQ(service_.cli({"verify"}).exit_code, 0) << "what was lost went with the events that were packed";
}

}  // namespace
}  // namespace runwarden::test
