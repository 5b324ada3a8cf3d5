// SPDX-License-Identifier: Apache-2.0
//
// The importer of the text form of programs (.syt), which tests and people write.
#pragma once

#include "steelyard/import.h"

namespace steelyard {

extern const Importer kTextImporter;

}  // namespace steelyard
