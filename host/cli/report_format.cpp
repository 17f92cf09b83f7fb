#include "cli/report_format.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace runwarden::cli {
namespace {

const std::map<std::string, ReportFormat> kFormats{
    {"text", ReportFormat::text}, {"json", ReportFormat::json}, {"junit", ReportFormat::junit}, {"sarif", ReportFormat::sarif}};

}  // namespace

void add_report_options(CLI::App& command, ReportOptions& options, ReportFormat usual) {
  options.format = usual;
  const std::string usual_name = usual == ReportFormat::json ? "json" : "text";
  CLI::Option* const format =
      command
          .add_option_function<std::string>(
              "--format", [&options](const std::string& name) { options.format = kFormats.at(name); },
              "text: a table; json; junit: one suite per detector, one case per run; sarif: SARIF 2.1.0; default " + usual_name)
          ->type_name("FORMAT")
          ->check(CLI::IsMember({"text", "json", "junit", "sarif"}));
  command
      .add_flag_callback(
          "--json", [&options] { options.format = ReportFormat::json; }, "Short for --format json")
      ->excludes(format);
  command.add_option("--output", options.output, "Write to this file, which appears only once it is complete; default standard output")
      ->type_name("FILE");
}

std::string name_of(const RunOrigin& place) {
  if (!place.run_id.empty()) return place.run_id;
  const std::string file = place.file == "-" ? "stdin" : place.file;
  return place.line == 0 ? file : file + ":" + std::to_string(place.line);
}

ReportItem item_of(const model::Finding& finding) {
  ReportItem item{finding.detector_key, finding.severity, finding.suspicion_score, finding.title, finding.summary, {}, finding.fingerprint};
  for (const model::Evidence& evidence : finding.evidence) {
    const bool is_new = std::find(item.pointers.begin(), item.pointers.end(), evidence.pointer) == item.pointers.end();
    if (is_new) item.pointers.push_back(evidence.pointer);
  }
  return item;
}

}  // namespace runwarden::cli
