#include "cli/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace runwarden::cli {
namespace {

TEST(Table, AlignsCharactersAndShowsNoControlCodes) {
  Table table({"ID", "NAME"});
  table.add({"é1", "x\x1b[31m"});
  table.add({"long-id", ""});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "ID       NAME\né1       x?[31m\nlong-id  -\n");
}

}  // namespace
}  // namespace runwarden::cli
