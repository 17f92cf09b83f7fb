#include "model/redact_settings.h"

#include <algorithm>
#include <span>

#include "base/json_pointer.h"

namespace runwarden::model {
namespace {

constexpr std::string_view kRun[] = {"runId", "success", "steps", "metadata", "startedAt", "endedAt", "at"};
constexpr std::string_view kStep[] = {"stepId", "stepKind", "retryCount", "metadata", "startedAt", "endedAt", "at"};
constexpr std::string_view kEvent[] = {"type",    "eventId",   "retryCount", "metadata", "at",
                                       "success", "startedAt", "endedAt",    "stepId",   "stepKind"};
constexpr std::string_view kSpan[] = {"type",  "spanId", "parentSpanId", "root",  "spanKind", "startNs",
                                      "endNs", "status", "ok",           "spoke", "metadata", "from"};
constexpr std::string_view kMetadata[] = {"costUsd", "inputTokens"};
constexpr std::string_view kChange[] = {"kind", "at"};
constexpr std::string_view kPolicy[] = {"policy", "revision", "at"};

std::span<const std::string_view> kept_names(DocumentKind kind, DocumentPlace place) {
  if (place == DocumentPlace::metadata) return kMetadata;
  if (place == DocumentPlace::step) return kStep;
  if (place != DocumentPlace::root) return {};
  switch (kind) {
    case DocumentKind::run: return kRun;
    case DocumentKind::event: return kEvent;
    case DocumentKind::change: return kChange;
    case DocumentKind::policy: return kPolicy;
    case DocumentKind::span: return kSpan;
  }
  return {};
}

}  // namespace

DocumentPlace place_below(DocumentKind kind, DocumentPlace place, std::string_view name) {
  const bool has_metadata = kind == DocumentKind::run || kind == DocumentKind::event || kind == DocumentKind::span;
  if (place == DocumentPlace::root && kind == DocumentKind::run && name == "steps") return DocumentPlace::steps;
  if (place == DocumentPlace::steps) return DocumentPlace::step;
  const bool object = place == DocumentPlace::root || place == DocumentPlace::step;
  return object && has_metadata && name == "metadata" ? DocumentPlace::metadata : DocumentPlace::other;
}

bool is_kept(DocumentKind kind, DocumentPlace place, std::string_view name) {
  if (place == DocumentPlace::other) return false;
  if (place == DocumentPlace::steps) return true;
  const auto names = kept_names(kind, place);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> pointer_parts(std::string_view pointer) {
  std::vector<std::string> parts;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const auto end = std::min(pointer.find('/'), pointer.size());
    parts.push_back(pointer_name(pointer.substr(0, end)));
    pointer.remove_prefix(end);
  }
  return parts;
}

}  // namespace runwarden::model
