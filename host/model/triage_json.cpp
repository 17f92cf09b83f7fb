#include "model/triage_json.h"

#include "base/json_text.h"
#include "base/time_text.h"

namespace runwarden::model {

std::string triage_entry_json(const TriageEntry& entry) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("at").string(format_time(entry.key.time_ms)).key("action").string(name(entry.action));
  out.key("author").string(entry.author);
  if (!entry.note.empty()) out.key("note").string(entry.note);
  if (!entry.fixed_by.empty()) out.key("fixedBy").string(entry.fixed_by);
  if (entry.until != IgnoreUntil()) {
    out.key("until").begin_object();
    if (entry.until.at_ms) out.key("at").string(format_time(*entry.until.at_ms));
    if (entry.until.failures) out.key("failures").integer(static_cast<std::int64_t>(*entry.until.failures));
    if (entry.until.share) out.key("share").number(*entry.until.share);
    out.end_object();
  }
  if (entry.for_false_alarms) out.key("reason").string(kFalseAlarmsReason);
  out.key("state").string(name(entry.state)).end_object();
  return text;
}

}  // namespace runwarden::model
