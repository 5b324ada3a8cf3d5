// SPDX-License-Identifier: Apache-2.0
//
// The config.json that the metadata of a GGUF file stand for.
#pragma once

#include <string>

#include "import/weights/gguf_metadata.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard::weights {

// `weights` are the file's, a program without a graph. Unsupported where the architecture is none
// whose config is known, or where the metadata do not say all of it.
Result<std::string> ConfigOf(const GgufMetadata& metadata, const Program& weights);

}  // namespace steelyard::weights
