// Where each kind of record is stored: the databases and their keys. Internal to store/. Pure; any thread.
//
// Keys consist of big-endian numbers, so they sort like the numbers: tenant u32, time i64 with its sign bit flipped, seq u64.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "model/record_key.h"

namespace runwarden::store {

constexpr std::uint32_t kFormat = 2;  // of everything below; a store with a later format is refused

// LMDB accepts no longer keys.
constexpr std::size_t kLongestKey = 511;

// A key under construction.
class KeyBytes {
 public:
  KeyBytes() = default;
  // Copies the bytes in use, not the whole buffer.
  KeyBytes(const KeyBytes& other) : size_(other.size_) { std::memcpy(bytes_.data(), other.bytes_.data(), size_); }
  KeyBytes& operator=(const KeyBytes& other) {
    size_ = other.size_;
    std::memmove(bytes_.data(), other.bytes_.data(), size_);
    return *this;
  }

  KeyBytes& u8(std::uint8_t number) { return be(number); }
  KeyBytes& u32(std::uint32_t number) { return be(number); }
  KeyBytes& u64(std::uint64_t number) { return be(number); }
  KeyBytes& time(std::int64_t ms) { return be(static_cast<std::uint64_t>(ms) ^ (std::uint64_t{1} << 63)); }
  KeyBytes& place(model::TenantId tenant, const model::RecordKey& key) { return u32(tenant).time(key.time_ms).u64(key.seq); }
  KeyBytes& bytes(std::string_view text) {
    const std::size_t taken = text.size() < kLongestKey - size_ ? text.size() : kLongestKey - size_;
    if (taken != 0) std::memcpy(bytes_.data() + size_, text.data(), taken);
    size_ += taken;
    return *this;
  }
  std::string_view view() const { return {bytes_.data(), size_}; }
  operator std::string_view() const { return view(); }

 private:
  template <class Number>
  KeyBytes& be(Number number) {
    for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8) {
      bytes_[size_++] = static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 255);
    }
    return *this;
  }

  std::array<char, kLongestKey> bytes_;
  std::size_t size_ = 0;
};

inline std::uint64_t read_be(std::string_view key, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<std::uint8_t>(key[at + i]);
  return number;
}

inline std::int64_t read_time(std::string_view key, std::size_t at) {
  return static_cast<std::int64_t>(read_be(key, at, 8) ^ (std::uint64_t{1} << 63));
}

constexpr int kCounterBits = 40;  // of a seq, below the number of the start that gave it
constexpr std::size_t kPlaceBytes = 20;

inline KeyBytes place_key(model::TenantId tenant, const model::RecordKey& key) {
  return KeyBytes().place(tenant, key);
}

inline model::TenantId tenant_of(std::string_view key) {
  return static_cast<model::TenantId>(read_be(key, 0, 4));
}

// The RecordKey of a key that begins with a place.
inline model::RecordKey record_key_of(std::string_view key) {
  return {read_time(key, 4), read_be(key, 12, 8)};
}

struct RunKey {
  model::TenantId tenant = 0;
  model::RecordKey key;
  bool operator==(const RunKey&) const = default;
};

// The byte that follows a run's place in the keys of its events.
enum class EventPart : std::uint8_t {
  packed = 0,  // the events of previous revisions, one value
  chunk = 1,   // then the index of the first event u32: events that came together
  id = 2,      // then the half digest of an eventId seen in this run; no value
};

inline KeyBytes part_key(const RunKey& place, EventPart part) {
  return place_key(place.tenant, place.key).u8(static_cast<std::uint8_t>(part));
}
inline KeyBytes chunk_key(const RunKey& place, std::uint32_t first) {
  return part_key(place, EventPart::chunk).u32(first);
}
inline KeyBytes events_key(const RunKey& place, bool packed, std::uint32_t first) {
  return packed ? part_key(place, EventPart::packed) : chunk_key(place, first);
}
inline KeyBytes event_id_key(const RunKey& place, std::string_view half) {
  return part_key(place, EventPart::id).bytes(half);
}

}  // namespace runwarden::store
