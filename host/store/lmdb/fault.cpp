#include "store/lmdb/fault.h"

#include <lmdb.h>

#include <cerrno>

#include "store/lmdb/page_guard.h"

namespace runwarden::store {

void fail_lmdb(const char* what, int code) {
  if (code == kPageDamaged || code == kWriteBroken) throw LmdbFault(std::string(what) + ": " + last_damage(), code);
  const std::string text = std::string(what) + ": " + mdb_strerror(code);
  if (code == EFBIG) throw NoRoom(text + ": raise LimitFSIZE= (ulimit -f)");
  if (code == MDB_MAP_FULL || code == MDB_TXN_FULL || code == ENOSPC || code == EDQUOT) throw NoRoom(text);
  throw LmdbFault(text, code);
}

void check_lmdb(const char* what, int code) {
  if (code != MDB_SUCCESS) fail_lmdb(what, code);
}

}  // namespace runwarden::store
