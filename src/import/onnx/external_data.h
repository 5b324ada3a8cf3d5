// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose elements stand in files beside the model. Only the few elements of small ones are
// looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "import/memory_map.h"

namespace steelyard::onnx {

class ExternalData {
 public:
  // Where the model is.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // `size` bytes of the file `location`; nothing where they are not there, or where the location
  // leads out of the folder. They stay as long as this does.
  std::optional<std::string_view> Bytes(std::string_view location, std::int64_t offset,
                                        std::size_t size);

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::optional<MemoryMap>, std::less<>> files_;
};

}  // namespace steelyard::onnx
