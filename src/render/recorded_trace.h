// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "document/recorded_trace.h"

namespace steelyard::render {

// Gives the trace in pieces, as PyTorch's profiler writes it: the "Trace Event Format" with that
// profiler's categories and names of arguments.
void WriteRecordedTrace(const report::RecordedTrace& trace,
                        const std::function<void(std::string_view piece)>& write);

}  // namespace steelyard::render
