// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steelyard/import.h"

namespace steelyard {

extern const Importer kSafetensorsImporter;

}  // namespace steelyard
