#include "ops/log.h"

#include <unistd.h>

#include <chrono>
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

std::string json_line(LogLevel level, std::string_view event, LogFields fields, const Redact& redact) {
  std::string line;
  line.reserve(256);
  JsonWriter out(line);
  out.begin_object().key("time").string(now_text()).key("level").string(name(level)).key("event").string(event);
  for (const LogField& field : fields) {
    out.key(field.name);
    append_value(out, field, redact);
  }
  out.end_object();
  return line;
}

std::string text_line(LogLevel level, std::string_view event, LogFields fields, const Redact& redact) {
  std::string line = now_text() + " " + name(level) + " " + std::string(event);
  for (const LogField& field : fields) {
    line.append(" ").append(field.name).append("=");
    JsonWriter out(line);
    append_value(out, field, redact);
  }
  return line;
}

std::string line_of(LogFormat format, LogLevel level, std::string_view event, LogFields fields,
                    const Redact& redact) {
  return format == LogFormat::json ? json_line(level, event, fields, redact) : text_line(level, event, fields, redact);
}

std::string dropped_line(LogFormat format, std::uint64_t lines) {
  return line_of(
      format, LogLevel::warn, "log_lines_dropped",
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
      format_(format),
      lines_(std::make_unique<LineWriter>(STDERR_FILENO, [format](std::uint64_t lines) { return dropped_line(format, lines); })) {}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view event, LogFields fields) {
  if (level < level_) return;
  lines_->add(line_of(format_, level, event, fields, redact_));
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
