// SPDX-License-Identifier: Apache-2.0
//
// Steps of DeepSpeed's engine in the text form: of parameters that are whole, and of such that two
// processes have parts of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../steps.h"

namespace steelyard {

// What follows the forward pass: its backward pass, and the optimizer's part of one group.
inline constexpr std::string_view kEngineBackward =
    "%mean, %scaled = steelyard::scale_engine_loss(%loss, 1) phase loss\n"
    "steelyard::backward(%scaled, None, False) phase backward\n"
    "steelyard::end_engine_backward(%scaled, %mean) phase backward\n";
inline constexpr std::string_view kEngineUpdate =
    "steelyard::take_partition_norm() phase optimizer\n"
    "steelyard::set_master_gradient(0) phase optimizer\n"
    "steelyard::return_master(0) phase optimizer\n"
    "steelyard::gather_partitions() phase optimizer\n"
    "return %loss\n";

// Parameters of 15 and 21 elements, of which each of two processes steps 18: the second one's
// gradient is ready first. `options` are those of enter_deepspeed from the stage on.
inline std::string StepOfWhole(std::string_view options, std::string_view dtype = "f32") {
  const std::string f(dtype);
  return "parameter %v: " + f + "[5,3]\nparameter %w: " + f + "[3,7]\ninput %x: " + f +
         "[2,3]\nsteelyard::enter_deepspeed([%v, %w], [2], " + std::string(options) +
         ")\n%a = aten::linear(%x, %v)\n%c = aten::sum(%a)\n%b = aten::matmul(%x, %w)\n"
         "%e = aten::sum(%b)\n%loss = aten::add.Tensor(%c, %e)\n" +
         std::string(kEngineBackward) + std::string(kEngineUpdate);
}

// A layer whose weight of 15 elements is in two parts of 8, in a model that is module 0. `options`
// are those of enter_partitioned_engine from the order of modules on.
inline std::string StepOfParts(std::string_view options) {
  return "parameter %v: f32[8]\ninput %x: f32[2,3]\n"
         "steelyard::enter_partitioned_engine([%v], [1], " +
         std::string(options) +
         ")\nsteelyard::partition_parameters([%v], [2], [5,3], [1], [0])\n"
         "%x0 = steelyard::enter_engine_module(0, [%x])\n"
         "%whole, %x1 = steelyard::enter_engine_module(1, [%x0])\n"
         "%y = steelyard::engine_linear(%x1, %whole)\n"
         "%y1 = steelyard::leave_engine_module(1, [%y])\n"
         "%y0 = steelyard::leave_engine_module(0, [%y1])\n%loss = aten::sum(%y0)\n" +
         std::string(kEngineBackward) + std::string(kEngineUpdate);
}

// What of a role is there before a step.
inline std::int64_t ResidentBytes(const std::string& text, Role role) {
  const Program kernels = KernelsOfProgram(text);
  std::int64_t bytes = 0;
  std::vector<bool> seen(kernels.storage_count, false);
  for (const ValueId id : kernels.main().inputs) {
    const Value& value = kernels.values[id];
    if (value.role != role || seen[value.storage]) continue;
    seen[value.storage] = true;
    bytes += kernels.stored_bytes({.value = id});
  }
  return bytes;
}

inline std::int64_t CountOf(const std::vector<std::string>& events, std::string_view event) {
  return std::ranges::count(events, event);
}

// Why the program is refused; empty if it is not.
inline std::string RefusalOfProgram(const std::string& text) {
  const Result<Program> program = ParseText(text, "");
  if (!program) return "not a program: " + Describe(program.error());
  const Result<Program> kernels = Dispatcher(*program, Target{}).Run();
  return kernels ? "" : Describe(kernels.error());
}

}  // namespace steelyard
