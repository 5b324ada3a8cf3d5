// SPDX-License-Identifier: Apache-2.0
//
// The header of a GGUF file: metadata, and of each tensor its name, sizes, type and place
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; versions 2 and 3, either byte order).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/weights/gguf_metadata.h"
#include "import/weights/stored.h"
#include "steelyard/error.h"

namespace steelyard::weights {

// What a file says of a set that it belongs to.
struct GgufSplit {
  std::int64_t number = 0;              // from 0
  std::int64_t count = 1;               // 1: the file is all there is
  std::optional<std::int64_t> tensors;  // of all files together
};

// Adds the tensors of the file at `path` to `weights`, as of its file `file`; of file 0 the facts
// as well.
Result<GgufSplit> ReadGguf(const std::string& path, std::uint32_t file, StoredWeights* weights);

// Its metadata alone.
Result<GgufMetadata> ReadGgufMetadata(const std::string& path);

}  // namespace steelyard::weights
