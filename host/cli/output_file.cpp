#include "cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/open_fault.h"

namespace runwarden::cli {
namespace fs = std::filesystem;
namespace {

bool is_written_in_place(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

// Where the file is, or will be, to which these links lead.
fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code fault;
  for (int links = 0; links < kMostLinks && fs::is_symlink(path, fault); ++links) path = path.parent_path() / fs::read_symlink(path, fault);
  return path;
}

}  // namespace

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (is_written_in_place(path_)) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else if (path_ = behind_links(std::move(path_)); fs::is_symlink(path_, ignored)) {
    errno = ELOOP;
  } else {
    partial_ = path_.string() + ".partial";
    fs::remove(partial_, ignored);  // left by an interrupted command
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  if (file_ < 0) note_fault("cannot be written");
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  std::error_code ignored;
  if (!done_ && !is_in_place()) fs::remove(partial_, ignored);
}

bool OutputFile::write(std::string_view bytes) {
  while (fault_.empty() && !bytes.empty()) {
    const ssize_t wrote = ::write(file_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return note_fault("could not be written");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return fault_.empty();
}

bool OutputFile::finish() {
  if (!fault_.empty()) return false;
  if (is_in_place()) return true;
  if (::fsync(file_) != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) return note_fault("could not be written");
  done_ = true;
  const fs::path folder = fs::absolute(path_).parent_path();
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) {
    ::fsync(opened);
    ::close(opened);
  }
  return true;
}

bool OutputFile::note_fault(const char* what) {
  const int code = errno;
  fault_ = "\"" + path_.string() + "\" " + what + ": " + open_fault(path_, code, OpenFor::writing);
  return false;
}

ResultOutput::ResultOutput(Context& context, const std::string& path) : context_(context), path_(path) {}

bool ResultOutput::open() {
  if (path_.empty()) return true;
  file_.emplace(path_);
  return file_->fault().empty() || context_.refuse(file_->fault()) == kFine;
}

bool ResultOutput::write(std::string_view bytes) {
  if (file_) return file_->write(bytes);
  context_.out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return context_.out.good();
}

void ResultOutput::flush() {
  if (!file_) context_.out.flush();
}

int ResultOutput::finish() {
  if (!file_) return context_.finish();
  return file_->finish() ? kFine : context_.refuse(file_->fault());
}

}  // namespace runwarden::cli
