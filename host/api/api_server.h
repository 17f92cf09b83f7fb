// The HTTP API of a service: its HTTP servers, and what requests need besides the steps that process them. One server serves all
// endpoints, or a second one serves those without a key at an address of their own.
//
// One thread makes, starts, changes and drains it; the other functions may be called from any thread.
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
#include "http/server.h"
#include "opinion/worker.h"
#include "ops/housekeeping.h"
#include "ops/store_reports.h"
#include "store/store.h"

namespace runwarden::api {

// Limits that can change while it serves.
struct RequestLimits {
  std::uint64_t max_body_bytes = 0;
  std::uint64_t max_batch_bytes = 0;
  std::uint64_t max_batch_runs = 0;
  std::uint64_t otlp_max_body_bytes = 0;
  std::uint64_t max_reply_bytes = 0;  // of answers to reads
  int max_json_depth = 64;
  auth::Rate rate;  // per tenant
};

struct ApiSettings {
  RequestLimits limits;
  http::ServerSettings server;
  std::optional<http::ServerSettings> ops_server;    // for the endpoints without a key; empty: `server` serves them
  std::optional<std::filesystem::path> page_folder;  // for the web page's sessions; empty: no page
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
    const opinion::Worker* second_opinion;  // null: no model is used
  };

  static Result<std::unique_ptr<ApiServer>> make(const Parts& parts, ApiSettings settings);

  // After an error, call drain() too: some requests may already have been answered.
  Status listen();
  void drain();

  void change(const RequestLimits& limits);
  Readiness readiness() const { return readiness_.now(); }
  // The counts of the server that accepts runs. Call after listen().
  http::ServerCounts counts() const { return server_->counts(); }
  // Call after listen().
  bool workers_alive(std::int64_t within_ms) const;
  // Makes the writer store the times when keys were last used.
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
  std::unique_ptr<PageParts> page_;  // null: no page
  ApiParts parts_;
  Api api_;
  Api ops_api_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> ops_server_;
  // The same servers for use by requests, which may arrive before listen() returns.
  std::atomic<const http::Server*> counted_server_{nullptr};
  std::atomic<const http::Server*> counted_ops_server_{nullptr};
};

}  // namespace runwarden::api
