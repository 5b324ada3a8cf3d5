// SPDX-License-Identifier: Apache-2.0
//
// What devices ran while a program was watched: from the trace that PyTorch's profiler writes of
// the same time to what stands in the record.
#pragma once

#include <string>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard {

// Chunks that follow a record, in memory or in its file; of no kernel none. `where` names the trace
// in errors.
[[nodiscard]] Result<std::string> KernelChunks(std::string_view record, std::string_view trace,
                                               std::string_view where);

}  // namespace steelyard
