#include "store/commit_tail.h"

namespace runwarden::store {

bool add_row(TailPage& page, std::uint64_t first, const std::vector<TailItem>& items, std::size_t most) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint64_t number = first + i;
    if (number <= page.next) continue;
    page.too_old = number != page.next + 1;
    if (page.too_old || page.items.size() == most) return false;
    page.next = number;
    if (items[i].kind != TailItem::Kind::other) page.items.push_back(items[i]);
  }
  return true;
}

}  // namespace runwarden::store
