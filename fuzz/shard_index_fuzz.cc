// SPDX-License-Identifier: Apache-2.0
//
// Feeds bytes to the reader of a safetensors index, without the files that it names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/weights/shard_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto index = steelyard::weights::ReadShardIndex(steelyard::PaddedText(text));
  if (!index) {
    if (index.error().code == steelyard::ErrorCode::kInternal) std::abort();
    return 0;
  }
  for (const auto& [name, file] : index->tensors) {
    if (file >= index->files.size()) std::abort();
  }
  // A name that leads elsewhere would have files read that nobody asked for.
  for (const auto& file : index->files) {
    if (file.find('/') != std::string_view::npos) std::abort();
  }
  return 0;
}
