// Reads a file descriptor line by line, or whole, never more than a bound into memory. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::cli {

struct Line {
  std::uint64_t number = 0;  // from 1, empty lines counted
  std::string text;          // without its line end; empty when too long
  bool too_long = false;
};

class LineReader {
 public:
  // Reads from a descriptor that the caller closes.
  LineReader(int file, std::size_t max_line_bytes);

  // Whether what comes next begins so; nothing of it is taken yet.
  Result<bool> begins_with(std::string_view text);
  // From the next line on.
  void set_max_line_bytes(std::size_t bytes) { max_line_bytes_ = bytes; }

  // Everything that is left; nothing if it is more than the bound of a line.
  Result<std::optional<std::string>> rest();
  // The next line that is not empty, or nothing at the end. Never waits for more than that line.
  Result<std::optional<Line>> next();

 private:
  Result<bool> fill();  // false at the end

  int file_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

// Everything there is to read; nothing if it is more than the bound.
Result<std::optional<std::string>> read_whole(int file, std::size_t max_bytes);

// A file opened for reading, or standard input for "-", closed when it goes.
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
