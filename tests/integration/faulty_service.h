// A service with a library of faults before its own, which a file commands, and what webhook tests ask of it. One owner, one thread, but
// for command().
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/preloaded.h"
#include "support/service_process.h"
#include "support/temp_folder.h"

namespace runwarden::test {

class FaultyService {
 public:
  FaultyService(const std::string& library, const std::string& variable, const std::string& webhooks)
      : service_(options(library, variable, webhooks)), key_(service_.make_key("acme", "ingest,read,manage")) {}

  void command(const std::string& text) const {  // whole at once: the service reads it at any moment
    std::ofstream(file() + ".new") << text;
    std::filesystem::rename(file() + ".new", file());
  }
  void command_nothing() const { std::filesystem::remove(file()); }

  ServiceProcess& process() { return service_; }
  HttpAnswer post(const std::string& path, const nlohmann::json& body) { return service_.post(path, key_, body.dump()); }
  HttpAnswer post_lines(const std::string& path, const std::string& lines) {
    return service_.request("POST " + path + " HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                            key_ + "\r\nContent-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines);
  }
  nlohmann::json get(const std::string& path) {
    const HttpAnswer answer = service_.get(path, key_);
    return answer.status == 200 ? nlohmann::json::parse(answer.body) : nlohmann::json();
  }
  // Of a list, over all of its pages.
  std::vector<nlohmann::json> all(const std::string& path) {
    std::vector<nlohmann::json> items;
    for (std::string cursor;;) {
      const nlohmann::json page = get(path + "?limit=200" + cursor);
      if (page.is_null()) return items;
      items.insert(items.end(), page["items"].begin(), page["items"].end());
      if (page["nextCursor"].is_null()) return items;
      cursor = "&cursor=" + page["nextCursor"].get<std::string>();
    }
  }

 private:
  std::string file() const { return folder_.path() / "command"; }
  ServiceProcess::Options options(const std::string& library, const std::string& variable, const std::string& webhooks) const {
    ServiceProcess::Options options;
    options.yaml = "webhooks: {allow_http: true, timeout: 5s, " + webhooks + "}\n";
    options.environment = preloaded(library, {{variable, file()}});
    return options;
  }

  TempFolder folder_;
  ServiceProcess service_;
  std::string key_;
};

// A run in which false_success finds a failure, in a group of its own.
inline nlohmann::json false_success(const std::string& run_id) {
  return {{"runId", run_id},
          {"userRequestText", "Refund " + run_id},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"steps",
           {{{"stepKind", "tool"}, {"stepName", "issue_refund " + run_id}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
}

// Of failure.created: the digits of the failure's id.
inline std::string message_id(const nlohmann::json& failure) {
  return "msg_" + failure["failureId"].get<std::string>().substr(5);
}

}  // namespace runwarden::test
