// SPDX-License-Identifier: Apache-2.0
//
// Feeds programs in text form to the whole of `steelyard weigh`: passes, rows of operators, the
// simulated run, allocators and the report. The first byte says how the rest, a program, is
// weighed. Whatever it is, it must be told or refused. Good seeds are the programs of the golden
// tests behind any byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "memory_file.h"
#include "steelyard/weigh.h"

namespace {

// Each bit is a question that a user answers; together they reach every pass.
steelyard::WeighOptions OptionsOf(std::uint8_t how, std::string path) {
  steelyard::WeighOptions options{.path = std::move(path), .from = "text"};
  if ((how & 1U) != 0) options.target = *steelyard::TargetNamed("h100");
  if ((how & 2U) != 0) options.train.optimizer = "adamw";
  if ((how & 4U) != 0) options.amp.dtype = steelyard::DType::kBFloat16;
  if ((how & 8U) != 0) options.mode = steelyard::ModelMode::kTrain;
  if ((how & 16U) != 0) options.runtime = "graph";
  if ((how & 32U) != 0) options.train.loss = "mse";
  if ((how & 64U) != 0) options.as_module = true;
  if ((how & 128U) != 0) options.train.clip_norm = 1;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const MemoryFile file;
  file.Fill(data + 1, size - 1);
  const auto weighing = steelyard::Weigh(OptionsOf(data[0], file.path()));
  if (!weighing) {
    if (weighing.error().code == steelyard::ErrorCode::kInternal) std::abort();
    return 0;
  }
  if (!steelyard::WriteReport(*weighing, "json", {.detailed = true})) std::abort();
  return 0;
}
