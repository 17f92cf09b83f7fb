#include "store/lmdb/crash_marks.h"

#include "store/fields.h"

namespace runwarden::store {
namespace {

// The numbers are the format: they stay, and are not given to anything else.
namespace field {
enum CrashMark { tenant_name = 1, run_id, content, detector_key, library_sha256, library, signal };
}  // namespace field

std::string encode(std::string_view key, const model::CrashMark& mark) {
  std::string head;
  Writer out(head);
  out.add_string(field::tenant_name, mark.tenant_name);
  out.add_string(field::run_id, mark.run_id);
  add_digest(out, field::content, mark.content);
  out.add_string(field::detector_key, mark.detector_key);
  out.add_string(field::library_sha256, mark.library_sha256);
  out.add_string(field::library, mark.library);
  out.add_sint32(field::signal, mark.signal);
  return seal(key, head);
}

}  // namespace

model::CrashMark decode_crash_mark(std::string_view key, std::string_view value) {
  model::CrashMark mark;
  mark.tenant = tenant_of(key);
  mark.key = record_key_of(key);
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::tenant_name: mark.tenant_name = in.get_string(); return true;
      case field::run_id: mark.run_id = in.get_string(); return true;
      case field::content: mark.content = read_digest(in); return true;
      case field::detector_key: mark.detector_key = in.get_string(); return true;
      case field::library_sha256: mark.library_sha256 = in.get_string(); return true;
      case field::library: mark.library = in.get_string(); return true;
      case field::signal: mark.signal = in.get_sint32(); return true;
      default: return false;
    }
  });
  return mark;
}

void write_crash_mark(WriteTxn& txn, const Tables& tables, const model::CrashMark& mark) {
  const KeyBytes key = place_key(mark.tenant, mark.key);
  txn.put(tables.crash_marks.handle, key, encode(key, mark));
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
