#include "ops/log.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "ops/line_writer.h"
#include "base/json_text.h"
#include "base/time_text.h"

namespace runwarden::ops {
namespace {

// The spdlog sink. The writer has its own lock.
class ToLineWriter final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ToLineWriter(std::shared_ptr<LineWriter> lines) : lines_(std::move(lines)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override { lines_->add({message.payload.data(), message.payload.size()}); }
  void flush_() override { lines_->wake(); }

 private:
  std::shared_ptr<LineWriter> lines_;
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warn: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

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
    const bool verbatim = !redact || field.name == "requestId";
    verbatim ? out.string(*text) : out.string(redact(*text));
  }
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) out.integer(*number);
  if (const auto* flag = std::get_if<bool>(&field.value)) out.boolean(*flag);
}

std::string json_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields, const Redact& redact) {
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

std::string text_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields, const Redact& redact) {
  std::string line = now_text() + " " + name(level) + " " + std::string(event);
  for (const LogField& field : fields) {
    line.append(" ").append(field.name).append("=");
    JsonWriter out(line);
    append_value(out, field, redact);
  }
  return line;
}

std::string line_of(LogFormat format, LogLevel level, std::string_view event, std::initializer_list<LogField> fields,
                    const Redact& redact) {
  return format == LogFormat::json ? json_line(level, event, fields, redact) : text_line(level, event, fields, redact);
}

std::string dropped_line(LogFormat format, std::uint64_t lines) {
  return line_of(format, LogLevel::warn, "log_lines_dropped",
                 {{"lines", static_cast<std::int64_t>(lines)}, {"text", "nobody read standard error fast enough"}}, {});
}

}  // namespace

LogLevel log_level(std::string_view name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warn") return LogLevel::warn;
  if (name == "error") return LogLevel::error;
  return LogLevel::info;
}

Log::Log(LogLevel level, LogFormat format)
    : format_(format),
      lines_(std::make_shared<LineWriter>(STDERR_FILENO, [format](std::uint64_t lines) { return dropped_line(format, lines); })),
      logger_(std::make_shared<spdlog::logger>("runwarden", std::make_shared<ToLineWriter>(lines_))) {
  logger_->set_level(to_spdlog(level));
  logger_->flush_on(spdlog::level::warn);
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logger_->should_log(to_spdlog(level))) return;
  const std::string line = line_of(format_, level, event, fields, redact_);
  logger_->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
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
