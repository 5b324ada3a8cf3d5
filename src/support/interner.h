// SPDX-License-Identifier: Apache-2.0
//
// A pool of strings in which each distinct text is stored once and named by a small number. Graphs
// of a million nodes repeat a few thousand names; with ids they are compared and stored as
// integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace steelyard {

// Ids are dense, from 0 in order of first appearance, so that they index vectors. Texts live in
// large chunks: no heap object per string, and a view stays valid as long as the pool does, however
// much is added. Not safe for writing from several threads; reading is.
class StringInterner {
 public:
  StringInterner() = default;
  ~StringInterner() = default;
  // A copy holds the same ids over storage of its own.
  StringInterner(const StringInterner& other);
  StringInterner& operator=(const StringInterner& other);
  // The views of a pool stay valid when it is moved.
  StringInterner(StringInterner&&) noexcept = default;
  StringInterner& operator=(StringInterner&&) noexcept = default;

  // Returns the id of `text`, storing a copy if it is new. `text` may be empty, hold any bytes, and
  // point into this pool. Requires: fewer than 2^32 - 1 distinct texts.
  std::uint32_t Intern(std::string_view text);

  // Returns the id of `text`, or nothing if it was never interned.
  [[nodiscard]] std::optional<std::uint32_t> Find(std::string_view text) const;

  // Returns the text of `id`, in constant time. Requires: id < size().
  [[nodiscard]] std::string_view operator[](std::uint32_t id) const { return texts_[id]; }

  // How many distinct texts there are; the next new one gets this id.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

  // Prepares for `count` texts in all, to save growing on the way.
  void Reserve(std::size_t count);

 private:
  // A slot holds 32 bits of the hash beside the id: nearly all unequal texts are told apart without
  // touching them, and growing needs no text at all.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = kFree;
  };
  static constexpr std::uint32_t kFree = 0xffffffffU;

  [[nodiscard]] std::size_t Probe(std::string_view text, std::uint32_t hash) const;
  void Rehash(std::size_t slot_count);
  std::string_view Store(std::string_view text);

  std::vector<Slot> slots_;  // A power of two, at most three quarters full.
  std::vector<std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;       // The unused end of the newest chunk, ...
  std::size_t free_size_ = 0;  // ... and its length.
};

}  // namespace steelyard
