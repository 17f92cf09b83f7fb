#include "webhooks/endpoint_request.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/nearest_names.h"
#include "base/time_text.h"
#include "http_client/http_sender.h"
#include "ingest/json_request.h"
#include "model/record_ids.h"
#include "webhooks/signature.h"

namespace runwarden::webhooks {
namespace {

using ingest::check_object;
using ingest::is_json_string;
using ingest::known_members;
using ingest::RequestFaults;
using ingest::text_of;
using ingest::whole_number_of;

constexpr std::size_t kMostDescriptionBytes = 256;
constexpr std::size_t kMostDetectorBytes = 256;
constexpr std::size_t kShownNameBytes = 80;

std::string known_events() {
  std::string names;
  for (const model::MessageType type : model::subscribable_types()) names.append(names.empty() ? "" : ", ").append(name(type));
  return names;
}

void read_events(const std::string& json, model::Endpoint& endpoint, RequestFaults& faults) {
  if (!json.starts_with('[')) return faults.add("/events", "wrong_type", "must be an array of event names");
  endpoint.events.clear();
  const auto elements = json_elements(json);
  for (std::size_t i = 0; i < elements.size() && faults.none(); ++i) {
    const auto type = is_json_string(elements[i]) ? model::subscribable(json_string_value(elements[i])) : std::nullopt;
    if (!type) {
      faults.add("/events/" + std::to_string(i), "invalid", "must be one of " + known_events());
    } else if (std::find(endpoint.events.begin(), endpoint.events.end(), *type) == endpoint.events.end()) {
      endpoint.events.push_back(*type);
    }
  }
  if (elements.empty()) faults.add("/events", "invalid", "must name at least one event; the events are " + known_events());
}

// An empty name means any detector.
void read_detector(const JsonMember& member, const std::vector<std::string>& known, model::MessageFilter& filter, RequestFaults& faults) {
  auto name = text_of(member, "/filter/detector", kMostDetectorBytes, faults);
  if (!name) return;
  if (!name->empty() && std::find(known.begin(), known.end(), *name) == known.end()) {
    const std::string hint = name_hint(*name, known);
    return faults.add("/filter/detector", "unknown_detector",
                      "no detector \"" + name->substr(0, kShownNameBytes) + "\" is configured" + (hint.empty() ? "" : "; " + hint));
  }
  filter.detector = std::move(*name);
}

void read_filter(const std::string& json, const std::vector<std::string>& detectors, model::MessageFilter& filter, RequestFaults& faults) {
  if (!json.starts_with('{')) return faults.add("/filter", "wrong_type", "must be an object");
  for (const JsonMember& member : known_members(json, "/filter", {"detector", "minScore", "severity"}, faults)) {
    if (member.name == "detector") {
      read_detector(member, detectors, filter, faults);
    } else if (member.name == "minScore") {
      const auto score = whole_number_of(member.json);
      if (!score || *score > 100) {
        faults.add("/filter/minScore", "invalid", "must be an integer from 0 to 100");
      } else {
        filter.min_score = static_cast<int>(*score);
      }
    } else {
      for (const auto severity : {model::Severity::low, model::Severity::medium, model::Severity::high, model::Severity::critical}) {
        if (is_json_string(member.json) && json_string_value(member.json) == model::name(severity)) filter.severity = severity;
      }
      if (!filter.severity) faults.add("/filter/severity", "invalid", "must be low, medium, high or critical");
    }
  }
}

}  // namespace

Result<model::Endpoint> read_endpoint_request(std::string_view body, const http_client::AddressRules& rules,
                                              const std::vector<std::string>& detectors) {
  if (Status status = check_object(body, kMostRequestDepth); !status.ok()) return std::move(status.error());
  model::Endpoint endpoint;
  endpoint.events = model::usual_events();
  RequestFaults faults;
  bool has_url = false;
  for (const JsonMember& member : known_members(body, "", {"url", "events", "filter", "template", "description"}, faults)) {
    if (member.name == "url") {
      has_url = true;
      endpoint.url = is_json_string(member.json) ? json_string_value(member.json) : "";
      if (const auto fault = http_client::check_url(endpoint.url, rules).fault) faults.add("/url", "invalid", *fault);
    } else if (member.name == "events") {
      read_events(member.json, endpoint, faults);
    } else if (member.name == "filter") {
      read_filter(member.json, detectors, endpoint.filter, faults);
    } else if (member.name == "template") {
      const auto form = is_json_string(member.json) ? model::message_template(json_string_value(member.json)) : std::nullopt;
      if (!form) faults.add("/template", "invalid", "must be standard or slack");
      endpoint.form = form.value_or(model::MessageTemplate::standard);
    } else if (auto text = text_of(member, "/description", kMostDescriptionBytes, faults)) {
      endpoint.description = std::move(*text);
    }
  }
  if (!has_url) faults.add("/url", "missing", "is missing; send the address for messages, such as https://hooks.example.com/runwarden");
  if (!faults.none()) return faults.error();
  return endpoint;
}

Error address_not_allowed(std::string_view url) {
  RequestFaults faults;
  faults.add(
      "/url", http_client::kAddressNotAllowed,
      "\"" + std::string(url) +
          "\" resolves to an address that is not on the internet: loopback, private, link-local or reserved; webhooks.allow permits it");
  return faults.error();
}

std::optional<std::int64_t> read_overlap(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t ms;
  };
  constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  if (unit.empty() && number == 0) return 0;
  for (const Unit& one : kUnits) {
    if (unit == one.name && number <= kLongestOverlapMs / one.ms) return number * one.ms;
  }
  return std::nullopt;
}

Result<std::int64_t> read_rotation(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return kUsualOverlapMs;
  if (Status status = check_object(body, kMostRequestDepth); !status.ok()) return std::move(status.error());
  RequestFaults faults;
  std::int64_t overlap_ms = kUsualOverlapMs;
  for (const JsonMember& member : known_members(body, "", {"overlap"}, faults)) {
    const auto read = is_json_string(member.json) ? read_overlap(json_string_value(member.json)) : std::nullopt;
    if (!read) faults.add("/overlap", "invalid", "must be a duration of at most 30d, such as 24h");
    overlap_ms = read.value_or(0);
  }
  if (!faults.none()) return faults.error();
  return overlap_ms;
}

Status check_nothing_asked(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return Nothing{};
  if (Status status = check_object(body, kMostRequestDepth); !status.ok()) return status;
  RequestFaults faults;
  for (const JsonMember& member : json_members(body)) {
    faults.add("/" + member.name.substr(0, 80), "unknown_member", "is an unknown member; send {}, or no body");
  }
  if (!faults.none()) return faults.error();
  return Nothing{};
}

Result<ReplayRequest> read_replay(std::string_view body) {
  if (Status status = check_object(body, kMostRequestDepth); !status.ok()) return std::move(status.error());
  RequestFaults faults;
  ReplayRequest request;
  std::optional<std::int64_t> since_ms;
  bool state = false;
  for (const JsonMember& member : known_members(body, "", {"deliveryId", "since", "state"}, faults)) {
    const std::string text = is_json_string(member.json) ? json_string_value(member.json) : "";
    if (member.name == "deliveryId") {
      if (!model::parse_delivery_id(text)) faults.add("/deliveryId", "invalid", "must be a deliveryId, as GET .../deliveries lists them");
      request.delivery_id = text;
    } else if (member.name == "since") {
      since_ms = parse_time(text);
      if (!since_ms) faults.add("/since", "invalid", "must be a time such as 2026-11-20T15:00:00Z");
    } else {
      state = true;
      if (text != "dead") faults.add("/state", "invalid", "must be dead");
    }
  }
  if (faults.none() && request.delivery_id.empty() && !since_ms)
    faults.add("/deliveryId", "missing", "is missing; send it, or since with state dead");
  if (faults.none() && !request.delivery_id.empty() && (since_ms || state)) {
    faults.add("/deliveryId", "not_allowed", "cannot be combined with since and state");
  }
  if (!faults.none()) return faults.error();
  request.since_ms = since_ms.value_or(0);
  return request;
}

void set_disabled(model::Endpoint& endpoint, model::Endpoint::Disabled disabled) {
  endpoint.disabled = disabled;
  if (disabled == model::Endpoint::Disabled::no) endpoint.failing_since_ms = model::kNever;
}

Status rotate(model::Endpoint& endpoint, std::int64_t overlap_ms, std::int64_t now_ms) {
  const bool overlaps = !endpoint.previous_secret.empty() && now_ms < endpoint.previous_until_ms;
  if (overlaps && overlap_ms > 0) {
    return Error{Code::conflict,
                 "the previous secret also signs until " + format_time(endpoint.previous_until_ms) +
                     "; rotate after that, or with an overlap of 0 so that only the new secret signs from now on",
                 {},
                 {}};
  }
  endpoint.previous_secret = overlap_ms > 0 ? endpoint.secret : std::string();
  endpoint.previous_until_ms = now_ms + overlap_ms;
  endpoint.secret = make_secret();
  return Nothing{};
}

}  // namespace runwarden::webhooks
