// SPDX-License-Identifier: Apache-2.0
//
// Functions of Python as they are called in this thread, written into the record.
#pragma once

#include <string>
#include <vector>

#include "session/watch.h"

namespace steelyard::python {

// Files are named without the longest of `prefixes` with which they begin. The lock of Python is
// held; one at a time. What is running already is entered first. Those of files in the folder `own`
// are left out.
void BeginFunctions(const SyObserver& observer, std::vector<std::string> prefixes, std::string own);
void EndFunctions();

}  // namespace steelyard::python
