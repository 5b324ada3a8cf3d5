// SPDX-License-Identifier: Apache-2.0
//
// What a config.json beside a file of weights says of how they are packed, where no header does.
#pragma once

#include <string>

#include "import/padded_text.h"
#include "import/weights/quantised_layers.h"

namespace steelyard::weights {

// Reads the config.json in the folder of the file at `path`. No hints where there is none, or where
// it says nothing or several things.
QuantisationHints ReadHints(const std::string& path);

// The same from its text.
QuantisationHints HintsIn(const PaddedText& config);

}  // namespace steelyard::weights
