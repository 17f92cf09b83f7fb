// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// Encodes the text as one segment of a URL's path (RFC 3986, section 3.3). Percent-encodes all but unreserved characters, and also "." and
// "..", which clients would resolve as relative segments (section 5.2.4).
std::string path_segment(std::string_view text);

}  // namespace runwarden
