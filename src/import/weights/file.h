// SPDX-License-Identifier: Apache-2.0
//
// A file of weights, of which only the beginning is read: a hundred gigabytes of tensors behind it
// stay where they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "steelyard/error.h"

namespace steelyard::weights {

class File {
 public:
  // A regular file; anything else is refused before it is opened.
  static Result<File> Open(const std::string& path);
  File(File&& other) noexcept : descriptor_(other.descriptor_), size_(other.size_) {
    other.descriptor_ = -1;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File& operator=(File&&) = delete;
  ~File();

  std::int64_t size() const { return size_; }
  // Fills `out` from `offset` on; false where the file has not so much, or cannot be read.
  bool Read(std::int64_t offset, std::span<char> out) const;

 private:
  File(int descriptor, std::int64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  std::int64_t size_;
};

}  // namespace steelyard::weights
