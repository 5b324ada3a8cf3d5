// SPDX-License-Identifier: Apache-2.0
//
// All of Steelyard's C++ interface. Most programs need `Weigh` and `WriteReport`, in weigh.h.
#pragma once

#include "steelyard/builder.h"   // IWYU pragma: export
#include "steelyard/error.h"     // IWYU pragma: export
#include "steelyard/import.h"    // IWYU pragma: export
#include "steelyard/op.h"        // IWYU pragma: export
#include "steelyard/pass.h"      // IWYU pragma: export
#include "steelyard/program.h"   // IWYU pragma: export
#include "steelyard/report.h"    // IWYU pragma: export
#include "steelyard/tables.h"    // IWYU pragma: export
#include "steelyard/timeline.h"  // IWYU pragma: export
#include "steelyard/units.h"     // IWYU pragma: export
#include "steelyard/weigh.h"     // IWYU pragma: export
