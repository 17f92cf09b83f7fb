#include "cli/explanation_text.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimals.h"
#include "base/one_line.h"
#include "base/utf8.h"

namespace runwarden::cli {
namespace {

using ingest::ExplainedItem;
using Row = std::vector<std::string>;

constexpr std::size_t kWidest = 72;  // of a column that later columns align to

std::size_t characters(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); i += std::max<std::size_t>(utf8_length_at(text, i), 1)) ++count;
  return count;
}

std::string number(std::int32_t step) {
  return step < 0 ? std::string() : "#" + std::to_string(step + 1);
}

std::string sureness(std::optional<double> confidence) {
  return confidence ? "confidence " + two_decimals(*confidence) : std::string();
}

// Where the words are: a step, or else a member of the run.
std::string place(const model::ExplanationItem& item) {
  if (item.step >= 0) return number(item.step);
  return item.pointer.empty() ? std::string("run") : item.pointer.substr(1);
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string all;
  for (const std::string& text : texts) {
    if (!text.empty()) all += (all.empty() ? "" : between) + text;
  }
  return all;
}

void print_rows(std::ostream& out, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::min(characters(row[i]), kWidest));
  }
  for (const Row& row : rows) {
    std::string line = "   ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::size_t width = characters(row[i]);
      line += " " + one_line(row[i]) + std::string(width < widths[i] ? widths[i] - width : 0, ' ') + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

// How many detectors contributed to the items.
std::size_t tellers(const std::vector<ExplainedItem>& items) {
  std::set<std::string_view> keys;
  for (const ExplainedItem& one : items) keys.insert(one.detectors.begin(), one.detectors.end());
  return keys.size();
}

void print_section(std::ostream& out, const char* title, const std::vector<ExplainedItem>& items) {
  if (items.empty()) return;
  const std::size_t all = tellers(items);
  out << "  " << title << "\n";
  std::vector<Row> rows;
  for (const ExplainedItem& one : items) {
    const model::ExplanationItem& item = one.item;
    const bool quoted = item.kind != model::ExplanationKind::action && item.kind != model::ExplanationKind::fact;
    rows.push_back({place(item), quoted ? "\"" + item.subject + "\"" : item.subject, item.label, item.outcome, item.objects,
                    joined({item.reason, sureness(item.confidence),
                            one.detectors.size() == all ? std::string() : "[" + joined(one.detectors, ", ") + "]"},
                           "  ")});
  }
  print_rows(out, rows);
}

// "fires 95, confidence 0.93", or the status with its reason.
std::string answer(const model::DetectorReport& report, const model::Verdict& verdict, const ingest::ExplainedDetector& detector) {
  if (report.status != model::DetectorStatus::fired) {
    return model::name(report.status) + (report.reason.empty() ? std::string() : ": " + report.reason);
  }
  int score = 0;
  std::optional<double> told;
  for (const model::Finding& finding : verdict.findings) {
    if (finding.detector_key != report.key) continue;
    score = std::max(score, finding.suspicion_score);
    told = std::max(told, finding.confidence);
  }
  std::optional<double> ruled;
  for (const ExplainedItem& rule : detector.rules) {
    if (rule.item.label == "fires") ruled = std::max(ruled, rule.item.confidence);
  }
  return joined({"fires " + std::to_string(score), sureness(told ? told : ruled)}, ", ");
}

void print_detector(std::ostream& out, const model::DetectorReport& report, const model::Verdict& verdict,
                    const ingest::ExplainedDetector& detector) {
  out << "  " << report.key << ": " << one_line(answer(report, verdict, detector)) << "\n";
  for (const model::Finding& finding : verdict.findings) {
    if (finding.detector_key == report.key) out << "    " << one_line(finding.title) << "\n";
  }
  const bool answered = report.status == model::DetectorStatus::fired || report.status == model::DetectorStatus::clean ||
                        report.status == model::DetectorStatus::not_evaluable;
  if (answered && !detector.explained) out << "    this detector gives no explanation\n";
  std::vector<Row> rows;
  for (const ExplainedItem& rule : detector.rules) {
    rows.push_back(
        {rule.item.subject, rule.item.label, number(rule.item.step), joined({rule.item.reason, sureness(rule.item.confidence)}, "  ")});
  }
  if (!detector.explained) {
    for (const model::Suppression& one : report.suppressed)
      rows.push_back({one.rule, "silences", one.step_id, joined({one.reason, sureness(one.confidence)}, "  ")});
  }
  print_rows(out, rows);
  if (detector.cut) out << "    truncated at the size limit of explanations\n";
}

}  // namespace

std::string two_decimals(double value) {
  return fixed_decimals(value, 2);
}

void print_explanation(std::ostream& out, const ingest::RunExplanation& explanation, const model::Verdict& verdict) {
  out << "Run" << (explanation.run_id.empty() ? "" : " " + explanation.run_id) << ": " << explanation.steps
      << (explanation.steps == 1 ? " step" : " steps");
  if (!explanation.user_request.empty()) out << ", user asked: \"" << one_line(explanation.user_request) << "\"";
  out << "\n";
  print_section(out, "Actions", explanation.actions);
  print_section(out, "Statements", explanation.statements);
  print_section(out, "Obligations", explanation.obligations);
  print_section(out, "Matches", explanation.matches);
  print_section(out, "Facts", explanation.facts);
  for (std::size_t i = 0; i < verdict.reports.size(); ++i) print_detector(out, verdict.reports[i], verdict, explanation.detectors[i]);
}

}  // namespace runwarden::cli
