// Names of users, for errors. Any thread.
#pragma once

#include <string>

namespace runwarden {

// The name of the user with that id, or the id if it has no name.
std::string user_name(unsigned id);

}  // namespace runwarden
