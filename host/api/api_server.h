// The HTTP API of a service: what requests need beside the steps that they go to, and the servers that hand them in. There is one for all
// endpoints or, where those without a key have an address of their own, two.
//
// One thread makes, starts, changes and drains it; the rest is for any.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "api/api.h"
#include "api/request_budgets.h"
#include "base/clock_guard.h"
#include "detect/crash_marks.h"
#include "opinion/worker.h"
#include "ops/housekeeping.h"
#include "ops/store_reports.h"
#include "store/store.h"

namespace runwarden::api {

// What can be changed while it serves.
struct RequestLimits {
  std::uint64_t max_body_bytes = 0;
  std::uint64_t max_batch_bytes = 0;
  std::uint64_t max_batch_runs = 0;
  std::uint64_t otlp_max_body_bytes = 0;
  std::uint64_t max_reply_bytes = 0;  // of answers to reads
  int max_json_depth = 64;
  auth::Rate rate;  // of a tenant
};

struct ApiSettings {
  RequestLimits limits;
  http::ServerSettings server;
  std::optional<http::ServerSettings> ops_server;    // of the endpoints without a key; nothing: `server` has them
  std::optional<std::filesystem::path> page_folder;  // where the web page's sessions are kept; nothing: there is no page
};

class ApiServer {
 public:
  // All of it outlives the server.
  struct Parts {
    store::Store& store;
    store::WriteQueue& queue;
    WorkPool& pool;
    const ClockGuard& clock;
    ops::Log& log;
    ops::Metrics& metrics;
    ops::StoreReports& reports;
    ingest::Ingest& ingest;
    ingest::Detectors detectors;
    const ingest::Redaction& redaction;
    const model::SpanMapping& mapping;
    RequestBudgets& requests;
    ReplyBudgets& replies;
    webhooks::Dispatcher& dispatcher;
    ops::Canary& canary;
    const ops::Housekeeping& housekeeping;
    const detect::CrashMarks& crash_marks;
    const opinion::Worker* second_opinion;  // null: no model is asked
  };

  static Result<std::unique_ptr<ApiServer>> make(const Parts& parts, ApiSettings settings);

  // After an error some may be answered already: drain it all the same.
  Status listen();
  void drain();

  void change(const RequestLimits& limits);
  Readiness readiness() const { return readiness_.now(); }
  // After listen(); of the server that takes runs.
  http::ServerCounts counts() const { return server_->counts(); }
  // After listen().
  bool workers_alive(std::int64_t within_ms) const;
  // Has the writer store when keys were last used.
  void save_key_use();

 private:
  ApiServer(const Parts& parts, ApiSettings settings, std::unique_ptr<PageParts> page, const std::string& cursor_secret);
  Result<std::unique_ptr<http::Server>> start_server(const http::ServerSettings& settings, Api& api, std::string_view event);
  ops::Gauges gauges() const;

  Parts from_;
  const ApiSettings settings_;
  ApiLimits limits_;
  auth::KeyRing keys_;
  auth::RateLimiter rates_;
  ReadinessCheck readiness_;
  Reads reads_;
  std::unique_ptr<PageParts> page_;  // null: there is no page
  ApiParts parts_;
  Api api_;
  Api ops_api_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> ops_server_;
  // The same for requests, which begin to come before listen() has returned.
  std::atomic<const http::Server*> counted_server_{nullptr};
  std::atomic<const http::Server*> counted_ops_server_{nullptr};
};

}  // namespace runwarden::api
