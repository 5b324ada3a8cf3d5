// SPDX-License-Identifier: Apache-2.0
//
// A file as bytes that the operating system brings in as they are looked at: what is never looked
// at, as the weights of a model, is never read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "steelyard/error.h"

namespace steelyard {

class MemoryMap {
 public:
  static Result<MemoryMap> Open(const std::string& path);

  MemoryMap(MemoryMap&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;
  ~MemoryMap();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MemoryMap(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace steelyard
