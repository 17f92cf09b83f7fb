#include "app/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>

#include "base/json_text.h"
#include "base/time_text.h"

namespace runwarden::app {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

// Standard error behind a buffer of its own, so that a busy service does not pay a system call a line.
class BufferedStderr final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  BufferedStderr() { buffer_.reserve(kBufferBytes); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    buffer_.append(message.payload.data(), message.payload.size()).push_back('\n');
    if (buffer_.size() >= kBufferBytes / 2) flush_();
  }

  void flush_() override {
    std::size_t done = 0;
    while (done < buffer_.size()) {
      const ssize_t wrote = ::write(STDERR_FILENO, buffer_.data() + done, buffer_.size() - done);
      if (wrote <= 0) break;  // nobody reads the log: dropping lines is better than stopping the service
      done += static_cast<std::size_t>(wrote);
    }
    buffer_.clear();
  }

 private:
  std::string buffer_;
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

void append_value(JsonWriter& out, const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) out.string(*text);
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) out.integer(*number);
  if (const auto* flag = std::get_if<bool>(&field.value)) out.boolean(*flag);
}

std::string json_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line;
  line.reserve(256);
  JsonWriter out(line);
  out.begin_object().key("time").string(now_text()).key("level").string(name(level)).key("event").string(event);
  for (const LogField& field : fields) {
    out.key(field.name);
    append_value(out, field);
  }
  out.end_object();
  return line;
}

std::string text_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = now_text() + " " + name(level) + " " + std::string(event);
  for (const LogField& field : fields) {
    line.append(" ").append(field.name).append("=");
    JsonWriter out(line);
    append_value(out, field);
  }
  return line;
}

}  // namespace

Log::Log(LogLevel level, LogFormat format)
    : format_(format), logger_(std::make_shared<spdlog::logger>("runwarden", std::make_shared<BufferedStderr>())) {
  logger_->set_level(to_spdlog(level));
  logger_->flush_on(spdlog::level::warn);
}

Log::~Log() {
  flush();
}

void Log::write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logger_->should_log(to_spdlog(level))) return;
  const std::string line = format_ == LogFormat::json ? json_line(level, event, fields) : text_line(level, event, fields);
  logger_->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void Log::flush() {
  logger_->flush();
}

}  // namespace runwarden::app
