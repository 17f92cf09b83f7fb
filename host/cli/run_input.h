// Reads runs out of files: one run, lines of runs (NDJSON), or an export. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/line_reader.h"

namespace runwarden::cli {

// A run's JSON text, or why there is none in its place.
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

  // Gives every run of the file to `take`, in order. Of an export, the latest revisions of runs that have ended. "-" is standard input.
  // False: `take` answered false, which ends the reading.
  using Take = std::function<bool(InputRun run)>;
  bool read(const std::string& file, const Take& take);

  // Runs in exports so far that had not ended, and were passed over.
  std::uint64_t open_runs() const { return open_runs_; }

 private:
  bool read_lines(LineReader& reader, const std::string& file, const Take& take);
  bool read_line(Line line, const std::string& file, const Take& take);
  Error too_large() const;

  const std::size_t max_run_bytes_;
  const Lines lines_;
  bool in_export_ = false;  // between the first and the last line of one
  std::uint64_t open_runs_ = 0;
};

}  // namespace runwarden::cli
