// SPDX-License-Identifier: Apache-2.0
//
// A report that was stored as JSON may have been written by another version, edited or cut. What is
// read of it is checked first, so that no figure is shown that it does not state.
#pragma once

#include "steelyard/error.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Returns an error that names the first field that a comparison reads and that is missing, of
// another type or impossible: a negative size, categories that do not add up to the peak, two
// modules of one path. Fields that a comparison does not read are not looked at.
Status CheckStoredReport(report::DataView report);

}  // namespace steelyard::present
