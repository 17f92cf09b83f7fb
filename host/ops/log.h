// The service's log: one line per event, JSON or plain text, on standard error. Never contains a key or a body. Where journald reads it,
// each line begins with its priority.
//
// Any thread; never waits for the reader of the log. Writes lines of level info and below at the next wake() or when many are buffered,
// warnings and errors at once.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/log_function.h"

namespace runwarden::ops {

class LineWriter;

// Parses the configuration values "debug", "info", "warn" and "error".
LogLevel log_level(std::string_view name);
enum class LogFormat : std::uint8_t { json, text };
struct LogStyle {
  LogFormat format;
  bool for_journald;
};

struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, bool> value;
};

// Log::write() as a function. Called from any thread.
using LogFields = std::initializer_list<LogField>;
using LineFunction = std::function<void(LogLevel level, std::string_view event, LogFields fields)>;

class Log {
 public:
  Log(LogLevel level, LogFormat format);
  ~Log();

  // Sets a function that redacts each text except request ids, by which lines are found. Call before other threads log.
  void redact_with(std::function<std::string(std::string_view)> redact) { redact_ = std::move(redact); }

  void write(LogLevel level, std::string_view event, LogFields fields);
  // A line whose one field is "text".
  void write(LogLevel level, std::string_view event, std::string_view text) { write(level, event, {{"text", text}}); }
  // Functions that write to this log, which outlives them.
  LogFunction text_writer();
  LineFunction line_writer();
  void wake();
  // Waits until all lines are written, for at most one second. Call before the process ends.
  void flush();
  std::uint64_t dropped_lines() const;  // lost because nobody read the log or it could not be written

 private:
  const LogLevel level_;
  const LogStyle style_;
  std::function<std::string(std::string_view)> redact_;
  std::unique_ptr<LineWriter> lines_;
};

}  // namespace runwarden::ops
