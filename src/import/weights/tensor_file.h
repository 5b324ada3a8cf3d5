// SPDX-License-Identifier: Apache-2.0
//
// A safetensors file whose tensors are looked at: mapped into memory, so that only what is looked
// at is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "import/memory_map.h"
#include "import/weights/stored.h"
#include "steelyard/error.h"

namespace steelyard::weights {

class TensorFile {
 public:
  static Result<TensorFile> Open(const std::string& path);

  // One of its tensors: what it is, and its elements, row by row. They live as long as the file.
  struct Found {
    DType dtype;
    std::span<const std::int64_t> sizes;
    const void* bytes;
  };
  std::optional<Found> Find(std::string_view name) const;

 private:
  TensorFile(MemoryMap map, std::unique_ptr<StoredWeights> stored);

  MemoryMap map_;
  std::unique_ptr<StoredWeights> stored_;
  std::size_t data_ = 0;  // where the elements begin
  std::unordered_map<std::string_view, std::size_t> places_;
};

}  // namespace steelyard::weights
