// What a folder says of the store that it holds or held, before anything is opened. For the files of store/ and the commands that name
// a store; any thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace runwarden::store {

enum class FolderState {
  no_store,  // nothing shows that one was ever there
  store,     // data.mdb is there and not empty
  lost,      // data.mdb is missing or empty beside what a store leaves in its folder
};

FolderState look_at_folder(const std::filesystem::path& folder);

// Refuses a folder whose store is lost, with the remedy. One that another process is just making is waited for.
Status refuse_lost_store(const std::filesystem::path& folder);

}  // namespace runwarden::store
