// SPDX-License-Identifier: Apache-2.0
//
// The tensors that an archive of torch.export keeps apart from the model's weights: buffers that no
// state dict has, and tensors that the model's code makes. No file of weights has them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/padded_text.h"
#include "steelyard/tables.h"

namespace steelyard::pt2 {

class Constants {
 public:
  // Those of the archive at `path` whose elements lie row by row in the file. None of a file that
  // is no such archive, or that does not say what they are: they are then like weights without a
  // file.
  static Constants Of(const std::string& path);

  // They live as long as this does.
  struct Found {
    DType dtype;
    std::span<const std::int64_t> sizes;
    const void* bytes;
  };
  std::optional<Found> Find(std::string_view name) const;

 private:
  struct Tensor {
    DType dtype = DType::kFloat32;
    std::vector<std::int64_t> sizes;
    PaddedText bytes;
  };
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace steelyard::pt2
