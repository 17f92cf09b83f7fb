// The files of the web page, built into the program. Values that live as long as the process; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runwarden::page {

struct File {
  std::string_view name;  // as in /ui/assets/NAME
  std::string_view content_type;
  std::string_view text;
  std::string etag;  // with its quotes (RFC 9110, section 8.8.3)
};

// Every file but index_file().
const std::vector<File>& files();

// The file of that name; null if there is none.
const File* find_file(std::string_view name);

// The document for every address of the page; its scripts interpret the address.
const File& index_file();

}  // namespace runwarden::page
