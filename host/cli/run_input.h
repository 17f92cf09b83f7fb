// Reads runs from files: one run, lines of runs (NDJSON), or an export. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/line_reader.h"

namespace runwarden::cli {

// A run's JSON text, or why it could not be read.
struct InputRun {
  std::string file;
  std::uint64_t line = 0;  // from 1; 0: the file as a whole
  Result<std::string> text;
};

class RunInput {
 public:
  enum class Lines { if_export, always };  // which files are read line by line

  // A run of more than `max_run_bytes` (limits.max_body_bytes) is refused, never held in memory.
  RunInput(std::size_t max_run_bytes, Lines lines) : max_run_bytes_(max_run_bytes), lines_(lines) {}

  // Passes every run of the file to `take`, in order. Reads only the latest revisions of ended runs from an export. "-" is standard input.
  // Stops and returns false when `take` returns false.
  using Take = std::function<bool(InputRun run)>;
  bool read(const std::string& file, const Take& take);

  // The number of runs in exports so far that were skipped because they had not ended.
  std::uint64_t open_runs() const { return open_runs_; }

 private:
  bool read_lines(LineReader& reader, const std::string& file, const Take& take);
  bool read_line(Line line, const std::string& file, const Take& take);
  Error too_large() const;

  const std::size_t max_run_bytes_;
  const Lines lines_;
  bool in_export_ = false;  // between the first and the last line of an export
  std::uint64_t open_runs_ = 0;
};

}  // namespace runwarden::cli
