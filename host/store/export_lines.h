// Lines of an export, for those who want its runs and nothing else of it. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::store {

// What every export begins with.
constexpr std::string_view kExportBegins = R"({"record":"header","format":"runwarden-export")";

struct ExportLine {
  enum class Kind { header, end, run, open_run, other };  // other: nothing of a run that its document does not hold
  Kind kind = Kind::other;
  std::string document;  // of a run, as it was normalized
};

// Nothing: the line has no text member "record", so it is no line of an export. A former revision of a run is `other`.
// An Error names a record of unknown kind, or what is wrong with one of a known kind.
Result<std::optional<ExportLine>> read_export_line(std::string_view line);

}  // namespace runwarden::store
