#include "store/lmdb/crash_marks.h"

#include "store/crash_mark_codec.h"

namespace runwarden::store {

model::CrashMark decode_crash_mark(std::string_view key, std::string_view value) {
  model::CrashMark mark = decode_crash_mark_value(key, value);
  mark.tenant = tenant_of(key);
  mark.key = record_key_of(key);
  return mark;
}

void write_crash_mark(WriteTxn& txn, const Tables& tables, const model::CrashMark& mark) {
  const KeyBytes key = place_key(mark.tenant, mark.key);
  txn.put(tables.crash_marks.handle, key, encode_crash_mark(key, mark));
}

std::vector<model::CrashMark> read_crash_marks(const Txn& txn, const Tables& tables) {
  std::vector<model::CrashMark> marks;
  Cursor cursor(txn, tables.crash_marks.handle);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    marks.push_back(decoded(tables.crash_marks, cursor.key(), [&] { return decode_crash_mark(cursor.key(), cursor.value()); }));
  }
  return marks;
}

}  // namespace runwarden::store
