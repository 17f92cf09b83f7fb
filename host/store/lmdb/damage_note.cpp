#include "store/lmdb/damage_note.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "store/lmdb/store_use.h"

namespace runwarden::store {
namespace {

std::filesystem::path place(const std::filesystem::path& folder) {
  return folder / "damage.note";
}

// Nothing is written to the file after the note. A file that differs, or was written since, has been restored.
std::string identity(const std::filesystem::path& folder) {
  struct stat found {};
  if (::stat((folder / "data.mdb").c_str(), &found) != 0) return {};
  return std::to_string(found.st_ino) + ":" + std::to_string(found.st_size) + ":" + std::to_string(found.st_mtim.tv_sec) + ":" +
         std::to_string(found.st_mtim.tv_nsec);
}

}  // namespace

std::string DamageNote::read(const std::filesystem::path& folder) {
  std::ifstream in(place(folder));
  std::string of;
  std::string why;
  if (!std::getline(in, of) || !std::getline(in, why) || of != identity(folder)) return {};
  return why;
}

void DamageNote::write(const std::filesystem::path& folder, const std::string& why) {
  const int file = ::open(place(folder).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  give_to_owner_of(folder, file);
  const std::string text = identity(folder) + "\n" + why + "\n";
  [[maybe_unused]] const auto wrote = ::write(file, text.data(), text.size());
  ::fsync(file);
  ::close(file);
}

void DamageNote::remove(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove(place(folder), ignored);
}

}  // namespace runwarden::store
