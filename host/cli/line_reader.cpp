#include "cli/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/open_fault.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

// Appends the result of one read(2) to `out`. False at the end of the file.
Result<bool> read_some(int file, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + kChunkBytes);
  ssize_t got = -1;
  do {
    got = ::read(file, out.data() + before, kChunkBytes);
  } while (got < 0 && errno == EINTR);
  out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return Error{Code::internal, std::string("cannot read: ") + std::strerror(errno), {}, {}};
  return got > 0;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

LineReader::LineReader(int file, std::size_t max_line_bytes) : file_(file), max_line_bytes_(max_line_bytes) {}

Result<bool> LineReader::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  return read_some(file_, buffer_);
}

Result<bool> LineReader::begins_with(std::string_view text) {
  while (buffer_.size() - at_ < text.size()) {
    const auto more = fill();
    if (!more.ok()) return more.error();
    if (!*more) break;
  }
  return std::string_view(buffer_).substr(at_).starts_with(text);
}

Result<std::optional<std::string>> LineReader::rest() {
  for (;;) {
    if (buffer_.size() - at_ > max_line_bytes_) return std::optional<std::string>();
    const auto more = fill();
    if (!more.ok()) return more.error();
    if (!*more) return std::optional(std::exchange(buffer_, {}).substr(std::exchange(at_, 0)));
  }
}

Result<std::optional<Line>> LineReader::next() {
  Line line;
  std::size_t looked_at = at_;
  for (;;) {
    const auto end = buffer_.find('\n', looked_at);
    if (end != std::string::npos || line.too_long) {
      if (end == std::string::npos) {
        at_ = buffer_.size();
      } else {
        if (!line.too_long) line.text.assign(buffer_, at_, end - at_);
        at_ = end + 1;
        line.number = ++number_;
        if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
        if (line.text.size() > max_line_bytes_) line = Line{line.number, {}, true};
        if (line.too_long || !is_blank(line.text)) return std::optional(std::move(line));
        line = Line{};
        looked_at = at_;
        continue;
      }
    } else if (buffer_.size() - at_ > max_line_bytes_ + 1) {
      line.too_long = true;
      at_ = buffer_.size();
    }
    const std::size_t seen = buffer_.size() - at_;
    const auto more = fill();
    if (!more.ok()) return more.error();
    looked_at = seen;
    if (*more) continue;
    if (buffer_.empty() && !line.too_long) return std::optional<Line>();
    buffer_ += '\n';  // the last line lacks a line end
  }
}

Result<std::optional<std::string>> read_whole(int file, std::size_t max_bytes) {
  return LineReader(file, max_bytes).rest();
}

Result<InputFile> InputFile::open(const std::string& name) {
  if (name == "-") return InputFile(STDIN_FILENO);
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  int code = file < 0 ? errno : 0;
  struct stat found {};
  if (file >= 0 && ::fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) code = EISDIR;
  if (code == 0) return InputFile(file);
  if (file >= 0) ::close(file);
  return Error{Code::not_found, "cannot open \"" + name + "\": " + open_fault(name, code, OpenFor::reading), {}, {}};
}

InputFile::InputFile(InputFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

InputFile::~InputFile() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

}  // namespace runwarden::cli
