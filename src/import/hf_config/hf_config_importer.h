// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steelyard/import.h"

namespace steelyard {

// config.json, as transformers writes it: the model is built from it (src/models).
extern const Importer kHfConfigImporter;

}  // namespace steelyard
