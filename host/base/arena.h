// Memory that is freed all at once, with texts and lists in it. One owner, one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory_resource>
#include <new>
#include <string_view>
#include <type_traits>

namespace runwarden {

using Arena = std::pmr::monotonic_buffer_resource;

// An arena that allocates nothing before its first `Bytes` are used up.
template <std::size_t Bytes>
class LocalArena {
 public:
  LocalArena() = default;
  LocalArena(const LocalArena&) = delete;
  LocalArena& operator=(const LocalArena&) = delete;

  Arena& get() { return arena_; }
  void release() { arena_.release(); }

 private:
  alignas(std::max_align_t) std::array<std::byte, Bytes> first_;
  Arena arena_{first_.data(), first_.size()};
};

// A copy of the text that lives as long as the arena.
inline std::string_view keep_text(Arena& arena, std::string_view text) {
  if (text.empty()) return {};
  auto* const at = static_cast<char*>(arena.allocate(text.size(), 1));
  std::memcpy(at, text.data(), text.size());
  return {at, text.size()};
}

// A list whose elements live in an arena and stay where they are. A copy shares the elements: append to only one of them.
template <class T>
class ArenaList {
  struct Node {
    T value;
    Node* next;
  };

  template <class Value>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    explicit Iterator(Node* at) : at_(at) {}
    reference operator*() const { return at_->value; }
    pointer operator->() const { return &at_->value; }
    Iterator& operator++() {
      at_ = at_->next;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      at_ = at_->next;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Node* at_ = nullptr;
  };

 public:
  using iterator = Iterator<T>;
  using const_iterator = Iterator<const T>;

  T& append(Arena& arena, const T& value = {}) {
    static_assert(std::is_trivially_destructible_v<T>);
    Node* const node = new (arena.allocate(sizeof(Node), alignof(Node))) Node{value, nullptr};
    (last_ == nullptr ? first_ : last_->next) = node;
    last_ = node;
    return node->value;
  }

  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }  // counts them
  T& back() { return last_->value; }
  const T& back() const { return last_->value; }
  const T& front() const { return first_->value; }

  iterator begin() { return iterator(first_); }
  iterator end() { return {}; }
  const_iterator begin() const { return const_iterator(first_); }
  const_iterator end() const { return {}; }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace runwarden
