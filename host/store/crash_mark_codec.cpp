#include "store/crash_mark_codec.h"

#include "store/fields.h"

namespace runwarden::store {
namespace {

// Field numbers are part of the format: never change or reuse them.
namespace field {
enum CrashMark { tenant_name = 1, run_id, content, detector_key, library_sha256, library, signal };
}  // namespace field

}  // namespace

std::string encode_crash_mark(std::string_view key, const model::CrashMark& mark) {
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

model::CrashMark decode_crash_mark_value(std::string_view key, std::string_view value) {
  model::CrashMark mark;
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

}  // namespace runwarden::store
