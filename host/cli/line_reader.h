// Reads a file descriptor line by line, or whole. Holds a bounded number of bytes in memory. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::cli {

struct Line {
  std::uint64_t number = 0;  // from 1; empty lines count
  std::string text;          // without its line end; empty if too long
  bool too_long = false;
};

class LineReader {
 public:
  // The caller closes the descriptor.
  LineReader(int file, std::size_t max_line_bytes);

  // Whether the unread input begins with `text`. Consumes nothing.
  Result<bool> begins_with(std::string_view text);
  // Takes effect with the next line.
  void set_max_line_bytes(std::size_t bytes) { max_line_bytes_ = bytes; }

  // All remaining input; nothing if it exceeds the line limit.
  Result<std::optional<std::string>> rest();
  // The next line that is not blank, or nothing at the end. Never waits for input beyond that line.
  Result<std::optional<Line>> next();

 private:
  Result<bool> fill();  // false at the end

  int file_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

// All input; nothing if it exceeds `max_bytes`.
Result<std::optional<std::string>> read_whole(int file, std::size_t max_bytes);

// A file opened for reading, or standard input for "-". The destructor closes the file.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& name);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();
  int descriptor() const { return file_; }

 private:
  explicit InputFile(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace runwarden::cli
