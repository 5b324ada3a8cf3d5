// SPDX-License-Identifier: Apache-2.0
//
// The element types of ggml, by the numbers that GGUF files give them. Most are blocks: so many
// elements in so many bytes, scales included, so that the size of any tensor is a division and a
// product.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "steelyard/tables.h"

namespace steelyard::weights {

struct GgmlType {
  std::uint32_t number;
  std::string_view name;        // "q4_k"; of plain types that of the dtype
  std::int64_t block_elements;  // along the first dimension of ggml, the last of PyTorch
  std::int64_t block_bytes;
  // The plain types: what the elements are. Blocks are computed with as float32, the type to which
  // ggml unpacks them.
  std::optional<DType> dtype;
};

std::span<const GgmlType> GgmlTypes();

// The type of that number, or nullptr.
const GgmlType* FindGgmlType(std::uint32_t number);

// What llama.cpp calls a file by its `general.file_type`: "Q4_K_M"; empty for an unknown number.
std::string_view FileTypeNamed(std::int64_t number);

}  // namespace steelyard::weights
