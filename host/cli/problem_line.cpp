#include "cli/problem_line.h"

#include "base/error_json.h"

namespace runwarden::cli {
namespace {

const char* title_of(Code code) {
  switch (code) {
    case Code::malformed_json: return "Not JSON";
    case Code::validation_failed: return "Not a run";
    case Code::payload_too_large: return "Too large";
    case Code::not_found: return "No such file";
    default: return "Could not be read";
  }
}

}  // namespace

std::string problem_line(const Error& error, const std::string& file, std::uint64_t line) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("type").string("about:blank").key("title").string(title_of(error.code));
  write_error(out, error);
  out.key("file").string(file);
  if (line > 0) out.key("line").integer(static_cast<std::int64_t>(line));
  out.end_object();
  return text;
}

}  // namespace runwarden::cli
