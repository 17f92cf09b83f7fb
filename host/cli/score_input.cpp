#include "cli/score_input.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_check.h"
#include "base/json_members.h"
#include "cli/line_reader.h"

namespace runwarden::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLabelBytes = std::size_t{1} << 20;  // of a line
constexpr int kMostDepth = 64;

Error no_labels(std::string why) {
  return {Code::validation_failed, std::move(why) + R"(; expected {"id": "...", "labels": {"false_success": "present"}})", {}, {}};
}

std::optional<Label> label_of(const json& text) {
  for (const Label label : {Label::present, Label::absent, Label::unclear}) {
    if (text == name(label)) return label;
  }
  return std::nullopt;
}

Error unknown_detector(const std::string& key, const std::set<std::string>& detectors) {
  std::string known;
  for (const std::string& one : detectors) known.append(known.empty() ? "" : ", ").append(one);
  return {Code::validation_failed,
          "the label \"" + key.substr(0, 80) + "\" does not name a known detector; known detectors are " + known,
          {},
          {}};
}

// The labels' reasons: one text for all, or one for each detector. Nothing if it is neither.
std::optional<std::map<std::string, std::string>> read_reasons(const json& why) {
  if (why.is_string()) return std::map<std::string, std::string>{{"", why.get<std::string>()}};
  if (!why.is_object()) return std::nullopt;
  std::map<std::string, std::string> reasons;
  for (const auto& [key, reason] : why.items()) {
    if (!reason.is_string()) return std::nullopt;
    reasons[key] = reason.get<std::string>();
  }
  return reasons;
}

Status read_line_of_labels(std::string_view text, const std::set<std::string>& detectors, Labels& labels) {
  if (const Status checked = check_json(text, kMostDepth); !checked.ok()) return no_labels(checked.error().detail);
  const json line = json::parse(text);
  if (!line.is_object() || !line.contains("id") || !line["id"].is_string()) return no_labels("the line lacks a text \"id\"");
  if (!line.contains("labels") || !line["labels"].is_object()) return no_labels("the line lacks an object \"labels\"");
  const std::string id = line["id"].get<std::string>();
  RunLabels one;
  for (const auto& [key, value] : line["labels"].items()) {
    if (!detectors.contains(key)) return unknown_detector(key, detectors);
    const auto label = label_of(value);
    if (!label)
      return no_labels("the label \"" + key + "\" is " + value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80) +
                       ", which is not present, absent or unclear");
    one.labels.emplace(key, *label);
  }
  if (const auto why = line.find("why"); why != line.end()) {
    auto reasons = read_reasons(*why);
    if (!reasons) return no_labels("its \"why\" is neither text nor an object of texts");
    one.why = std::move(*reasons);
  }
  if (!labels.emplace(id, std::move(one)).second) return no_labels("the id \"" + id + "\" already has labels");
  return Nothing{};
}

}  // namespace

const char* name(Label label) {
  switch (label) {
    case Label::present: return "present";
    case Label::absent: return "absent";
    case Label::unclear: break;
  }
  return "unclear";
}

std::string RunLabels::why_of(const std::string& detector_key) const {
  const auto own = why.find(detector_key);
  const auto found = own == why.end() ? why.find("") : own;
  return found == why.end() ? std::string() : found->second;
}

Result<Labels> read_labels(const std::string& file, const std::set<std::string>& detectors) {
  const auto input = InputFile::open(file);
  if (!input.ok()) return input.error();
  LineReader reader(input->descriptor(), kMostLabelBytes);
  Labels labels;
  for (;;) {
    const auto line = reader.next();
    if (!line.ok()) return line.error();
    if (!*line) return labels;
    const std::string place = file + ":" + std::to_string((*line)->number) + ": ";
    if ((*line)->too_long) return no_labels(place + "the line is longer than " + std::to_string(kMostLabelBytes) + " bytes");
    if (const Status read = read_line_of_labels((*line)->text, detectors, labels); !read.ok())
      return Error{Code::validation_failed, place + read.error().detail, {}, {}};
  }
}

Result<RunLine> read_run_line(std::string_view line, int max_depth) {
  if (Status checked = check_json(line, max_depth); !checked.ok()) return std::move(checked.error());
  RunLine run;
  for (JsonMember& member : json_members(line)) {
    if (member.name == "id") run.id = json_string_value(member.json);
    if (member.name == "run") run.run = std::move(member.json);
  }
  if (!run.id.empty() && !run.run.empty()) return run;
  return Error{Code::validation_failed, R"(the line lacks "id" or "run"; expected {"id": "...", "run": {...}})", {}, {}};
}

}  // namespace runwarden::cli
