// SPDX-License-Identifier: Apache-2.0
//
// Models that are built, with the weights that come with them: those beside a config.json, or those
// whose own metadata describe the model.
#pragma once

#include <string>

#include "steelyard/import.h"

namespace steelyard {

// Of a folder with weights, which `reader` reads: the model that was built of its config, joined
// with them where they are quantised; or its weights where the config is of none that is built.
Result<Program> WithWeights(Result<Program> built, const Importer& reader, const std::string& path,
                            const ImportOptions& options);

// The model that the weights at `path` describe in their metadata, with them as they are stored; or
// the weights alone, with a note that says why. Requires: reader.config.
Result<Program> DescribedByWeights(const Importer& reader, const std::string& path,
                                   const ImportOptions& options);

}  // namespace steelyard
