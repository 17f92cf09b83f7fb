// A file for a command's results. It appears under its name only once it is complete and on disk: beside the target where the name is a
// symbolic link. What is not a regular file, such as a pipe or a device, is written in place. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/context.h"

namespace runwarden::cli {

class OutputFile {
 public:
  // Opens PATH.partial, readable only by its owner, or what is to be written in place; fault() is set if that fails.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();  // without finish(), deletes the file
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view bytes);
  bool finish();
  // What is written is not undone by a failure.
  bool is_in_place() const { return partial_.empty(); }
  // A text for the operator; empty: no fault.
  const std::string& fault() const { return fault_; }

 private:
  bool note_fault(const char* what);

  std::filesystem::path path_;
  std::filesystem::path partial_;  // empty: written in place
  std::string fault_;
  int file_ = -1;
  bool done_ = false;
};

// The destination of a command's results: the file of --output, or else standard output.
class ResultOutput {
 public:
  ResultOutput(Context& context, const std::string& path);

  // False, after a message, if the file cannot be created.
  bool open();
  // False: the rest cannot be written; finish() says why.
  bool write(std::string_view bytes);
  // Flushes standard output.
  void flush();
  // Whether nobody sees what was written so far if the output is opened again instead of finished.
  bool can_begin_again() const { return file_ && !file_->is_in_place(); }
  // Returns kFine if everything was written, or else reports the fault and returns kWanting.
  int finish();

 private:
  Context& context_;
  const std::string path_;
  std::optional<OutputFile> file_;
};

}  // namespace runwarden::cli
