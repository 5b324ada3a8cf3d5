// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/import.h"

namespace steelyard {

// config.json, as transformers writes it: the model is built from it (src/models).
extern const Importer kHfConfigImporter;

// The model of such a file's text, which comes from `path`.
Result<Program> BuildOfConfig(const std::string& text, const std::string& path,
                              const ImportOptions& options);

}  // namespace steelyard
