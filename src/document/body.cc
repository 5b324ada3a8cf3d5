// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>

#include "steelyard/report.h"

namespace steelyard::report {

Span::Span(const char* text, Style look) : content(std::string(text)), style(look) {}
Span::Span(std::string text, Style look) : content(std::move(text)), style(look) {}
Span::Span(std::string_view text, Style look) : content(std::string(text)), style(look) {}
Span::Span(Quantity number, Style look) : content(number), style(look) {}

}  // namespace steelyard::report
