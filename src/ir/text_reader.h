// SPDX-License-Identifier: Apache-2.0
//
// Reads the text form of a program, as Print writes it or a person does; the grammar is in
// text_words.h. Almost everything may be left out: names of the model and its modules, ranges,
// contiguous strides, storages, and the types of results, which then have no layout.
//
//   Result<Program> program = ParseText("input %x: f32[2,8]\n%y = aten::relu(%x)\nreturn %y\n",
//                                       "relu.txt");
#pragma once

#include <string_view>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// An error names `file_name`, line and column, and its hint shows the line. No text can exhaust the
// stack, or memory beyond a small multiple of its own size. What is returned verifies (verify.h).
Result<Program> ParseText(std::string_view text, std::string_view file_name);

}  // namespace steelyard
