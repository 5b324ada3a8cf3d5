// SPDX-License-Identifier: Apache-2.0
//
// Writes tensors as a safetensors file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "execute/engine_abi.h"
#include "steelyard/error.h"

namespace steelyard {

class TensorWriter {
 public:
  // A copy of the elements. Requires: no other tensor of this name was added.
  Status Add(std::string_view name, const SyElements& elements);
  Status Write(const std::string& path) const;

 private:
  std::string header_;  // the inside of its object
  std::vector<char> data_;
};

}  // namespace steelyard
