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

// The backward pass of a micro-step, whose names end alike, and the optimizer's part of one group.
inline std::string EngineBackward(const std::string& end) {
  const std::string mean = "%mean" + end, scaled = "%scaled" + end;
  return mean + ", " + scaled + " = steelyard::scale_engine_loss(%loss" + end +
         ", 1) phase loss\nsteelyard::backward(" + scaled +
         ", None, False) phase backward\nsteelyard::end_engine_backward(" + scaled + ", " + mean +
         ") phase backward\n";
}
inline constexpr std::string_view kEngineUpdate =
    "steelyard::take_partition_norm() phase optimizer\n"
    "steelyard::set_master_gradient(0) phase optimizer\n"
    "steelyard::return_master(0) phase optimizer\n"
    "steelyard::gather_partitions() phase optimizer\n"
    "return %loss_0\n";

// Parameters of 15 and 21 elements, of which each of two processes steps 18: the second one's
// gradient is ready first. `options` are those of enter_deepspeed from the stage on.
inline std::string StepOfWhole(std::string_view options, std::string_view dtype = "f32",
                               int micro_steps = 1) {
  const std::string f(dtype);
  std::string text = "parameter %v: " + f + "[5,3]\nparameter %w: " + f + "[3,7]\ninput %x: " + f +
                     "[2,3]\nsteelyard::enter_deepspeed([%v, %w], [2], " + std::string(options) +
                     ")\n";
  for (int i = 0; i < micro_steps; ++i) {
    const std::string end = "_" + std::to_string(i);
    text += "%a" + end + " = aten::linear(%x, %v)\n%c" + end + " = aten::sum(%a" + end + ")\n%b" +
            end + " = aten::matmul(%x, %w)\n%e" + end + " = aten::sum(%b" + end + ")\n%loss" + end +
            " = aten::add.Tensor(%c" + end + ", %e" + end + ")\n" + EngineBackward(end);
  }
  return text + std::string(kEngineUpdate);
}

// A layer whose weight of 15 elements is in two parts of 8, in a model that is module 0. `options`
// are those of enter_partitioned_engine from the order of modules on.
inline std::string StepOfParts(std::string_view options, int micro_steps = 1) {
  std::string text =
      "parameter %v: f32[8]\ninput %x: f32[2,3]\n"
      "steelyard::enter_partitioned_engine([%v], [1], " +
      std::string(options) + ")\n";
  for (int i = 0; i < micro_steps; ++i) {
    const std::string end = "_" + std::to_string(i);
    text += "steelyard::partition_parameters([%v], [2], [5,3], [1], [0])\n%outer" + end +
            " = steelyard::enter_engine_module(0, [%x])\n%whole" + end + ", %inner" + end +
            " = steelyard::enter_engine_module(1, [%outer" + end + "])\n%y" + end +
            " = steelyard::engine_linear(%inner" + end + ", %whole" + end + ")\n%z" + end +
            " = steelyard::leave_engine_module(1, [%y" + end + "])\n%out" + end +
            " = steelyard::leave_engine_module(0, [%z" + end + "])\n%loss" + end +
            " = aten::sum(%out" + end + ")\n" + EngineBackward(end);
  }
  return text + std::string(kEngineUpdate);
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
