// SPDX-License-Identifier: Apache-2.0
//
// A hash of text for tables in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace steelyard {

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

[[nodiscard]] inline std::uint64_t Load32(const char* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Up to sixteen bytes as two words, without a loop: loads of fixed sizes that may overlap.
struct Words {
  std::uint64_t a = 0, b = 0;
};
[[nodiscard]] inline Words ShortText(const char* at, std::size_t size) {
  if (size >= 8) return {Load64(at), Load64(at + size - 8)};
  if (size >= 4) return {Load32(at), Load32(at + size - 4)};
  if (size == 0) return {};
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(at[i])}; };
  return {byte(0) << 16U | byte(size / 2) << 8U | byte(size - 1), 0};
}

}  // namespace hash_internal

// Sixteen bytes a step. Depends on byte order and may change with any
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
  // The length comes in last, where no byte can undo it: it tells texts apart whose words overlap.
  const auto [a, b] = hash_internal::ShortText(at, left);
  return Fold(Fold(a ^ kSecond, b ^ hash), kFirst ^ text.size());
}

}  // namespace steelyard
