// SPDX-License-Identifier: Apache-2.0
//
// The header of a safetensors file: eight bytes that say how long it is, and JSON that says of each
// tensor what it is and where it lies (https://github.com/huggingface/safetensors, "Format").
#pragma once

#include <cstdint>
#include <string>

#include "import/padded_text.h"
#include "import/weights/stored.h"
#include "steelyard/error.h"

namespace steelyard::weights {

// The longest header that the format allows.
inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;

// Adds the tensors of the file at `path` to `weights`, as of its file `file`.
Status ReadSafetensors(const std::string& path, std::uint32_t file, StoredWeights* weights);

// The same from a header without its length, of a file with so many bytes of data.
Status ReadSafetensorsHeader(const PaddedText& header, std::int64_t data_bytes, std::uint32_t file,
                             StoredWeights* weights);

}  // namespace steelyard::weights
