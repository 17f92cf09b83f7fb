// A store whose file is damaged, cut or gone: what is still there is served, and what is not is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_THAT(exported.err, HasSubstr("records skipped because they could not be read: 1."));
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

TEST_F(Damaged, FileThatIsGoneOrEmptyOrCutOff_IsRefusedWithTheRemedy_AndBegunAnewWhenAsked) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, json{{"runId", "kept"}}.dump()).status, 201);
  ASSERT_EQ(service_.stop(), 0);
  const std::string whole = bytes_of(data());
  ASSERT_GT(whole.size(), 8 * 4096u);
  for (const std::size_t left : {std::size_t{0}, std::size_t{0}, whole.size() / 2}) {
    fs::remove(data());
    if (left > 0) std::ofstream(data(), std::ios::binary) << whole.substr(0, left);
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"serve"}, {"verify"}, {"keys", "create", "--tenant", "acme"}, {"keys", "list"}, {"export", "--tenant", "acme"}, {"import"}}) {
      const CommandResult refused = service_.cli(command);
      EXPECT_EQ(refused.exit_code, 1) << command[0];
      EXPECT_EQ(refused.out, "") << command[0];
      EXPECT_THAT(refused.err, HasSubstr("restore a backup, or start an empty store with `runwarden serve --new-store`")) << command[0];
    }
    EXPECT_EQ(fs::exists(data()) ? fs::file_size(data()) : 0, left) << "it is left alone";
  }
  service_.start({"--new-store"});
  EXPECT_TRUE(service_.wait_for_log("new_store"));
  key_ = service_.make_key();
  EXPECT_EQ(service_.get("/v1/runs/kept", key_).status, 404);
  EXPECT_EQ(service_.post("/v1/ingest/runs", key_, json{{"runId", "new"}}.dump()).status, 201);
  ASSERT_EQ(service_.stop(), 0);
  service_.start({"--new-store"});
  EXPECT_EQ(service_.get("/v1/runs/new", key_).status, 200) << "a store that can be opened is never begun anew";
}

TEST_F(Damaged, PagesOfATable_EndRequestsWithANamedErrorAndNotTheProcess) {
  const std::string globex = service_.make_key("globex");
  for (int i = 0; i < 400; ++i) {
    const json run{{"runId", "r" + std::to_string(i)}, {"outcomeSummary", std::string(300, 'x') + "needle"}};
    ASSERT_EQ(service_.post("/v1/ingest/runs", key_, run.dump()).status, 201);
  }
  ASSERT_EQ(service_.stop(), 0);
  const std::string whole = bytes_of(data());
  int damaged = 0;
  for (std::size_t page = 2 * 4096; page < whole.size(); page += 4096) {
    const std::size_t upper = static_cast<std::uint8_t>(whole[page + 14]) + 256u * static_cast<std::uint8_t>(whole[page + 15]);
    const std::string_view entries = std::string_view(whole).substr(page, 4096).substr(std::min<std::size_t>(upper, 4096));
    if (entries.find("needle") == std::string_view::npos) continue;  // what stands before them is not in use
    overwrite(data(), page, std::string(4096, '\xff'));
    ++damaged;
  }
  ASSERT_GT(damaged, 10);
  service_.start();
  const HttpAnswer list = service_.get("/v1/runs", key_);
  EXPECT_EQ(list.status, 500);
  EXPECT_THAT(json::parse(list.body)["detail"].get<std::string>(), HasSubstr("is damaged"));
  EXPECT_THAT(json::parse(list.body)["detail"].get<std::string>(), HasSubstr("restore a backup"));
  const HttpAnswer refused = service_.post("/v1/ingest/runs", key_, json{{"runId", "one-more"}}.dump());
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_THAT(json::parse(refused.body)["detail"].get<std::string>(), HasSubstr("is damaged"));
  EXPECT_EQ(service_.get("/v1/changes", globex).status, 200);
  const HttpAnswer change = service_.post("/v1/ingest/changes", globex, json{{"kind", "code"}, {"ref", "1"}}.dump());
  EXPECT_EQ(change.status, 201) << change.body;
  EXPECT_TRUE(service_.wait_for_log("store_damaged"));
  EXPECT_THAT(service_.get("/readyz", "").body, HasSubstr(R"("name":"store_damaged")"));
  EXPECT_GT(metric(service_, "runwarden_store_unreadable_records_total"), 0);
  EXPECT_EQ(service_.get("/healthz", "").status, 200);
  const CommandResult verified = service_.cli({"verify", "--json"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.out, HasSubstr("one of its pages is damaged"));
  EXPECT_EQ(service_.stop(), 0);
  service_.start();
  EXPECT_EQ(service_.get("/healthz", "").status, 200);
}

TEST_F(Damaged, FileThatIsCutOffWhileServed_EndsRequestsAndNotTheProcess) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(service_.post("/v1/ingest/runs", key_, json{{"runId", "r" + std::to_string(i)}}.dump()).status, 201);
  }
  fs::resize_file(data(), 3 * 4096);
  for (int i = 0; i < 3; ++i) {
    const HttpAnswer list = service_.get("/v1/runs", key_);
    EXPECT_EQ(list.status, 503) << list.body;
    EXPECT_EQ(list.header("retry-after"), "30");
    EXPECT_THAT(list.body, HasSubstr("is damaged: data.mdb was truncated while open"));
  }
  const HttpAnswer refused = service_.post("/v1/ingest/runs", key_, json{{"runId", "one-more"}}.dump());
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(refused.header("retry-after"), "30");
  const HttpAnswer ready = service_.get("/readyz", "");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.header("retry-after"), "30");
  EXPECT_EQ(service_.get("/healthz", "").status, 200);
  EXPECT_TRUE(service_.running());
}

TEST_F(Damaged, FileThatIsDeletedWhileServed_TakesNoRunThatARestartWouldNotFind) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, json{{"runId", "before"}}.dump()).status, 201);
  ASSERT_EQ(service_.get("/readyz", "").status, 200);
  fs::remove(data());
  const HttpAnswer refused = service_.post("/v1/ingest/runs", key_, json{{"runId", "after"}}.dump());
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("data.mdb was deleted, moved or replaced while open"));
  EXPECT_THAT(refused.body, HasSubstr("put the file back or restore a backup"));
  const HttpAnswer ready = service_.get("/readyz", "");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr(R"("name":"store_damaged")"));
  EXPECT_TRUE(service_.wait_for_log("store_damaged"));
  EXPECT_EQ(service_.get("/v1/runs/before", key_).status, 200) << "what is open can still be read";
  EXPECT_EQ(service_.get("/healthz", "").status, 200);
}

TEST_F(Damaged, FileThatIsReplacedWhileServed_TurnsReadinessOffWithoutAnyRequest) {
  const fs::path copy = data().parent_path() / "copy.mdb";
  ASSERT_EQ(service_.get("/readyz", "").status, 200);
  fs::copy_file(data(), copy);
  fs::rename(copy, data());
  const HttpAnswer ready = service_.get("/readyz", "");
  EXPECT_EQ(ready.status, 503) << ready.body;
  EXPECT_THAT(ready.body, HasSubstr("data.mdb was deleted, moved or replaced while open"));
}

TEST_F(Damaged, FileThatIsCutOffWhileServed_DoesNotEndTheProcessAtItsHousekeeping) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, json{{"runId", "one"}}.dump()).status, 201);
  fs::resize_file(data(), 3 * 4096);
  EXPECT_EQ(service_.get("/v1/runs", key_).status, 503);
  EXPECT_TRUE(service_.wait_for_log("groups_not_built", 30'000)) << service_.log_text();
  EXPECT_EQ(service_.get("/healthz", "").status, 200);
}

}  // namespace
}  // namespace runwarden::test
