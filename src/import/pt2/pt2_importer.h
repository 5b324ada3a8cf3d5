// SPDX-License-Identifier: Apache-2.0
//
// The importer of torch.export archives (.pt2).
#pragma once

#include "steelyard/import.h"

namespace steelyard {

extern const Importer kPt2Importer;

}  // namespace steelyard
