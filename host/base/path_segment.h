// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden {

// The text as one segment of a URL's path (RFC 3986, section 3.3): what is not unreserved is percent-encoded, and so are "." and "..",
// which a client would take for steps (section 5.2.4).
std::string path_segment(std::string_view text);

}  // namespace runwarden
