// SPDX-License-Identifier: Apache-2.0
//
// The list is the order in which passes run. Names and sizes are settled before anything counts on
// them, the loss is there before the region of autocast that holds it, that before the backward
// pass, micro-steps before the optimizer's call. `decompose` takes apart what all of these have
// added, and what stands behind it rewrites kernels.

#include <array>

#include "pass/accumulate.h"
#include "pass/append_loss.h"
#include "pass/append_optimizer.h"
#include "pass/autocast.h"
#include "pass/bind.h"
#include "pass/cast_kernels.h"
#include "pass/decompose.h"
#include "pass/differentiate.h"
#include "pass/freeze.h"
#include "pass/infer_outputs.h"
#include "pass/overwrite.h"
#include "pass/parallelize.h"
#include "pass/recognize_masks.h"
#include "pass/recompute.h"
#include "pass/set_mode.h"
#include "pass/tensor_parallel.h"
#include "pass/tie_parameters.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

bool Always(const PassOptions&) { return true; }
bool Trains(const PassOptions& options) { return !options.train.optimizer.empty(); }
bool Wraps(const PassOptions& options) {
  const ParallelOptions& parallel = options.train.parallel;
  return !parallel.wrapper.empty() && !SharesLayers(parallel);
}
bool Casts(const PassOptions& options) {
  return options.amp.dtype.has_value() || !options.amp.casts.empty();
}
bool CastsAs(const PassOptions& options, CastPolicy policy) {
  return Casts(options) && options.amp.policy == policy;
}

constexpr std::array kPasses{
    PassInfo{.name = "tie_parameters",
             .summary = "finds parameters that are a second name of another",
             .applies = &Always,
             .run = [](Program p, const PassOptions&) -> Result<Program> {
               return TieParameters(std::move(p));
             }},
    PassInfo{.name = "bind",
             .summary = "makes symbolic sizes numbers",
             .applies = &Always,
             .run = [](Program p, const PassOptions& o) { return Bind(std::move(p), o.bind); }},
    PassInfo{.name = "recognize_masks",
             .summary = "takes masks away that the module would not pass",
             .applies = [](const PassOptions& o) { return o.as_module; },
             .run = [](Program p, const PassOptions&) { return RecognizeMasks(std::move(p)); }},
    PassInfo{.name = "set_mode",
             .summary = "switches dropout and batch normalization",
             .applies = &Always,
             .run =
                 [](Program p, const PassOptions& o) {
                   return SetMode(std::move(p), o.mode, !o.train.optimizer.empty());
                 }},
    PassInfo{.name = "infer_outputs",
             .summary = "finds the sizes of what is returned, where the program does not say them",
             .applies = &Trains,
             .run = [](Program p,
                       const PassOptions& o) { return InferOutputs(std::move(p), o.target); }},
    PassInfo{.name = "freeze",
             .summary = "trains no parameters that a pattern names",
             .applies = &Trains,
             .run = [](Program p, const PassOptions& o) { return Freeze(std::move(p), o.train); }},
    PassInfo{.name = "share_layers",
             .summary = "leaves of layers that a plan names what one of several processes has",
             .applies = [](const PassOptions& o) { return SharesLayers(o.train.parallel); },
             .run = [](Program p, const PassOptions& o) { return ShareLayers(std::move(p), o); }},
    PassInfo{
        .name = "recompute",
        .summary = "leaves modules that a pattern names to be run again in the backward pass",
        .applies = &Trains,
        .run = [](Program p, const PassOptions& o) { return Recompute(std::move(p), o.train); }},
    PassInfo{
        .name = "append_loss",
        .summary = "computes a loss of the first output",
        .applies = &Trains,
        .run = [](Program p, const PassOptions& o) { return AppendLoss(std::move(p), o.train); }},
    PassInfo{
        .name = "parallelize",
        .summary = "wraps the model in what makes one step of several processes",
        .applies = &Wraps,
        .run = [](Program p, const PassOptions& o) { return Parallelize(std::move(p), o.train); }},
    PassInfo{
        .name = "autocast",
        .summary = "runs the model and the loss in a region of torch.autocast",
        .applies = [](const PassOptions& o) { return CastsAs(o, CastPolicy::kTorch); },
        .run = [](Program p, const PassOptions& o) { return InsertAutocast(std::move(p), o.amp); }},
    PassInfo{.name = "differentiate",
             .summary = "runs a backward pass of the loss",
             .applies = &Trains,
             .run = [](Program p, const PassOptions& o) { return Differentiate(std::move(p), o); }},
    PassInfo{
        .name = "overwrite",
        .summary = "lets activations of modules that a pattern names overwrite their operands",
        .applies = &Trains,
        .run = [](Program p,
                  const PassOptions& o) { return Overwrite(std::move(p), o.train, o.target); }},
    PassInfo{
        .name = "accumulate",
        .summary = "repeats forward and backward pass before the optimizer's step",
        .applies = &Trains,
        .run = [](Program p, const PassOptions& o) { return Accumulate(std::move(p), o.train); }},
    PassInfo{
        .name = "append_optimizer",
        .summary = "ends with an optimizer's step",
        .applies = &Trains,
        .run = [](Program p, const PassOptions& o) { return AppendOptimizer(std::move(p), o); }},
    PassInfo{.name = "decompose",
             .summary = "takes operators apart into the kernels PyTorch runs",
             .applies = &Always,
             .run = nullptr,
             .lower =
                 [](const Program& p, const PassOptions& o) {
                   const bool holds = o.as_module || o.hold_variables;
                   return Decompose(p, o.target,
                                    holds ? Variables::kModules : Variables::kGenerated);
                 }},
    PassInfo{
        .name = "cast_kernels",
        .summary = "casts operands of kernels as the compiler RAF does",
        .applies = [](const PassOptions& o) { return CastsAs(o, CastPolicy::kRaf); },
        .run = [](Program p,
                  const PassOptions& o) { return CastKernels(std::move(p), o.amp, o.target); }},
};

}  // namespace

std::span<const PassInfo> Passes() { return kPasses; }

}  // namespace steelyard
