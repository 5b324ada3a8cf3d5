// SPDX-License-Identifier: Apache-2.0
//
// Modules that several others have: each place has a path of its own in the record.
#pragma once

#include "record/recording.h"

namespace steelyard {

// Calls of such a module become calls of the one whose path names it below what it is called in. A
// call in none of its places stays that of the path that was found first.
void TellPlacesApart(Recording& recording);

}  // namespace steelyard
