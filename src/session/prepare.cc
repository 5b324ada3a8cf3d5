// SPDX-License-Identifier: Apache-2.0
//
// What passes are asked for follows from the options and from the runtime: a compiler is given each
// micro-step and each parameter's step by itself.

#include "session/prepare.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "models/model.h"
#include "session/runtimes.h"

namespace steelyard {
namespace {

// In builds for development every pass is held to the rules of programs.
#ifdef NDEBUG
constexpr bool kVerifies = false;
#else
constexpr bool kVerifies = true;
#endif

}  // namespace

PassOptions PassesOf(const WeighOptions& options) {
  PassOptions passes{.bind = options.bind,
                     .mode = options.mode,
                     .as_module = options.as_module,
                     .hold_variables = options.hold_variables,
                     .train = options.train,
                     .amp = options.amp,
                     .target = options.target,
                     .verify = kVerifies};
  const Runtime* runtime = FindRuntime(options.runtime);
  passes.takes_apart = runtime != nullptr && runtime->compiles;
  passes.train.unroll |= passes.takes_apart;
  return passes;
}

std::string_view AskedOfRun(const WeighOptions& options) {
  struct Asked {
    bool asked;
    std::string_view flag;
  };
  const BindOptions& bind = options.bind;
  const Asked questions[] = {{!options.train.optimizer.empty(), "--train"},
                             {!bind.inputs.empty(), "--input"},
                             {!bind.sizes.empty(), "--size"},
                             {options.amp.dtype.has_value(), "--amp"},
                             {bind.batch.has_value(), "--batch"},
                             {bind.seq.has_value(), "--seq"},
                             {options.mode != ModelMode::kExported, "--mode"},
                             {options.runtime != WeighOptions().runtime, "--runtime"},
                             {options.budget.has_value(), "--budget"},
                             {options.fit.has_value(), "--fit"},
                             {options.advise, "--advise"},
                             {!options.at.empty(), "--at"},
                             {options.target.device != Device::kCpu, "--device"},
                             {!options.devices.empty(), "--devices"},
                             {!options.alloc_conf.empty(), "--alloc-conf"},
                             {options.segments, "--segments"},
                             {options.as_module, "--as"},
                             {options.schedule != WeighOptions().schedule, "--schedule"},
                             {options.generate.has_value(), "--generate"},
                             {options.use_cache, "--use-cache"}};
  const auto* first = std::ranges::find_if(questions, &Asked::asked);
  return first == std::end(questions) ? std::string_view() : first->flag;
}

ImportOptions ImportOf(const WeighOptions& options) {
  const bool trains = !options.train.optimizer.empty();
  return {
      .from = options.from,
      .dtype = options.dtype,
      .attention = options.attention,
      .labelled = trains && options.train.loss.empty(),
      .training = options.mode == ModelMode::kExported ? trains : options.mode == ModelMode::kTrain,
      .cache = options.use_cache
                   ? std::optional(CacheStep{.tokens = options.bind.seq.value_or(models::kUsualSeq),
                                             .every = true})
                   : std::nullopt,
      .runs = !AskedOfRun(options).empty(),
      .as_module = options.as_module};
}

}  // namespace steelyard
