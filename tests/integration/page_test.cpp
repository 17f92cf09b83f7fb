#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

const std::vector<std::string> kSafety = {"content-security-policy", "x-content-type-options", "referrer-policy",
                                          "cross-origin-opener-policy", "cross-origin-resource-policy"};

HttpAnswer login(const ServiceProcess& service, const std::string& body, const std::string& fields = {}) {
  return service.request(post_request("/v1/session", body, fields));
}

std::string key_body(const std::string& key) {
  return json{{"key", key}}.dump();
}

// A browser that is logged in.
struct LoggedIn {
  LoggedIn(const ServiceProcess& service, const std::string& key) {
    const HttpAnswer answer = login(service, key_body(key));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const std::string cookie = answer.header("set-cookie");
    sealed = cookie.substr(0, cookie.find(';'));
    csrf = json::parse(answer.body).value("csrf", "");
  }
  std::string fields() const { return "Cookie: other=1; " + sealed + "; more=2\r\n"; }
  std::string with_csrf() const { return fields() + "X-CSRF-Token: " + csrf + "\r\n"; }

  std::string sealed;  // rw_session=...
  std::string csrf;
};

class PageFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() { service_ = new ServiceProcess; }
  static void TearDownTestSuite() { delete service_; }
  static HttpAnswer get(const std::string& path, const std::string& fields = {}) { return service_->request(get_request(path, fields)); }

  static inline ServiceProcess* service_ = nullptr;
};

TEST_F(PageFiles, TheRootLeadsToThePage) {
  for (const std::string path : {"/", "/ui"}) {
    const HttpAnswer root = get(path);
    EXPECT_EQ(root.status, 302) << path;
    EXPECT_EQ(root.header("location"), "/ui/");
  }
}

TEST_F(PageFiles, EveryAddressOfThePage_IsItsDocument) {
  const std::string index = get("/ui/").body;
  EXPECT_NE(index.find("/ui/assets/main.js"), std::string::npos);
  for (const std::string path : {"/ui/groups/cl_1?window=7d", "/ui/runs/a%20b", "/ui/login?next=/ui/runs", "/ui/a/b/c/", "/ui/assets/a/b",
                                 "/ui/groups?q=%00", "/ui/groups?q=%zz", "/ui/groups?q=a&q=b", "/ui/runs/%00"}) {
    const HttpAnswer answer = get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.body, index) << path;
    EXPECT_EQ(answer.header("content-type"), "text/html; charset=utf-8");
  }
}

TEST_F(PageFiles, AllOfThem_HaveTheHeadersThatKeepBrowsersSafe) {
  for (const std::string path : {"/", "/ui/", "/ui/assets/main.js", "/ui/assets/page.css", "/ui/assets/icon.svg", "/ui/assets/none.js"}) {
    const HttpAnswer answer = get(path);
    for (const std::string& name : kSafety) EXPECT_FALSE(answer.header(name).empty()) << path << ": " << name;
    EXPECT_EQ(answer.header("content-security-policy"),
              "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; object-src 'none'; base-uri "
              "'none'; form-action "
              "'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
  }
}

TEST_F(PageFiles, AFileThatIsKnown_IsNotSentAgain) {
  const HttpAnswer first = get("/ui/assets/main.js");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("content-type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(first.header("cache-control"), "no-cache");
  const std::string etag = first.header("etag");
  ASSERT_GT(etag.size(), 10u);
  for (const std::string& known : {etag, "\"a\", W/" + etag, std::string("*")}) {
    const HttpAnswer again = get("/ui/assets/main.js", "If-None-Match: " + known + "\r\n");
    EXPECT_EQ(again.status, 304) << known;
    EXPECT_EQ(again.header("etag"), etag);
    EXPECT_FALSE(again.header("content-security-policy").empty());
  }
  EXPECT_EQ(get("/ui/assets/main.js", "If-None-Match: \"other\"\r\n").status, 200);
  EXPECT_NE(get("/ui/assets/api.js").header("etag"), etag);
}

TEST_F(PageFiles, OfWhatIsNotThere_404_AndOnlyGetAndHeadAreTaken) {
  EXPECT_EQ(get("/ui/assets/none.js").status, 404);
  EXPECT_EQ(get("/ui/assets/..%2Fmain.js").status, 404);
  const HttpAnswer posted = service_->request(post_request("/ui/", "{}"));
  EXPECT_EQ(posted.status, 405);
  EXPECT_EQ(posted.header("allow"), "GET, HEAD");
}

TEST_F(PageFiles, NothingInThem_RunsInline_OrComesFromElsewhere) {
  const std::string index = get("/ui/").body;
  for (std::size_t at = 0; (at = index.find("/ui/assets/", at)) != std::string::npos; ++at) {
    const auto end = index.find('"', at);
    EXPECT_EQ(get(index.substr(at, end - at)).status, 200) << index.substr(at, end - at);
  }
  for (const std::string name :
       {"page.css", "icon.svg", "main.js", "api.js", "charts.js", "dom.js", "format.js", "frame.js", "opinion.js", "view_baseline.js",
        "view_candidates.js", "view_changes.js", "view_detectors.js", "view_group.js", "view_groups.js", "view_login.js", "view_run.js",
        "view_runs.js"}) {
    const HttpAnswer file = get("/ui/assets/" + name);
    ASSERT_EQ(file.status, 200) << name;
    for (const std::string_view bad :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "style=", "setAttribute(\"on"}) {
      EXPECT_EQ(file.body.find(bad), std::string::npos) << name << ": " << bad;
    }
    if (name != "icon.svg" && name != "dom.js" && name != "charts.js") {
      EXPECT_EQ(file.body.find("http://"), std::string::npos) << name;
    }
    EXPECT_EQ(file.body.find("https://"), std::string::npos) << name;
  }
  EXPECT_EQ(index.find("<style"), std::string::npos);
  EXPECT_EQ(index.find(" on"), std::string::npos) << "no handler";
}

TEST_F(PageFiles, TheFirstLoad_IsSmall) {
  const std::string index = get("/ui/").body;
  std::size_t bytes = index.size();
  std::vector<std::string> names{"view_groups.js"};
  const auto add_names = [&names](const std::string& text, const std::string& before) {
    for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos; ++at) {
      const std::size_t begin = at + before.size();
      std::string name = text.substr(begin, text.find('"', begin) - begin);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  };
  add_names(index, "/ui/assets/");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const HttpAnswer file = get("/ui/assets/" + names[i]);
    ASSERT_EQ(file.status, 200) << names[i];
    bytes += file.body.size();
    add_names(file.body, "from \"./");
  }
  EXPECT_GE(names.size(), 9u);
  EXPECT_LT(bytes, 100u * 1024);
}

TEST(PageOff, AllOfItIs404) {
  ServiceProcess service({.yaml = {}, .server = "page: false", .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  const std::string key = service.make_key();
  for (const std::string path : {"/", "/ui", "/ui/", "/ui/assets/main.js", "/ui/groups", "/v1/session"}) {
    EXPECT_EQ(service.get(path, key).status, 404) << path;
  }
  EXPECT_EQ(login(service, key_body(key)).status, 404);
  EXPECT_EQ(service.get("/v1/runs", key).status, 200);
  EXPECT_FALSE(std::filesystem::exists(service.folder() / "data" / "session.secret"));
}

TEST(PageAtTwoAddresses, StandsAtTheOneForKeys) {
  ServiceProcess service(
      {.yaml = {}, .server = "ops_address: \"127.0.0.1:0\"", .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  EXPECT_EQ(service.request(get_request("/ui/")).status, 200);
}

class SessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service_ = new ServiceProcess;
    key_ = service_->make_key("acme");
  }
  static void TearDownTestSuite() { delete service_; }
  static HttpAnswer get(const std::string& path, const std::string& fields) { return service_->request(get_request(path, fields)); }
  static HttpAnswer remove(const std::string& fields) {
    return service_->request("DELETE /v1/session HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n");
  }

  static inline ServiceProcess* service_ = nullptr;
  static inline std::string key_;
};

TEST_F(SessionTest, AKeyBecomesACookie_ThatStandsForIt) {
  const HttpAnswer answer = login(*service_, key_body(key_));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json told = json::parse(answer.body);
  EXPECT_EQ(told["tenant"], "acme");
  EXPECT_EQ(told["scopes"], json::array({"ingest", "read"}));
  EXPECT_TRUE(told.contains("keyName") && told.contains("expiresAt"));
  EXPECT_EQ(answer.header("cache-control"), "no-store");
  const std::string cookie = answer.header("set-cookie");
  EXPECT_EQ(cookie.substr(0, 11), "rw_session=");
  EXPECT_EQ(cookie.substr(cookie.find(';')), "; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200");
  EXPECT_EQ(cookie.find(key_), std::string::npos);
  const LoggedIn browser(*service_, key_);
  EXPECT_EQ(get("/v1/runs", browser.fields()).status, 200);
  const HttpAnswer again = get("/v1/session", browser.fields());
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(json::parse(again.body)["csrf"], browser.csrf);
  EXPECT_EQ(get("/v1/session", "").status, 401);
  EXPECT_EQ(get("/v1/session", "Authorization: Bearer " + key_ + "\r\n").status, 401) << "a key is no session";
}

TEST_F(SessionTest, ByHttps_AsATrustedProxySays_TheCookieIsSecure) {
  ServiceProcess behind(
      {.yaml = {}, .server = "trusted_proxies: [127.0.0.1]", .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  const std::string key = behind.make_key();
  const std::string https = "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n";
  EXPECT_NE(login(behind, key_body(key), https).header("set-cookie").find("; Secure"), std::string::npos);
  EXPECT_EQ(login(behind, key_body(key), "X-Forwarded-Proto: http\r\n").header("set-cookie").find("; Secure"), std::string::npos);
  EXPECT_EQ(login(*service_, key_body(key_), https).header("set-cookie").find("; Secure"), std::string::npos) << "anybody can say so";
}

TEST_F(SessionTest, AWrongKey_AndOneThatMayNotRead_GetNoCookie) {
  ServiceProcess service;
  const std::string ingest_only = service.make_key("acme", "ingest");
  const std::string unknown = "rw_0000000000000000_" + std::string(64, '0');
  for (const auto& [body, status] : std::vector<std::pair<std::string, int>>{{key_body(unknown), 401},
                                                                             {key_body("a b"), 401},
                                                                             {key_body(""), 401},
                                                                             {key_body(ingest_only), 403},
                                                                             {"{", 400},
                                                                             {R"({"key":"a","key":"b"})", 400},
                                                                             {"[]", 422},
                                                                             {"{}", 422},
                                                                             {R"({"key":7})", 422},
                                                                             {key_body(std::string(5000, 'x')), 413}}) {
    const HttpAnswer refused = login(service, body);
    EXPECT_EQ(refused.status, status) << body.substr(0, 60) << ": " << refused.body;
    EXPECT_EQ(refused.header("set-cookie"), "");
  }
  EXPECT_EQ(service.request("POST /v1/session HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}").status,
            415);
}

TEST_F(SessionTest, TenFailedTriesOfAnAddress_AreTheLastForAWhile) {
  ServiceProcess service(
      {.yaml = {}, .server = "trusted_proxies: [127.0.0.1]", .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  const std::string key = service.make_key();
  const std::string here = "X-Forwarded-For: 192.0.2.7\r\n";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(login(service, key_body("rw_wrong"), here).status, 401) << i;
  const HttpAnswer locked = login(service, key_body(key), here);
  EXPECT_EQ(locked.status, 429) << "the right key as well";
  EXPECT_GT(std::atoi(locked.header("retry-after").c_str()), 0);
  EXPECT_EQ(login(service, key_body(key), "X-Forwarded-For: 192.0.2.8\r\n").status, 200) << "another address";
}

TEST_F(SessionTest, AnotherSite_BeginsNone) {
  for (const std::string fields : {"Origin: http://evil.example\r\n", "Origin: null\r\n", "Origin: http://test.evil.example\r\n",
                                   "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n"}) {
    const HttpAnswer refused = login(*service_, key_body(key_), fields);
    EXPECT_EQ(refused.status, 403) << fields;
    EXPECT_EQ(json::parse(refused.body)["title"], "The request is not allowed") << "the key may have every scope";
    EXPECT_EQ(refused.header("set-cookie"), "");
  }
  for (const std::string fields : {"Origin: http://test\r\nSec-Fetch-Site: same-origin\r\n", "Origin: https://test:8443\r\n",
                                   "Origin: HTTP://TEST:80\r\n", "Sec-Fetch-Site: none\r\n"}) {
    EXPECT_EQ(login(*service_, key_body(key_), fields).status, 200) << fields;
  }
}

TEST_F(SessionTest, WhatChangesSomething_NeedsTheToken) {
  const LoggedIn browser(*service_, key_);
  const LoggedIn other(*service_, key_);
  const auto analyze = [](const std::string& fields) { return service_->request(post_request("/v1/analyze", "{}", fields)); };
  EXPECT_EQ(analyze(browser.fields()).status, 403);
  EXPECT_EQ(json::parse(analyze(browser.fields()).body)["code"], "forbidden");
  EXPECT_EQ(analyze(browser.fields() + "X-CSRF-Token: " + other.csrf + "\r\n").status, 403) << "another session's";
  EXPECT_EQ(analyze(browser.fields() + "X-CSRF-Token: \r\n").status, 403);
  EXPECT_EQ(analyze(browser.with_csrf()).status, 200);
  EXPECT_EQ(service_->request(post_request("/v1/ingest/runs", "{}", browser.with_csrf())).status, 201) << "with the scopes of its key";
  EXPECT_EQ(remove(browser.fields()).status, 403);
}

TEST_F(SessionTest, WithAnAuthorization_ThatOneCounts) {
  const LoggedIn browser(*service_, key_);
  const std::string ingest_only = service_->make_key("acme", "ingest");
  EXPECT_EQ(get("/v1/runs", browser.fields() + "Authorization: Bearer " + ingest_only + "\r\n").status, 403);
  EXPECT_EQ(get("/v1/runs", browser.fields() + "Authorization: Bearer rw_wrong\r\n").status, 401);
  EXPECT_EQ(service_->request(post_request("/v1/analyze", "{}", browser.fields() + "Authorization: Bearer " + key_ + "\r\n")).status, 200)
      << "a key needs no token";
}

TEST_F(SessionTest, AForgedOne_AndOneOfAnotherService_AreNone) {
  const LoggedIn browser(*service_, key_);
  std::string forged = browser.sealed;
  forged.back() = forged.back() == '0' ? '1' : '0';
  for (const std::string& cookie : {forged, std::string("rw_session="), std::string("rw_session"), browser.sealed + "x"}) {
    EXPECT_EQ(get("/v1/runs", "Cookie: " + cookie + "\r\n").status, 401) << cookie;
  }
  EXPECT_EQ(get("/v1/runs", "Cookie: " + forged + "; " + browser.sealed + "\r\n").status, 200)
      << "a neighbor's cookie of that name does no harm";
  ServiceProcess elsewhere;
  elsewhere.make_key();
  EXPECT_EQ(elsewhere.request(get_request("/v1/runs", browser.fields())).status, 401);
}

TEST_F(SessionTest, EachSeesItsOwnTenantOnly) {
  ASSERT_EQ(service_->post("/v1/ingest/runs", key_, R"({"runId":"mine"})").status, 201);
  const LoggedIn stranger(*service_, service_->make_key("globex"));
  EXPECT_EQ(get("/v1/runs/mine", stranger.fields()).status, 404);
  EXPECT_EQ(get("/v1/runs/mine", LoggedIn(*service_, key_).fields()).status, 200);
}

TEST_F(SessionTest, Ended_ItIsRefused_AfterARestartToo) {
  const LoggedIn browser(*service_, key_);
  const LoggedIn other(*service_, key_);
  const HttpAnswer ended = remove(browser.with_csrf());
  EXPECT_EQ(ended.status, 204);
  EXPECT_EQ(ended.header("set-cookie"), "rw_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(get("/v1/runs", browser.fields()).status, 401) << start;
    EXPECT_EQ(get("/v1/session", browser.fields()).status, 401) << start;
    EXPECT_EQ(get("/v1/runs", other.fields()).status, 200) << start;
    service_->kill_hard();
    service_->start();
  }
}

TEST_F(SessionTest, ARevokedKey_EndsItsSessionsAtOnce) {
  const std::string key = service_->make_key("acme", "read");
  const LoggedIn browser(*service_, key);
  EXPECT_EQ(get("/v1/runs", browser.fields()).status, 200);
  const std::string id = "key_" + key.substr(3, 16);
  ASSERT_EQ(service_->cli({"keys", "revoke", id}).exit_code, 0);
  EXPECT_EQ(get("/v1/runs", browser.fields()).status, 401);
  EXPECT_EQ(get("/v1/session", browser.fields()).status, 401);
}

}  // namespace
}  // namespace runwarden::test
