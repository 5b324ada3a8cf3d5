// SPDX-License-Identifier: Apache-2.0
//
// Feeds calls of operators, as records of programs and the table of operators write them, to the
// rows: "aten::mm(f32[2,3], f32[3,4])". The first byte chooses the device. Whatever the
// call is, it must be weighed or refused. docs/ops.md has a call of each row.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "ir/text_call.h"
#include "steelyard/weigh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  steelyard::Result<steelyard::Program> program = steelyard::ProgramOfCall(text);
  if (!program) {
    if (program.error().code == steelyard::ErrorCode::kInternal) std::abort();
    return 0;
  }
  steelyard::WeighOptions options;
  if ((data[0] & 1U) != 0) options.target = *steelyard::TargetNamed("h100");
  const auto weighing = steelyard::Weigh(*std::move(program), options);
  if (!weighing && weighing.error().code == steelyard::ErrorCode::kInternal) std::abort();
  return 0;
}
