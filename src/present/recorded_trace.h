// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document/recorded_trace.h"
#include "record/spans.h"

namespace steelyard::present {

// All of the spans, as tools that read traces want them.
report::RecordedTrace PresentSpans(const Spans& spans);

}  // namespace steelyard::present
