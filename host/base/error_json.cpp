#include "base/error_json.h"

namespace runwarden {

void write_error(JsonWriter& out, const Error& error) {
  out.key("status").integer(http_status(error.code)).key("detail").string(error.detail).key("code").string(code_name(error.code));
  if (error.faults.empty()) return;
  out.key("errors").begin_array();
  for (const FieldFault& fault : error.faults) {
    out.begin_object().key("pointer").string(fault.pointer).key("code").string(fault.code);
    out.key("detail").string(fault.detail).end_object();
  }
  out.end_array();
}

}  // namespace runwarden
