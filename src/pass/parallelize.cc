// SPDX-License-Identifier: Apache-2.0
//
// DistributedDataParallel is two calls around the model. What fully_shard makes of it is decided in
// `fully_shard`, who steps which parameters where the optimizer is appended.

#include "pass/parallelize.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pass/accumulate.h"
#include "pass/append_call.h"
#include "pass/fully_shard.h"
#include "pass/model_outputs.h"
#include "pass/partition_modules.h"
#include "steelyard/units.h"
#include "support/choices.h"

namespace steelyard {
namespace {

constexpr std::array kWrappers{
    WrapperInfo{"ddp", "torch.nn.parallel.DistributedDataParallel"},
    WrapperInfo{.name = "fsdp", .summary = "torch.distributed.fsdp.fully_shard", .shards = true},
    WrapperInfo{.name = "zero1",
                .summary = "DistributedDataParallel, with "
                           "torch.distributed.optim.ZeroRedundancyOptimizer",
                .partitions = true},
    WrapperInfo{
        .name = "deepspeed1", .summary = "DeepSpeed's engine, ZeRO stage 1", .zero_stage = 1},
    WrapperInfo{
        .name = "deepspeed2", .summary = "DeepSpeed's engine, ZeRO stage 2", .zero_stage = 2},
    WrapperInfo{
        .name = "deepspeed3", .summary = "DeepSpeed's engine, ZeRO stage 3", .zero_stage = 3},
    WrapperInfo{.name = "tp",
                .summary = "torch.distributed.tensor.parallel.parallelize_module",
                .shares_layers = true},
};

const WrapperInfo* WrapperOf(const ParallelOptions& options) {
  const auto* wrapper = std::ranges::find(kWrappers, options.wrapper, &WrapperInfo::name);
  return wrapper == kWrappers.end() ? nullptr : wrapper;
}

Status Check(const TrainOptions& options) {
  SY_RETURN_IF_ERROR(CheckProcesses(options));
  if (options.accumulate > 1 && Shards(options.parallel)) {
    return Unexpected(Unsupported(
        "micro-steps of a model that is kept in parts are not modelled", "--accumulate, --parallel",
        "Weigh one micro-step, or leave --parallel away: gradients are then averaged at the end."));
  }
  return {};
}

// Each once, though it may have several names.
Argument BuffersOf(Program& program) {
  std::vector<Argument> buffers;
  for (const NamedTensor& buffer : program.buffers) {
    const auto same = [&](const Argument& known) { return known.value == buffer.value; };
    if (buffer.value == kNoId || std::ranges::any_of(buffers, same)) continue;
    buffers.push_back(Argument::OfValue(buffer.value));
  }
  return Argument::OfList(program.AddArguments(buffers));
}

// Those that are trained, each once.
Argument TrainedOf(Program& program) {
  std::vector<Argument> trained;
  for (const NamedTensor& parameter : program.parameters) {
    const ValueId id = parameter.value;
    if (id == kNoId || !program.values[id].requires_grad || parameter.tied_to != kNoId) continue;
    trained.push_back(Argument::OfValue(id));
  }
  return Argument::OfList(program.AddArguments(trained));
}

// What looks for unused parameters, and a first step that finds out which there are, sees copies of
// what the model gives; so does its caller.
bool CopiesOutputs(const TrainOptions& options) {
  const ParallelOptions& parallel = options.parallel;
  return parallel.static_graph ? options.first_step : parallel.find_unused;
}

// Ends the model's forward pass.
void AppendLeave(Program& program, std::span<const Node> forward, bool copies,
                 Replacements* replaced) {
  std::vector<Argument> outputs;
  std::vector<ValueId> copied;
  if (copies) outputs = ModelOutputs(program, forward);
  std::ranges::reverse(outputs);  // in which order they are let go
  for (const Argument& output : outputs) {
    const Value& value = program.values[output.value];
    const std::string name(program.text(value.name));
    copied.push_back(AddResult(program, name, value.dtype, Dims(program.sizes(output.value))));
    replaced->Set(output.value, copied.back());
  }
  const std::array args{Argument::OfList(program.AddArguments(outputs))};
  AppendCall(program, "steelyard::leave_data_parallel", args, copied, Phase::kForward);
}

Program WrapInDdp(Program program, const TrainOptions& options) {
  const ParallelOptions& parallel = options.parallel;
  std::vector<Node> body = std::exchange(program.main().nodes, {});
  const auto loss = std::ranges::find(body, Phase::kLoss, &Node::phase);
  const bool uses_some = parallel.find_unused || parallel.static_graph;
  const std::array args{BuffersOf(program),
                        Argument::OfInt(std::int64_t{options.ranks}),
                        Argument::OfInt(parallel.bucket_mib * kMiB),
                        Argument::OfBool(parallel.bucket_views),
                        Argument::OfBool(options.first_step),
                        Argument::OfInt(std::int64_t{WrittenMicroSteps(options)}),
                        uses_some ? TrainedOf(program) : Argument::None(),
                        Argument::OfBool(parallel.static_graph)};
  AppendCall(program, "steelyard::enter_data_parallel", args, {}, Phase::kForward);
  std::vector<Node>& nodes = program.main().nodes;
  nodes.insert(nodes.end(), body.begin(), loss);
  Replacements replaced(program);
  AppendLeave(program, {body.begin(), loss}, CopiesOutputs(options), &replaced);
  for (auto node = loss; node != body.end(); ++node) {
    node->arguments = replaced.In(node->arguments);
    nodes.push_back(*node);
  }
  replaced.InOutputs();
  return program;
}

}  // namespace

std::span<const WrapperInfo> Wrappers() { return kWrappers; }

bool Shards(const ParallelOptions& options) {
  const WrapperInfo* wrapper = WrapperOf(options);
  return wrapper != nullptr && wrapper->shards;
}

bool Partitions(const ParallelOptions& options) {
  const WrapperInfo* wrapper = WrapperOf(options);
  return wrapper != nullptr && wrapper->partitions;
}

int ZeroStage(const ParallelOptions& options) {
  const WrapperInfo* wrapper = WrapperOf(options);
  return wrapper == nullptr ? 0 : wrapper->zero_stage;
}

Status CheckProcesses(const TrainOptions& options) {
  if (WrapperOf(options.parallel) == nullptr) {
    return Unexpected(NoSuch("wrapper", options.parallel.wrapper, NamesOf(kWrappers)));
  }
  if (options.ranks < 2) {
    return Unexpected(UsageError("one process shares its step with nobody", "--parallel",
                                 "Say how many there are: --ranks 2."));
  }
  if (options.parallel.rank.value_or(0) >= options.ranks) {
    return Unexpected(UsageError(
        fmt::format("there is no process {} of {}", *options.parallel.rank, options.ranks),
        "--rank, --ranks", "They count from 0."));
  }
  if (options.keep_gradients) {
    return Unexpected(Unsupported("gradients that a wrapped model keeps are not modelled",
                                  "--zero-grad, --parallel", "Leave one away."));
  }
  return {};
}

bool SharesLayers(const ParallelOptions& options) {
  const WrapperInfo* wrapper = WrapperOf(options);
  return wrapper != nullptr && wrapper->shares_layers;
}

Result<Program> Parallelize(Program program, const TrainOptions& options) {
  SY_RETURN_IF_ERROR(Check(options));
  if (Shards(options.parallel)) return FullyShard(std::move(program), options);
  if (options.makes_engine) return program;  // of which all is whole
  if (ZeroStage(options.parallel) == kGatheringStage) {
    return PartitionModules(std::move(program), options);
  }
  if (ZeroStage(options.parallel) > 0) return program;  // its backward pass and step are others
  return WrapInDdp(std::move(program), options);
}

}  // namespace steelyard
