#include "api/api_server.h"

#include <utility>

#include "api/gauges.h"
#include "store/open_store.h"

namespace runwarden::api {
namespace {

auth::KeySource key_source(store::KeyStore& store) {
  return {[&store] { return store.keys(); }, [&store] { return store.keys_version(); }, [&store] { return store.look_for_keys(); }};
}

Result<std::unique_ptr<PageParts>> make_page(const ApiServer::Parts& parts, const std::filesystem::path& folder) {
  auto secret = parts.store.secret("session");
  if (!secret.ok()) return std::move(secret.error());
  auto sessions = auth::Sessions::open(std::move(*secret), folder / store::kEndedSessions, parts.clock);
  if (!sessions.ok()) return std::move(sessions.error());
  return std::unique_ptr<PageParts>(new PageParts{std::move(*sessions), auth::FailedTries(parts.clock)});
}

}  // namespace

Result<std::unique_ptr<ApiServer>> ApiServer::make(const Parts& parts, ApiSettings settings) {
  std::unique_ptr<PageParts> page;
  if (settings.page_folder) {
    auto made = make_page(parts, *settings.page_folder);
    if (!made.ok()) return std::move(made.error());
    page = std::move(*made);
  }
  auto secret = parts.store.secret("cursor");
  if (!secret.ok()) return std::move(secret.error());
  return std::unique_ptr<ApiServer>(new ApiServer(parts, std::move(settings), std::move(page), *secret));
}

ApiServer::ApiServer(const Parts& parts, ApiSettings settings, std::unique_ptr<PageParts> page, const std::string& cursor_secret)
    : from_(parts),
      settings_(std::move(settings)),
      keys_(key_source(from_.store), from_.clock),
      rates_(settings_.limits.rate, from_.clock, [&store = from_.store] { return store.hosts(); }),
      readiness_(from_.store, from_.detectors, from_.housekeeping.clock(), from_.canary, from_.second_opinion),
      reads_({from_.store, from_.store.groups(), from_.store.reviews(), from_.store.ledger(), from_.store.opinions()},
             auth::CursorSeal(cursor_secret), from_.clock, from_.detectors, from_.replies.reads, from_.mapping,
             [&reports = from_.reports](const std::string& text) { reports.unreadable(text); }),
      page_(std::move(page)),
      parts_{.keys = keys_,
             .rates = rates_,
             .ingest = from_.ingest,
             .detectors = from_.detectors,
             .redaction = from_.redaction,
             .reads = reads_,
             .pool = from_.pool,
             .in_flight = from_.requests.in_flight,
             .results = from_.requests.results,
             .replies = from_.replies,
             .metrics = from_.metrics,
             .log = from_.log,
             .clock = from_.clock,
             .limits = limits_,
             .readiness = readiness_,
             .gauges = [this] { return gauges(); },
             .webhooks = {from_.store.webhooks(), from_.queue, from_.dispatcher, auth::CursorSeal(cursor_secret)},
             .page = page_.get()},
      api_(parts_, settings_.ops_server ? Api::Serves::keyed : Api::Serves::all),
      ops_api_(parts_, Api::Serves::open) {
  change(settings_.limits);
}

void ApiServer::change(const RequestLimits& limits) {
  limits_.max_body_bytes = limits.max_body_bytes;
  limits_.max_batch_bytes = limits.max_batch_bytes;
  limits_.max_batch_runs = limits.max_batch_runs;
  limits_.otlp_max_body_bytes = limits.otlp_max_body_bytes;
  limits_.max_json_depth = limits.max_json_depth;
  from_.replies.reads.set_max_bytes(limits.max_reply_bytes);
  rates_.change(limits.rate);
}

Status ApiServer::listen() {
  auto server = start_server(settings_.server, api_, "listening");
  if (!server.ok()) return std::move(server.error());
  server_ = std::move(*server);
  counted_server_ = server_.get();
  if (settings_.ops_server) {
    auto ops_server = start_server(*settings_.ops_server, ops_api_, "listening_ops");
    if (!ops_server.ok()) return std::move(ops_server.error());
    ops_server_ = std::move(*ops_server);
    counted_ops_server_ = ops_server_.get();
  }
  from_.log.flush();
  return Nothing{};
}

Result<std::unique_ptr<http::Server>> ApiServer::start_server(const http::ServerSettings& settings, Api& api, std::string_view event) {
  auto server = http::Server::start(settings, api);
  if (!server.ok()) return server;
  from_.log.write(LogLevel::info, event, {{"address", std::string_view(settings.address)}, {"port", std::int64_t{(*server)->port()}}});
  return server;
}

void ApiServer::drain() {
  if (server_) server_->drain();
  if (ops_server_) ops_server_->drain();
}

bool ApiServer::workers_alive(std::int64_t within_ms) const {
  return server_->workers_alive(within_ms) && (!ops_server_ || ops_server_->workers_alive(within_ms));
}

void ApiServer::save_key_use() {
  auto used = keys_.take_last_used();
  if (used.empty()) return;
  from_.queue.run_between([&store = from_.store, used = std::move(used)] { store.touch_keys(used); });
}

ops::Gauges ApiServer::gauges() const {
  ops::Gauges gauges = read_gauges({.log = from_.log,
                                    .requests = from_.requests,
                                    .replies = from_.replies,
                                    .store = from_.store,
                                    .queue = from_.queue,
                                    .housekeeping = from_.housekeeping,
                                    .pool = from_.pool,
                                    .detectors = from_.detectors,
                                    .crash_marks = from_.crash_marks,
                                    .clock = from_.clock,
                                    .dispatcher = from_.dispatcher,
                                    .second_opinion = from_.second_opinion});
  for (const http::Server* const server : {counted_server_.load(), counted_ops_server_.load()}) {
    if (server != nullptr) add_counts(gauges, server->counts());
  }
  return gauges;
}

}  // namespace runwarden::api
