// SPDX-License-Identifier: Apache-2.0
//
// Headers of weights that tests write: bytes of GGUF piece by piece, and stored tensors by a line.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/weights/stored.h"
#include "steelyard/error.h"

namespace steelyard::weights {

// Little-endian, as `bytes` bytes.
inline std::string Number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
  return out;
}
inline std::string U32(std::uint64_t value) { return Number(value, 4); }
inline std::string U64(std::uint64_t value) { return Number(value, 8); }
inline std::string Text(std::string_view text) { return U64(text.size()) + std::string(text); }

// The beginning of a GGUF file of version 3.
inline std::string GgufHead(std::uint64_t tensors, std::uint64_t pairs) {
  return "GGUF" + U32(3) + U64(tensors) + U64(pairs);
}
// A tensor's description; sizes as ggml has them.
inline std::string GgufTensor(std::string_view name, const std::vector<std::uint64_t>& sizes,
                              std::uint32_t type, std::uint64_t offset) {
  std::string out = Text(name) + U32(sizes.size());
  for (const std::uint64_t size : sizes) out += U64(size);
  return out + U32(type) + U64(offset);
}
inline std::string Padded(std::string header, std::size_t data) {
  header.resize((header.size() + 31) / 32 * 32 + data, '\0');
  return header;
}

// Adds a tensor behind the others, in file 0.
inline StoredTensor& AddStored(StoredWeights* weights, std::string_view name, DType dtype,
                               const std::vector<std::int64_t>& sizes) {
  const Result<StringId> id = weights->TakeName(name);
  EXPECT_TRUE(id) << name;
  StoredTensor tensor{.name = id ? *id : kNoString, .dtype = dtype};
  tensor.rank = static_cast<std::uint8_t>(sizes.size());
  tensor.sizes = static_cast<std::uint32_t>(weights->sizes.size());
  std::int64_t bits = BitsOf(dtype);
  for (const std::int64_t size : sizes) bits *= size;
  for (const StoredTensor& other : weights->tensors) {
    tensor.begin = std::max(tensor.begin, other.begin + other.bytes);
  }
  tensor.bytes = bits / 8;
  weights->sizes.insert(weights->sizes.end(), sizes.begin(), sizes.end());
  weights->tensors.push_back(tensor);
  return weights->tensors.back();
}

// What is wrong, with place and advice; "" where nothing is.
template <class T>
std::string Refusal(const Result<T>& result) {
  return result ? std::string() : Describe(result.error());
}

}  // namespace steelyard::weights
