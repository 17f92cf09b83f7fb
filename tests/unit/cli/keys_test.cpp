#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/digest.h"
#include "base/time_text.h"
#include "store/lmdb/store.h"
#include "support/files.h"
#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using Json = nlohmann::json;

struct KeysCommand : testing::Test {
  Program program;
  std::string config = write_config(program);

  Ended keys(std::vector<std::string> args) const {
    args.insert(args.begin(), "keys");
    args.insert(args.end(), {"--config", config});
    return program.run(args);
  }
  Json list() const { return Json::parse(keys({"list", "--json"}).out); }
  std::string data() const { return (program.folder().path() / "data").string(); }
};

TEST_F(KeysCommand, Create_PrintsTheKeyAloneAndMakesTheStore) {
  const Ended made = keys({"create", "--tenant", "acme"});
  EXPECT_EQ(made.code, 0);
  EXPECT_THAT(made.out, MatchesRegex("rw_[0-9a-f]{16}_[0-9a-f]{64}\n"));
  EXPECT_THAT(made.err, HasSubstr("for tenant \"acme\", scopes ingest. It is shown only once"));
  EXPECT_THAT(made.err, testing::Not(HasSubstr(made.out.substr(20, 64)))) << "hints must not repeat the secret";
}

// Closed descriptors are the numbers that the next files get, which are the store's.
TEST_F(KeysCommand, Create_WithClosedDescriptors_LeavesTheStoreWhole) {
  ASSERT_EQ(keys({"create", "--tenant", "acme"}).code, 0);
  const std::vector<std::string> create = {"keys", "create", "--tenant", "acme", "--config", config};
  const Ended unprinted = program.run_without({STDOUT_FILENO}, create);
  EXPECT_EQ(unprinted.code, 1);
  EXPECT_THAT(unprinted.err, HasSubstr("runwarden: the key was not printed; revoke it: runwarden keys revoke key_"));
  EXPECT_EQ(std::filesystem::file_size(data() + "/open.lock"), 0u);
  EXPECT_EQ(program.run_without({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}, create).code, 1);
  EXPECT_EQ(list().size(), 3u);
  const Ended printed = program.run_without({STDIN_FILENO, STDERR_FILENO}, create);
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, MatchesRegex("rw_[0-9a-f]{16}_[0-9a-f]{64}\n"));
  EXPECT_EQ(program.run({"verify", "--config", config}).code, 0);
}

TEST_F(KeysCommand, Create_WhereTheStoreIsAnothers_SaysWhose) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(keys({"create", "--tenant", "acme"}).code, 0);
  std::filesystem::permissions(program.folder().path(), std::filesystem::perms(0755));
  std::filesystem::permissions(data(), std::filesystem::perms(0700));
  constexpr uid_t kNobody = 65534;
  const Ended refused = program.run_as(kNobody, {"keys", "create", "--tenant", "acme", "--data-dir", data()});
  if (refused.code == 127) GTEST_SKIP() << "it may not run the program";
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("runwarden: store: cannot open \"" + data() + "/data.mdb\": user nobody has no permission: \"" +
                                     data() + "\" belongs to root, mode 0700; run this as root, or change the owner\n"));
}

TEST_F(KeysCommand, Create_WhereTheStoresParentIsMissing_NamesIt) {
  const std::string parent = (program.folder().path() / "a").string();
  const Ended refused = keys({"create", "--tenant", "acme", "--data-dir", parent + "/b"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the folder \"" + parent + "\" does not exist; create it, or check the path\n"));
  EXPECT_FALSE(std::filesystem::exists(parent));
}

TEST_F(KeysCommand, Create_SaysWhenTheTenantIsNew) {
  EXPECT_THAT(keys({"create", "--tenant", "acme"}).err, testing::StartsWith("created tenant \"acme\"\nkey_"));
  EXPECT_THAT(keys({"create", "--tenant", "acme"}).err, testing::StartsWith("key_"));
  EXPECT_THAT(keys({"create", "--tenant", "globex"}).err, testing::StartsWith("created tenant \"globex\"\nkey_"));
  EXPECT_THAT(keys({"create", "--tenant", "acmee"}).err, testing::StartsWith("created tenant \"acmee\"; there is also \"acme\"\nkey_"));
}

TEST_F(KeysCommand, Create_KeepsOnlyTheDigest) {
  const Ended made = keys({"create", "--tenant", "acme", "--scopes", "ingest,read"});
  const std::string key = made.out.substr(0, made.out.size() - 1);
  const SystemClock clock;
  store::LmdbSettings settings;
  settings.path = data();
  settings.map_size = 0;
  const auto store = store::open_lmdb(settings, clock);
  ASSERT_TRUE(store.ok()) << store.error().detail;
  const auto records = (*store)->keys();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].digest, sha256(key));
  EXPECT_TRUE(records[0].may_ingest && records[0].may_read);
  EXPECT_EQ(test::read_file(data() + "/data.mdb").find(key.substr(20)), std::string::npos) << "the secret must not stand in the store";
}

TEST_F(KeysCommand, List_ShowsEveryMember) {
  keys({"create", "--tenant", "beta", "--name", "b"});
  keys({"create", "--tenant", "acme", "--name", "ci", "--scopes", "ingest,read", "--expires", "90d"});
  const Json all = list();
  ASSERT_EQ(all.size(), 2u);
  const Json& first = all[0];
  EXPECT_EQ(first.size(), 8u);
  EXPECT_THAT(first.at("id").get<std::string>(), MatchesRegex("key_[0-9a-f]{16}"));
  EXPECT_EQ(first.at("tenant"), "acme");
  EXPECT_EQ(first.at("name"), "ci");
  EXPECT_EQ(first.at("scopes"), Json({"ingest", "read"}));
  const auto created = parse_time(first.at("createdAt").get<std::string>());
  const auto expires = parse_time(first.at("expiresAt").get<std::string>());
  ASSERT_TRUE(created && expires);
  EXPECT_EQ(*expires - *created, 90LL * 86'400'000);
  EXPECT_TRUE(first.at("revokedAt").is_null());
  EXPECT_TRUE(first.at("lastUsedAt").is_null());
  EXPECT_EQ(all[1].at("scopes"), Json({"ingest"}));
  EXPECT_TRUE(all[1].at("expiresAt").is_null());
}

TEST_F(KeysCommand, List_CanBeOfOneTenantAndForReading) {
  keys({"create", "--tenant", "beta"});
  keys({"create", "--tenant", "acme"});
  const Ended table = keys({"list", "--tenant", "acme"});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out,
              MatchesRegex("ID +TENANT +NAME +SCOPES +CREATED +EXPIRES +REVOKED +LAST USED\nkey_[0-9a-f]+ +acme +default +ingest .*\n"));
  const Ended unknown = keys({"list", "--tenant", "nobody", "--json"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.err, "runwarden: no tenant \"nobody\"; `runwarden keys list` shows the tenants that have keys\n");
}

TEST_F(KeysCommand, List_WhereThereIsNoStore_SaysSoAndMakesNone) {
  const Ended ended = keys({"list"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no store at " + data()));
  EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(KeysCommand, Revoke_TakesTheKeyItself_AndDoesNotRepeatIt) {
  const std::string key = keys({"create", "--tenant", "acme"}).out.substr(0, 84);
  const std::string secret = key.substr(20);
  const Ended unknown = keys({"revoke", key.substr(0, 83) + (key.back() == '0' ? '1' : '0')});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.err, "runwarden: no key with this id; runwarden keys list shows the ids of all keys\n");
  const Ended revoked = keys({"revoke", key});
  EXPECT_EQ(revoked.code, 0);
  EXPECT_EQ(revoked.err, "key_" + key.substr(3, 16) + " of tenant \"acme\" is revoked\n");
  EXPECT_TRUE(list()[0].at("revokedAt").is_string());
  const Ended rotated = keys({"rotate", key});
  EXPECT_EQ(rotated.code, 1);
  EXPECT_THAT(rotated.err, testing::Not(HasSubstr(secret)));
}

TEST_F(KeysCommand, Revoke_EndsTheKeyNowAndStaysFineWhenRepeated) {
  keys({"create", "--tenant", "acme"});
  const std::string id = list()[0].at("id");
  EXPECT_EQ(keys({"revoke", id}).code, 0);
  const Json revoked = list()[0].at("revokedAt");
  ASSERT_TRUE(revoked.is_string());
  const Ended again = keys({"revoke", id});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("was already revoked"));
  EXPECT_EQ(list()[0].at("revokedAt"), revoked);
  const Ended unknown = keys({"revoke", "key_0000"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.err, "runwarden: no key \"key_0000\"; runwarden keys list shows the ids of all keys\n");
}

TEST_F(KeysCommand, Rotate_MakesAnEqualKeyAndEndsTheOldOneAfterTheOverlap) {
  keys({"create", "--tenant", "acme", "--name", "ci", "--scopes", "read", "--expires", "10d"});
  const std::string id = list()[0].at("id");
  const Ended rotated = keys({"rotate", id, "--overlap", "2h"});
  EXPECT_EQ(rotated.code, 0);
  EXPECT_THAT(rotated.out, MatchesRegex("rw_[0-9a-f]{16}_[0-9a-f]{64}\n"));
  const Json all = list();
  ASSERT_EQ(all.size(), 2u);
  const Json& old = all[0].at("id") == id ? all[0] : all[1];
  const Json& fresh = all[0].at("id") == id ? all[1] : all[0];
  EXPECT_EQ(fresh.at("id").get<std::string>().substr(4), rotated.out.substr(3, 16));
  EXPECT_EQ(fresh.at("tenant"), "acme");
  EXPECT_EQ(fresh.at("name"), "ci");
  EXPECT_EQ(fresh.at("scopes"), Json({"read"}));
  const auto time = [](const Json& text) { return parse_time(text.get<std::string>()).value_or(0); };
  EXPECT_EQ(time(fresh.at("expiresAt")) - time(fresh.at("createdAt")), 10LL * 86'400'000);
  EXPECT_EQ(time(old.at("revokedAt")) - time(fresh.at("createdAt")), 7'200'000);
}

TEST_F(KeysCommand, Rotate_OfAKeyThatExpiresWithinTheOverlap_SaysWhenItReallyEnds) {
  keys({"create", "--tenant", "acme", "--expires", "1h"});
  const Json old = list()[0];
  const std::string expires = old.at("expiresAt");
  const Ended rotated = keys({"rotate", old.at("id"), "--overlap", "24h"});
  EXPECT_EQ(rotated.code, 0);
  EXPECT_THAT(rotated.err, testing::EndsWith(old.at("id").get<std::string>() + " ends at " + expires + "\n"));
  const Json all = list();
  EXPECT_EQ((all[0].at("id") == old.at("id") ? all[0] : all[1]).at("revokedAt"), expires);
}

TEST_F(KeysCommand, Rotate_WithoutOverlap_EndsTheOldKeyAtOnceAndItCannotBeRotatedAgain) {
  keys({"create", "--tenant", "acme"});
  const std::string id = list()[0].at("id");
  EXPECT_EQ(keys({"rotate", id, "--overlap", "0s"}).code, 0);
  const Ended again = keys({"rotate", id});
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(again.err, HasSubstr("has ended (revoked); create a new one: runwarden keys create --tenant acme"));
}

TEST_F(KeysCommand, DataDir_TakesThePlaceOfTheStorePathBeforeOrAfterTheCommand) {
  const std::string elsewhere = (program.folder().path() / "elsewhere").string();
  EXPECT_EQ(program.run({"--config", config, "--data-dir", elsewhere, "keys", "create", "--tenant", "t"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(elsewhere + "/data.mdb"));
  EXPECT_FALSE(std::filesystem::exists(data()));
  const Ended after = program.run({"keys", "list", "--json", "--data-dir", elsewhere}, {}, {"RUNWARDEN_CONFIG=" + config});
  EXPECT_EQ(Json::parse(after.out).size(), 1u) << after.err;
}

TEST_F(KeysCommand, Create_WhenTheKeyCannotBePrinted_SaysWhichToRevoke) {
  const Ended ended = program.run_unread({"keys", "create", "--tenant", "t", "--config", config}, "");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("the key was not printed; revoke it: runwarden keys revoke key_"));
}

}  // namespace
}  // namespace runwarden::cli
