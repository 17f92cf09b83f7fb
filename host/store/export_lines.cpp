#include "store/export_lines.h"

#include <utility>
#include <variant>

#include "base/json_check.h"
#include "base/json_members.h"
#include "store/record_lines.h"

namespace runwarden::store {
namespace {

constexpr int kDeepest = 1024;

ExportLine line_of_run(RunLine line) {
  if (line.previous) return {};
  if (line.stored.buffering) return {ExportLine::Kind::open_run, {}};
  return {ExportLine::Kind::run, std::move(line.stored.run.document)};
}

// False for a line that is not a JSON object: others refuse it.
bool has_record(std::string_view line) {
  if (line.find("\"record\"") == std::string_view::npos || !check_json(line, kDeepest).ok()) return false;
  const auto record = json_member_view(line, "record");
  return record && record->starts_with('"');
}

}  // namespace

Result<std::optional<ExportLine>> read_export_line(std::string_view line) {
  if (!has_record(line)) return std::optional<ExportLine>();
  try {
    RecordLine record = read_line(line).record;
    if (std::holds_alternative<HeaderLine>(record)) return std::optional(ExportLine{ExportLine::Kind::header, {}});
    if (std::holds_alternative<EndLine>(record)) return std::optional(ExportLine{ExportLine::Kind::end, {}});
    if (auto* const run = std::get_if<RunLine>(&record)) return std::optional(line_of_run(std::move(*run)));
    return std::optional(ExportLine{});
  } catch (const BadValue& bad) {
    return Error{Code::validation_failed,
                 std::string("a line of an export: ") + bad.what() + "; export it again, or remove \"record\" from a run",
                 {},
                 {}};
  }
}

}  // namespace runwarden::store
