#include "store/lmdb/ledger_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/base64.h"
#include "store/errors.h"
#include "store/lmdb/store.h"
#include "store/lmdb/store_use.h"

namespace runwarden::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;  // of ledger.last before it is rewritten
constexpr std::uint64_t kMostKeyBytes = 4096;

class File {
 public:
  explicit File(int file) : file_(file) {}
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw StoreError(std::string("ledger: cannot ") + what + " \"" + path.string() + "\": " + std::strerror(errno));
}

void sync_folder(const fs::path& folder) {
  const File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) fail("sync", folder);
}

void write_all(int file, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string read_from(int file, std::uint64_t from, std::uint64_t most, const fs::path& path) {
  std::string bytes(most, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(from + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

// Writes a file that only its owner can access, and that exists completely or not at all.
void put_file(const fs::path& folder, const char* name, std::string_view bytes) {
  const fs::path path = folder / name;
  const fs::path partial = path.string() + ".partial";
  {
    const File file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) fail("make", partial);
    give_to_owner_of(folder, file.get());
    write_all(file.get(), bytes, partial);
    if (::fsync(file.get()) != 0) fail("sync", partial);
  }
  if (::rename(partial.c_str(), path.c_str()) != 0) fail("make", path);
  sync_folder(folder);
}

std::string line_of(const std::string& origin, const LedgerLast::Noted& noted) {
  const auto& root = noted.tree.root;
  return origin + " " + std::to_string(noted.tree.size) + " " + bytes_to_base64({reinterpret_cast<const char*>(root.data()), root.size()}) +
         (noted.by_both_keys ? " 2 " : " 1 ") + std::to_string(noted.announced) + "\n";
}

std::string_view next_word(std::string_view& line) {
  const auto end = std::min(line.find(' '), line.size());
  const auto word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<ledger::SigningKey> LedgerKeys::read(const char* name) const {
  const fs::path path = folder_ / name;
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    fail("open", path);
  }
  auto key = ledger::SigningKey::from_pem(read_from(file.get(), 0, kMostKeyBytes, path));
  if (!key.ok()) throw StoreError("ledger: \"" + path.string() + "\": " + key.error().detail + "; restore it from a backup");
  return std::move(*key);
}

void LedgerKeys::write(const char* name, const ledger::SigningKey& key) const {
  put_file(folder_, name, key.pem());
}

ledger::SigningKey LedgerKeys::current(std::string_view noted) {
  auto key = read(kLedgerKey);
  if (key && (noted.empty() || key->public_key() == noted)) return std::move(*key);
  if (const auto next = read(kNextLedgerKey); next && next->public_key() == noted) {
    take_next();
    key = read(kLedgerKey);
  }
  if (key) return std::move(*key);
  ledger::SigningKey made = ledger::SigningKey::make();
  write(kLedgerKey, made);
  return made;
}

void LedgerKeys::check_current(std::string_view noted) const {
  const auto key = read(kLedgerKey);
  if (!noted.empty() && (!key || key->public_key() != noted)) read(kNextLedgerKey);
}

void LedgerKeys::check_all() const {
  for (const char* name : {kLedgerKey, kPreviousLedgerKey, kNextLedgerKey}) read(name);
}

std::optional<ledger::SigningKey> LedgerKeys::previous(std::string_view public_key) const {
  auto key = read(kPreviousLedgerKey);
  if (!key || key->public_key() != public_key) return std::nullopt;
  return key;
}

ledger::SigningKey LedgerKeys::make_next() {
  ledger::SigningKey next = ledger::SigningKey::make();
  write(kNextLedgerKey, next);
  return next;
}

void LedgerKeys::take_next() {
  const auto rename = [&](const char* from, const char* to) {
    if (::rename((folder_ / from).c_str(), (folder_ / to).c_str()) != 0 && errno != ENOENT) fail("rename", folder_ / from);
  };
  // If this is interrupted in between, there is no current key, and the next call of current() takes the next one.
  rename(kLedgerKey, kPreviousLedgerKey);
  rename(kNextLedgerKey, kLedgerKey);
  sync_folder(folder_);
}

bool LedgerLast::is_there() const {
  std::error_code fault;
  return fs::exists(folder_ / kLedgerLast, fault);
}

// Skips lines that a crash has cut short, and lines of another form.
void LedgerLast::take_lines(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string origin(next_word(line));
    const std::string size(next_word(line));
    const std::string root = bytes_from_base64(next_word(line)).bytes;
    const std::string_view signatures = next_word(line);
    const std::string announced(next_word(line));
    Noted noted;
    if (!is_number(size)) continue;
    if (root.size() != noted.tree.root.size() || (signatures != "1" && signatures != "2")) continue;
    noted.tree.size = std::stoull(size);
    std::copy(root.begin(), root.end(), noted.tree.root.begin());
    noted.by_both_keys = signatures == "2";
    noted.announced = std::stoull(is_number(announced) ? announced : size);  // a line without it counts as announced
    noted_[origin] = noted;
  }
}

const std::map<std::string, LedgerLast::Noted>& LedgerLast::read() {
  const fs::path path = folder_ / kLedgerLast;
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (file.get() < 0 && errno == ENOENT) {
    noted_.clear();
    file_ = 0;
    upto_ = 0;
    return noted_;
  }
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0) fail("open", path);
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (found.st_ino != file_ || size < upto_) {
    noted_.clear();
    upto_ = 0;
    file_ = found.st_ino;
  }
  const std::string text = read_from(file.get(), upto_, size - upto_, path);
  const auto end = text.rfind('\n');
  if (end == std::string::npos) return noted_;
  take_lines(std::string_view(text).substr(0, end + 1));
  upto_ += end + 1;
  return noted_;
}

void LedgerLast::note(const std::map<std::string, Noted>& checkpoints) {
  const fs::path path = folder_ / kLedgerLast;
  const bool is_new = !is_there();
  std::uint64_t size = 0;
  {
    const File file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    struct stat found {};
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX) != 0 || ::fstat(file.get(), &found) != 0) fail("open", path);
    if (found.st_nlink == 0) return note(checkpoints);  // another process has rewritten it
    if (is_new) give_to_owner_of(folder_, file.get());
    size = static_cast<std::uint64_t>(found.st_size);
    std::string text;
    if (size > 0 && read_from(file.get(), size - 1, 1, path) != "\n") text = "\n";  // a crash has cut the last line short
    for (const auto& [origin, noted] : checkpoints) text += line_of(origin, noted);
    write_all(file.get(), text, path);
    if (::fsync(file.get()) != 0) fail("sync", path);
    if (size > kMostBytes) rewrite();
  }
  if (is_new) sync_folder(folder_);
}

// Call while the file is locked.
void LedgerLast::rewrite() {
  std::string text;
  for (const auto& [origin, noted] : read()) text += line_of(origin, noted);
  if (text.size() < kMostBytes / 2) put_file(folder_, kLedgerLast, text);
}

}  // namespace runwarden::store
