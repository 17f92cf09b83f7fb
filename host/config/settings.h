// The configuration: every key of runwarden.yaml, typed and checked. Values; any thread once loaded.
//
// Durations are in milliseconds, sizes in bytes. The defaults apply to a service without a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/detector_locations.h"
#include "config/store_sections.h"
#include "model/detector_settings.h"
#include "model/dimensions.h"
#include "model/redact_settings.h"

namespace runwarden::config {

struct ServerSection {
  std::string address = "127.0.0.1:8080";  // "[::1]:8080"; port 0 picks a free one
  std::int64_t threads = 0;                // 0: derived from the number of cores
  std::int64_t drain_timeout_ms = 10'000;
  bool allow_plaintext = false;              // allows listening beyond loopback without TLS
  std::vector<std::string> trusted_proxies;  // addresses or CIDR blocks
  std::int64_t canary_interval_ms = 30'000;  // how long /readyz reports a canary run's outcome
  bool page = true;                          // serves the web page at /ui/, and its sessions
  std::string ops_address;                   // empty: /healthz, /readyz and /metrics are served at `address`
};

struct LimitsSection {
  std::int64_t max_body_bytes = 8LL << 20;
  std::int64_t max_batch_bytes = 256LL << 20;
  std::int64_t max_json_depth = 64;
  std::int64_t max_batch_runs = 100'000;
  double requests_per_second = 0;  // per tenant; 0: no limit
  std::int64_t burst = 0;          // 0: one second's worth
  std::int64_t header_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;
  std::int64_t max_connections = 10'000;
  std::int64_t max_reply_bytes = 256LL << 20;  // of answers to reads
  std::int64_t otlp_max_body_bytes = 64LL << 20;
  std::int64_t max_clusters = 100'000;  // groups per tenant; failures beyond them are stored without a group
};

struct WebhooksSection {
  std::vector<std::int64_t> retry_ms = {5'000,      300'000,    1'800'000,  7'200'000, 18'000'000,
                                        36'000'000, 50'400'000, 72'000'000, 86'400'000};  // after each failed attempt
  std::int64_t timeout_ms = 15'000;                                                       // per attempt
  std::int64_t keep_ms = 30 * kDayMs;                                                     // for settled deliveries
  std::int64_t max_pending = 100'000;                                                     // messages per endpoint
  std::vector<std::string> allow;  // addresses, CIDR blocks and hosts that are allowed though not on the internet
  bool allow_http = false;
};

// A model that gives a second opinion on what detectors found, or nearly found.
struct SecondOpinionSection {
  bool enabled = false;
  std::string url;           // of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1/chat/completions
  std::string model;         // its name at the endpoint
  std::string api_key_file;  // absolute once loaded; empty: no key is sent
  std::vector<std::string> detectors = {"false_success", "missing_tool_call", "schema_ghost"};  // once loaded: only enabled ones
  std::string ask = "candidates";                                                               // candidates, alarms, all
  bool may_confirm = true;
  bool may_silence = false;
  std::int64_t timeout_ms = 30'000;
  std::int64_t max_in_flight = 4;
  std::int64_t max_input_tokens = 8'000;
  std::vector<std::string> allow;  // addresses, CIDR blocks and hosts that are allowed though not on the internet; empty: the host of `url`
  std::int64_t requests_per_hour = 1'000;   // budget.requests_per_hour
  std::int64_t tokens_per_day = 5'000'000;  // budget.tokens_per_day
};

struct LedgerSection {
  bool enabled = true;
  std::int64_t checkpoint_interval_ms = 60'000;
};

struct PageSection {
  std::string public_url;  // where people open the page, without a trailing slash; empty: messages have no links
  std::vector<std::string> dimensions = model::usual_dimensions();  // metadata members by which runs are compared
};

struct LogSection {
  std::string level = "info";   // debug, info, warn, error
  std::string format = "json";  // json, text
};

struct Settings {
  ServerSection server;
  LimitsSection limits;
  BufferSection buffer;
  StoreSection store;
  RetentionSection retention;
  PageSection page;
  WebhooksSection webhooks;
  SecondOpinionSection second_opinion;
  LedgerSection ledger;
  model::RedactSettings redact;
  model::DetectorSettings detectors;
  LogSection log;

  std::string source;                          // the file read; empty: built-in defaults
  DetectorLocations locations;                 // where each detector's settings were written
  std::map<std::string, std::string> values;   // all keys of the service's sections as text, without detectors and redact
  std::map<std::string, std::string> written;  // where the keys that were set are written: "runwarden.yaml:3:9"
  // For the operator; they do not prevent a start. Those about detectors concern only what judges runs, those about the service only what
  // serves.
  std::vector<std::string> warnings, detector_warnings, service_warnings;

  // Begins a fault of a key's value that only its use shows: "config: store.path (runwarden.yaml:3:9): ".
  std::string fault_of(const std::string& key) const;
};

}  // namespace runwarden::config
