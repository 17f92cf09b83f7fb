// A file that a command writes its results to: there under its name once it is whole and on disk, not before. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/context.h"

namespace runwarden::cli {

class OutputFile {
 public:
  // Opens PATH.partial, readable by its owner alone; fault() says whether that worked.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();  // without finish() nothing is left behind
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view bytes);
  bool finish();
  // For the operator; empty: nothing went wrong.
  const std::string& fault() const { return fault_; }

 private:
  bool note_fault(const char* what);

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::string fault_;
  int file_ = -1;
  bool done_ = false;
};

// Where the results of a command go: the file of --output, or standard output without one.
class ResultOutput {
 public:
  ResultOutput(Context& context, const std::string& path);

  // False, told: the file cannot be written at all.
  bool open();
  // False: the rest cannot be written; finish() says why.
  bool write(std::string_view bytes);
  // Flushes what was written so far to standard output.
  void flush();
  bool is_file() const { return !path_.empty(); }
  // kFine if everything was taken, else told and kWanting.
  int finish();

 private:
  Context& context_;
  const std::string path_;
  std::optional<OutputFile> file_;
};

}  // namespace runwarden::cli
