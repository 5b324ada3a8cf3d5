// SPDX-License-Identifier: Apache-2.0
//
// The measures that the blocks of a text report share, so that their columns meet.
#pragma once

#include <cstddef>

namespace steelyard::render {

// Where the figures of a section begin: names stand to the left of it, as far as they fit.
inline constexpr std::size_t kFigureColumn = 18;

// What one level of indentation takes.
inline constexpr std::size_t kIndent = 2;

// Spaces between two columns.
inline constexpr std::size_t kGap = 2;

}  // namespace steelyard::render
