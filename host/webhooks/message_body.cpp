#include "webhooks/message_body.h"

#include <algorithm>
#include <vector>

#include "base/json_members.h"
#include "base/json_text.h"
#include "base/path_segment.h"
#include "base/time_text.h"
#include "ingest/answers.h"
#include "ingest/investigation.h"
#include "ingest/reviews.h"
#include "model/record_ids.h"
#include "model/triage_json.h"

namespace runwarden::webhooks {
namespace {

using model::MessageType;

constexpr std::size_t kMostTextBytes = 2000;  // of any other text of a failure, if the body would be too long
constexpr std::size_t kMostSlackTitle = 300;
constexpr std::size_t kMostSlackSummary = 1200;

// At most that many UTF-8 characters. Never splits one.
std::string_view cut(std::string_view text, std::size_t most_characters) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && ++characters > most_characters) return text.substr(0, i);
  }
  return text;
}

bool is_string(std::string_view json) {
  return json.starts_with('"');
}

std::string cut_string(const std::string& json, std::size_t most_characters) {
  const std::string text = json_string_value(json);
  const std::string_view shorter = cut(text, most_characters);
  if (shorter.size() == text.size()) return json;
  std::string out;
  append_json_string(out, std::string(shorter) + "…");
  return out;
}

// One element of a failure's evidence, with long members cut to kMostEvidenceCharacters.
std::string cut_evidence(const std::string& json) {
  const auto members = json_members(json);
  if (members.empty()) return json;
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  for (const JsonMember& member : members) {
    out.key(member.name);
    if (is_string(member.json)) {
      out.raw(cut_string(member.json, kMostEvidenceCharacters));
    } else if (member.json.size() > kMostEvidenceCharacters * 4) {
      std::string shorter;
      append_json_string(shorter, std::string(cut(member.json, kMostEvidenceCharacters)) + "…");
      out.raw(shorter);
    } else {
      out.raw(member.json);
    }
  }
  out.end_object();
  return text;
}

// A Failure of at most `most_bytes`. Shortens long evidence, then drops the last elements of it, then shortens all other texts.
std::string cut_failure(const std::string& json, std::size_t most_bytes) {
  const auto members = json_members(json);
  std::vector<std::string> evidence;
  const auto write = [&](std::size_t most_text) {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    for (const JsonMember& member : members) {
      out.key(member.name);
      if (member.name == "evidence") {
        out.begin_array();
        for (const std::string& element : evidence) out.raw(element);
        out.end_array();
      } else {
        out.raw(is_string(member.json) ? cut_string(member.json, most_text) : member.json);
      }
    }
    out.end_object();
    return text;
  };
  std::size_t most_text = json.size();
  std::size_t bytes = write(most_text).size();
  for (const std::size_t shorter : {kMostTextBytes, kMostTextBytes / 4, kMostTextBytes / 16}) {
    if (bytes > most_bytes) bytes = write(most_text = shorter).size();
  }
  for (const JsonMember& member : members) {
    if (member.name != "evidence") continue;
    for (const std::string& element : json_elements(member.json)) {
      evidence.push_back(cut_evidence(element));
      bytes += evidence.back().size() + 1;
      if (bytes <= most_bytes) continue;
      evidence.pop_back();
      break;
    }
  }
  return write(most_text);
}

// The content of a message, in either form.
struct Facts {
  std::string failure;  // JSON; empty: none
  std::string title;
  std::string summary;
  std::string severity;
  std::string score;
  std::string run_id;
  std::string suspect;  // JSON; empty: none
  std::string suspect_text;
  std::string entry;  // of the group's history, JSON; empty: none
  std::string entry_text;
  std::string link;
};

void read_failure(Facts& facts, const std::string& json) {
  facts.failure = json;
  for (const JsonMember& member : json_members(json)) {
    const std::string text = is_string(member.json) ? json_string_value(member.json) : member.json;
    if (member.name == "title") facts.title = text;
    if (member.name == "summary") facts.summary = text;
    if (member.name == "severity") facts.severity = text;
    if (member.name == "suspicionScore") facts.score = text;
    if (member.name == "runId") facts.run_id = text;
  }
}

void read_suspect(Facts& facts, const ingest::SuspectChange& suspect) {
  facts.suspect = suspect.json;
  for (const JsonMember& member : json_members(suspect.json)) {
    if (member.name != "kind" && member.name != "ref" && member.name != "summary") continue;
    if (!is_string(member.json)) continue;
    facts.suspect_text += (facts.suspect_text.empty() ? "" : " ") + json_string_value(member.json);
  }
}

void read_entry(Facts& facts, const BodySources& sources, model::TenantId tenant, const model::Message& message) {
  store::Range range;
  range.after = model::RecordKey{message.triage->time_ms, message.triage->seq + 1};
  range.limit = 1;
  for (const model::TriageEntry& entry : sources.groups.triage_history(tenant, message.cluster->key, range)) {
    if (entry.key != *message.triage) continue;
    facts.entry = model::triage_entry_json(entry);
    facts.entry_text = std::string(model::name(entry.action)) + " by " + entry.author + (entry.note.empty() ? "" : ": " + entry.note);
  }
}

std::string link_of(const BodySources& sources, const model::Message& message, const Facts& facts) {
  if (sources.public_url.empty()) return {};
  if (message.type == MessageType::failure_created) return sources.public_url + "/ui/runs/" + path_segment(facts.run_id);
  return message.cluster ? sources.public_url + "/ui/groups/" + model::cluster_id(message.cluster->key) : std::string();
}

Facts facts_of(const BodySources& sources, const Addressee& to, const model::Message& message) {
  Facts facts;
  if (message.failure) {
    const auto failure = sources.records.find_failure(to.tenant, model::make_failure_id(*message.failure));
    if (failure) {
      read_failure(facts, ingest::shown_failure(*failure));
      if (const auto suspect = ingest::suspect_change(sources.records, to.tenant, *failure)) read_suspect(facts, *suspect);
    }
  }
  if (message.triage && message.cluster) read_entry(facts, sources, to.tenant, message);
  facts.link = link_of(sources, message, facts);
  return facts;
}

void add_or_null(JsonWriter& out, const char* name, const std::string& json) {
  out.key(name);
  json.empty() ? out.null() : out.raw(json);
}

std::string standard(const Addressee& to, const model::Message& message, const Facts& facts, const std::string& failure) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("type").string(model::name(message.type)).key("timestamp").string(format_time(message.key.time_ms));
  out.key("data").begin_object().key("tenant").string(to.tenant_name);
  if (message.type == MessageType::webhook_test) {
    out.key("endpointId").string(to.endpoint.id);
  } else if (message.type == MessageType::failures_skipped) {
    out.key("from").string(format_time(message.skipped.from_ms)).key("until").string(format_time(message.skipped.until_ms));
    out.key("count").integer(static_cast<std::int64_t>(message.skipped.count));
  } else if (message.type == MessageType::checkpoint_created) {
    out.key("checkpoint").string(message.checkpoint);
  } else {
    add_or_null(out, "failure", failure);
    out.key("cluster");
    if (message.cluster) {
      out.begin_object()
          .key("clusterId")
          .string(model::cluster_id(message.cluster->key))
          .key("state")
          .string(model::name(message.cluster->state));
      out.key("count").integer(static_cast<std::int64_t>(message.cluster->count));
      out.key("firstSeen").string(format_time(message.cluster->first_ms)).end_object();
    } else {
      out.null();
    }
    add_or_null(out, "suspectChange", facts.suspect);
    if (!facts.entry.empty()) out.key("triage").raw(facts.entry);
    if (!facts.link.empty()) out.key("link").string(facts.link);
  }
  out.end_object().end_object();
  return text;
}

std::string slack_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Never cuts within an escape.
std::string slack_cut(const std::string& escaped, std::size_t most) {
  std::string_view text = cut(escaped, most);
  if (text.size() == escaped.size()) return escaped;
  text = cut(text, most - 1);
  const auto ampersand = text.rfind('&');
  if (ampersand != std::string_view::npos && text.find(';', ampersand) == std::string_view::npos) text = text.substr(0, ampersand);
  return std::string(text) + "…";
}

const char* headline(MessageType type) {
  switch (type) {
    case MessageType::cluster_created: return "New group of failures";
    case MessageType::cluster_regressed: return "A resolved group fails again";
    case MessageType::cluster_rising: return "A group of failures is rising";
    case MessageType::failure_created: return "Failure";
    case MessageType::cluster_triaged: return "A group was triaged";
    case MessageType::checkpoint_created: return "Checkpoint of the ledger";
    case MessageType::failures_skipped: return "Failures that were not reported individually";
    case MessageType::webhook_test: return "Test message from runwarden";
  }
  return "";
}

std::string slack(const Addressee& to, const model::Message& message, const Facts& facts) {
  std::string lead = std::string(headline(message.type));
  if (!facts.title.empty()) lead += ": " + std::string(cut(facts.title, kMostSlackTitle));
  if (message.type == MessageType::failures_skipped) {
    lead += ": " + std::to_string(message.skipped.count) + " from " + format_time(message.skipped.from_ms) + " until " +
            format_time(message.skipped.until_ms);
  }
  std::string about = "tenant " + to.tenant_name;
  if (!facts.severity.empty()) about += ", severity " + facts.severity + ", score " + facts.score;
  if (message.cluster) {
    about += ", " + std::to_string(message.cluster->count) + (message.cluster->count == 1 ? " failure" : " failures") + " since " +
             format_time(message.cluster->first_ms) + ", " + model::name(message.cluster->state);
  }
  std::string detail(cut(facts.summary, kMostSlackSummary));
  if (!message.checkpoint.empty()) detail = message.checkpoint;
  if (!facts.entry_text.empty()) detail += (detail.empty() ? "" : "\n") + facts.entry_text;
  if (!facts.suspect_text.empty()) detail += (detail.empty() ? "" : "\n") + std::string("Suspect change: ") + facts.suspect_text;
  const std::string link = facts.link.empty() ? "" : "\n<" + slack_escaped(facts.link) + "|Open in runwarden>";
  std::string section = "*" + slack_escaped(lead) + "*";
  if (!detail.empty()) section += "\n" + slack_escaped(detail);
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("text").string(slack_cut(slack_escaped(lead), kMostSlackCharacters)).key("blocks").begin_array();
  out.begin_object().key("type").string("section").key("text").begin_object().key("type").string("mrkdwn");
  out.key("text").string(slack_cut(section, kMostSlackCharacters - link.size()) + link).end_object().end_object();
  out.begin_object().key("type").string("context").key("elements").begin_array().begin_object().key("type").string("mrkdwn");
  out.key("text").string(slack_cut(slack_escaped(about), kMostSlackCharacters)).end_object().end_array().end_object();
  out.end_array().end_object();
  return text;
}

}  // namespace

bool tells_of_false_alarm(store::RunStore& records, model::TenantId tenant, const model::Message& message) {
  if (!message.failure || message.type == MessageType::cluster_triaged) return false;
  const auto failure = records.find_failure(tenant, model::make_failure_id(*message.failure));
  return failure && failure->is_false_alarm();
}

bool tells_of_deleted_failure(store::RunStore& records, model::TenantId tenant, const model::Message& message) {
  return message.failure && !records.find_failure(tenant, model::make_failure_id(*message.failure));
}

std::optional<std::string> make_body(const BodySources& sources, const Addressee& to, const model::Message& message) {
  const Facts facts = facts_of(sources, to, message);
  if (message.type == MessageType::failure_created && facts.failure.empty()) return std::nullopt;
  if (to.endpoint.form == model::MessageTemplate::slack) return slack(to, message, facts);
  const std::string around = standard(to, message, facts, "null");
  const auto failure_of = [&](std::size_t most_bytes) { return facts.failure.empty() ? "" : cut_failure(facts.failure, most_bytes); };
  std::string body = standard(to, message, facts, failure_of(kMostBodyBytes - std::min(around.size(), kMostBodyBytes)));
  if (body.size() <= kMostBodyBytes) return body;
  Facts shorter = facts;  // an entry's note or a change's summary may be longer than all the rest
  shorter.entry.clear();
  shorter.suspect.clear();
  return standard(to, message, shorter, failure_of(kMostBodyBytes / 2));
}

}  // namespace runwarden::webhooks
