// The decimal text of a JSON number. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::intake {

// "502" for 502.0 and 5.02e2, "12.5" for 1.25e1: without an exponent, and without the fraction of a whole number. A number of more than 40
// characters in this form, not counting its sign, is returned as written.
std::string decimal_text(std::string_view json_number);

}  // namespace runwarden::intake
