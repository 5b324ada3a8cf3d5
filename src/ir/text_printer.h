// SPDX-License-Identifier: Apache-2.0
//
// A program as text, complete enough to read it back (text_reader.h; the grammar is in
// text_words.h). What has its default is left out.
//
//   std::string text = Print(program);
#pragma once

#include <string>

#include "steelyard/program.h"

namespace steelyard {

// Requires: the program verifies (verify.h). A value used without being defined is printed as
// "%?12", so that a broken program can be looked at.
std::string Print(const Program& program);

}  // namespace steelyard
