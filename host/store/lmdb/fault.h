// What LMDB refuses, as exceptions. Internal to store/. Any thread.
#pragma once

#include <stdexcept>
#include <string>

namespace runwarden::store {

// No room in the map or on the disk. The transaction is gone; the store is unchanged.
struct NoRoom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Anything else LMDB refuses.
struct LmdbFault : std::runtime_error {
  LmdbFault(const std::string& text, int of) : std::runtime_error(text), code(of) {}
  int code;
};

// Throws what LMDB's answer to that call means: NoRoom or LmdbFault.
[[noreturn]] void fail_lmdb(const char* what, int code);
// Does so unless the call succeeded.
void check_lmdb(const char* what, int code);

}  // namespace runwarden::store
