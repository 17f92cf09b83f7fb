// The service's log: one line an event, JSON or plain text, to standard error. Never a key, never a body.
//
// Any thread, which never waits for whoever reads the log. Lines of info and below are written at the next wake() or when there are
// many, warnings and errors at once.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace spdlog {
class logger;
}

namespace runwarden::app {

class LineWriter;

enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogFormat : std::uint8_t { json, text };

struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, bool> value;
};

class Log {
 public:
  Log(LogLevel level, LogFormat format);
  ~Log();

  // What is done to each text before it is written, but to ids of requests, by which lines are found. Before other threads write.
  void redact_with(std::function<std::string(std::string_view)> redact) { redact_ = std::move(redact); }

  void write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
  void wake();
  // Waits until all is written, for at most a second: before the process ends.
  void flush();
  std::uint64_t dropped_lines() const;  // because nobody read the log

 private:
  LogFormat format_;
  std::function<std::string(std::string_view)> redact_;
  std::shared_ptr<LineWriter> lines_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace runwarden::app
