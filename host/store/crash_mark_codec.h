// Encodes and decodes crash marks. Internal to store/. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "model/crash_mark.h"
#include "store/envelope.h"

namespace runwarden::store {

std::string encode_crash_mark(std::string_view key, const model::CrashMark& mark);
// Leaves out what the key says: tenant and place. Throws BadValue.
model::CrashMark decode_crash_mark_value(std::string_view key, std::string_view value);

}  // namespace runwarden::store
