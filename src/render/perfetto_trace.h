// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "document/recorded_trace.h"

namespace steelyard::render {

// Gives the trace in pieces, as Perfetto's own format has it (perfetto_trace.proto): a third of the
// size of the JSON, and read without a limit by its viewer.
void WritePerfettoTrace(const report::RecordedTrace& trace,
                        const std::function<void(std::string_view piece)>& write);

}  // namespace steelyard::render
