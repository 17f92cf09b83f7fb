#include "ops/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/json_text.h"
#include "base/time_text.h"
#include "ops/line_writer.h"

namespace runwarden::ops {
namespace {

const char* name(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warn: return "warn";
    case LogLevel::error: return "error";
  }
  return "info";
}

// Of sd-daemon(3): journald takes a line's priority from it, and removes it.
const char* priority_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "<7>";
    case LogLevel::info: return "<6>";
    case LogLevel::warn: return "<4>";
    case LogLevel::error: return "<3>";
  }
  return "<6>";
}

// Whether journald reads standard error: it says so by the device and inode of the stream (systemd.exec(5)).
bool is_read_by_journald() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat about {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &about) != 0) return false;
  return stream == std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino);
}

std::string now_text() {
  using namespace std::chrono;
  return format_time(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
}

using Redact = std::function<std::string(std::string_view)>;

void append_value(JsonWriter& out, const LogField& field, const Redact& redact) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    const bool verbatim = !redact || field.name == "requestId" || field.name == "checkpoint";  // never redacted
    verbatim ? out.string(*text) : out.string(redact(*text));
  }
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) out.integer(*number);
  if (const auto* flag = std::get_if<bool>(&field.value)) out.boolean(*flag);
}

void append_json(std::string& line, LogLevel level, std::string_view event, LogFields fields, const Redact& redact) {
  JsonWriter out(line);
  out.begin_object().key("time").string(now_text()).key("level").string(name(level)).key("event").string(event);
  for (const LogField& field : fields) {
    out.key(field.name);
    append_value(out, field, redact);
  }
  out.end_object();
}

void append_text(std::string& line, LogLevel level, std::string_view event, LogFields fields, const Redact& redact) {
  line.append(now_text()).append(" ").append(name(level)).append(" ").append(event);
  for (const LogField& field : fields) {
    line.append(" ").append(field.name).append("=");
    JsonWriter out(line);
    append_value(out, field, redact);
  }
}

std::string line_of(LogStyle style, LogLevel level, std::string_view event, LogFields fields, const Redact& redact) {
  std::string line;
  line.reserve(256);
  if (style.for_journald) line += priority_prefix(level);
  const auto append = style.format == LogFormat::json ? append_json : append_text;
  append(line, level, event, fields, redact);
  return line;
}

std::string dropped_line(LogStyle style, std::uint64_t lines) {
  return line_of(
      style, LogLevel::warn, "log_lines_dropped",
      {{"lines", static_cast<std::int64_t>(lines)}, {"text", "standard error was not read fast enough, or could not be written"}}, {});
}

}  // namespace

LogLevel log_level(std::string_view name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warn") return LogLevel::warn;
  if (name == "error") return LogLevel::error;
  return LogLevel::info;
}

Log::Log(LogLevel level, LogFormat format)
    : level_(level),
      style_{format, is_read_by_journald()},
      lines_(std::make_unique<LineWriter>(STDERR_FILENO, [style = style_](std::uint64_t lines) { return dropped_line(style, lines); })) {}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view event, LogFields fields) {
  if (level < level_) return;
  lines_->add(line_of(style_, level, event, fields, redact_));
  if (level >= LogLevel::warn) lines_->wake();
}

LogFunction Log::text_writer() {
  return [this](LogLevel level, std::string_view event, std::string_view text) { write(level, event, text); };
}

LineFunction Log::line_writer() {
  return [this](LogLevel level, std::string_view event, LogFields fields) { write(level, event, fields); };
}

void Log::wake() {
  lines_->wake();
}

void Log::flush() {
  lines_->flush();
}

std::uint64_t Log::dropped_lines() const {
  return lines_->dropped();
}

}  // namespace runwarden::ops
