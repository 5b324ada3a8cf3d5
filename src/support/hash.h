// SPDX-License-Identifier: Apache-2.0
//
// Two hashes of text: one that is the same everywhere and at compile time, one that is fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace steelyard {

// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). Stable over machines and versions,
// and usable in constant expressions; about one byte per nanosecond.
[[nodiscard]] constexpr std::uint64_t Fnv1a64(std::string_view text) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325U;
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  std::uint64_t hash = kOffsetBasis;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= kPrime;
  }
  return hash;
}

namespace hash_internal {

__extension__ using Uint128 = unsigned __int128;

// The 128-bit product folded onto itself, the mixing step of wyhash
// (github.com/wangyi-fudan/wyhash, public domain): every bit of both factors reaches every bit of
// the result.
[[nodiscard]] inline std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

[[nodiscard]] inline std::uint64_t Load64(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

}  // namespace hash_internal

// A hash for tables in memory: sixteen bytes a step. Depends on byte order and may change with any
// version, so it is never stored or printed. Not meant to withstand chosen keys.
[[nodiscard]] inline std::uint64_t HashText(std::string_view text) {
  using hash_internal::Fold;
  using hash_internal::Load64;
  // Odd constants without structure (wyhash's first secrets), so that zero bytes still mix.
  constexpr std::uint64_t kFirst = 0xa0761d6478bd642fU;
  constexpr std::uint64_t kSecond = 0xe7037ed1a0b428dbU;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = kFirst;
  for (; left > 16; at += 16, left -= 16) {
    hash = Fold(Load64(at) ^ kSecond, Load64(at + 8) ^ hash);
  }
  // The rest, zero-filled. The length comes in last, where no byte can undo it: it keeps "a" and
  // "a\0" apart.
  char tail[16] = {};
  if (left > 0) std::memcpy(tail, at, left);
  return Fold(Fold(Load64(tail) ^ kSecond, Load64(tail + 8) ^ hash), kFirst ^ text.size());
}

}  // namespace steelyard
