// Text without the difference of capital and small letters, of any script, for searching. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// The text with every character in lower case, one by one: "ß" is not "ss". Bytes that are not UTF-8 stay as they are.
std::string fold_case(std::string_view text);

}  // namespace runwarden
