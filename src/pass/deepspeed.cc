// SPDX-License-Identifier: Apache-2.0
//
// What a step of the engine is weighed as, or refused: one row begins it, with all parameters, how
// many of them are stepped at once, and the options of DeepSpeed's JSON as they are written.
#include "pass/deepspeed.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/parallel/deepspeed.h"
#include "pass/accumulate.h"
#include "pass/append_call.h"
#include "pass/engine_options.h"
#include "support/rounding.h"

namespace steelyard {
namespace {

auto NotModelled(std::string what, std::string where, std::string hint) {
  return Unexpected(Unsupported(std::move(what) + " is not modelled under DeepSpeed",
                                std::move(where), std::move(hint)));
}

Status Check(const PassOptions& options) {
  const TrainOptions& train = options.train;
  if (options.amp.dtype) {
    return NotModelled("torch.autocast", "--amp, --parallel",
                       "Leave --amp away; DeepSpeed's bf16 trains a model whose parameters are in "
                       "bfloat16.");
  }
  if (train.clip_norm || train.clip_value) {
    return Unexpected(UsageError("DeepSpeed's engine clips gradients itself",
                                 train.clip_norm ? "--clip-norm" : "--clip-value",
                                 "Say how: --parallel-args gradient_clipping=1.0."));
  }
  if (train.recompute_reentrant) {
    return NotModelled("checkpointing with use_reentrant=True", "--recompute-reentrant, --parallel",
                       "Leave --recompute-reentrant away.");
  }
  return {};
}

// The engine casts or refuses others.
Status CheckDTypes(const Program& program, std::span<const std::vector<Argument>> groups) {
  const ValueId first = groups[0][0].value;
  const DType dtype = program.values[first].dtype;
  for (const std::vector<Argument>& group : groups) {
    for (const Argument& parameter : group) {
      const Value& value = program.values[parameter.value];
      if (value.dtype == dtype) continue;
      return NotModelled(
          fmt::format(R"("{}", which is of another dtype than "{}",)", program.text(value.name),
                      program.text(program.values[first].name)),
          "--parallel", "The engine casts all parameters to one: export the model so.");
    }
  }
  if (dtype == DType::kFloat32 || dtype == DType::kBFloat16) return {};
  return NotModelled(fmt::format("a model in {}", NameOf(dtype)), "--parallel",
                     "Export it in float32 or bfloat16.");
}

std::int64_t ElementsOf(const Program& program, std::span<const Argument> group) {
  std::int64_t elements = 0;
  for (const Argument& parameter : group) {
    elements += NumElements(program.sizes(parameter.value)).value_or(0);
  }
  return elements;
}

// Parameters that are stepped together, of which group.
struct Part {
  std::vector<Argument> parameters = {};
  std::size_t group = 0;
};

class Entering {
 public:
  Entering(Program& program, const PassOptions& options)
      : program_(program), options_(options), train_(options.train) {}

  Result<std::vector<Stepped>> Run(std::span<const std::vector<Argument>> groups) {
    SY_ASSIGN_OR_RETURN(given_, ReadEngineOptions(program_, train_));
    const bool is_apart = ZeroStage(train_.parallel) == kGatheringStage;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (is_apart) {
        PutIntoParts(i, groups[i]);
      } else {
        parts_.push_back({.parameters = groups[i], .group = i});
      }
    }
    std::vector<Stepped> stepped;
    if (train_.makes_engine) {
      Make(is_apart);
      return stepped;
    }
    for (const Part& part : parts_) {
      std::int64_t elements = ElementsOf(program_, part.parameters);
      if (!is_apart) elements = ops::PartitionOf(elements, train_.ranks);
      elements_ += elements;
      const std::array sizes{elements};
      masters_.push_back(AddResult(program_, "master", DType::kFloat32, sizes));
      stepped.push_back({masters_.back(), part.group});
    }
    if (!is_apart) {
      Enter(program_, Argument::OfInt(std::int64_t{ZeroStage(train_.parallel)}), train_.first_step);
    } else {
      SY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> order, OrderOfModules());
      Enter(program_, IntsArgument(program_, order), train_.first_step);
    }
    Note();
    return stepped;
  }

 private:
  // _create_fp16_sub_groups: each ends with the parameter that fills it.
  void PutIntoParts(std::size_t group, std::span<const Argument> parameters) {
    const std::int64_t size = given_.Named("sub_group_size").dim.number();
    std::int64_t all = 0;
    for (const Argument& parameter : parameters) all += KeptOf(parameter);
    Part part{.group = group};
    std::int64_t elements = 0;
    for (const Argument& parameter : parameters) {
      part.parameters.push_back(parameter);
      elements += KeptOf(parameter);
      if ((size >= all || elements < size) && &parameter != &parameters.back()) continue;
      parts_.push_back(std::exchange(part, {.group = group}));
      elements = 0;
    }
  }

  // Elements that a process keeps of a parameter in stage 3, whole or not as the program has it.
  std::int64_t KeptOf(const Argument& parameter) const {
    const std::int64_t elements = ElementsOf(program_, {&parameter, 1});
    return train_.makes_engine ? DivideUp(elements, std::int64_t{train_.ranks}) : elements;
  }

  // Its parameters, and how many are stepped at once.
  std::array<Argument, 2> PartsOf(Program& program) const {
    std::vector<Argument> parameters;
    std::vector<std::int64_t> counts;
    for (const Part& part : parts_) {
      parameters.insert(parameters.end(), part.parameters.begin(), part.parameters.end());
      counts.push_back(static_cast<std::int64_t>(part.parameters.size()));
    }
    const Argument list = Argument::OfList(program.AddArguments(parameters));
    return {list, IntsArgument(program, counts)};
  }

  void Make(bool is_apart) {
    std::vector<Argument> args;
    if (is_apart) args.push_back(AllParameters());
    std::ranges::copy(PartsOf(program_), std::back_inserter(args));
    args.push_back(Argument::OfInt(std::int64_t{train_.ranks}));
    if (is_apart) {
      for (const std::string_view name : {"reduce_bucket_size", "contiguous_gradients"}) {
        args.push_back(given_.Named(name));
        args.back().name = kNoString;
      }
    }
    Graph& main = program_.main();
    main.nodes.clear();
    main.outputs.clear();
    program_.released.clear();
    program_.repeat = {};
    AppendCall(program_, is_apart ? "steelyard::make_partitioned_engine" : "steelyard::make_engine",
               args, {}, Phase::kForward);
  }

  // Each once, in the model's order.
  Argument AllParameters() {
    std::vector<Argument> all;
    for (const NamedTensor& parameter : program_.parameters) {
      if (parameter.value == kNoId || parameter.tied_to != kNoId) continue;
      all.push_back(Argument::OfValue(parameter.value));
    }
    return Argument::OfList(program_.AddArguments(all));
  }

  // `own`: what only one of the rows has.
  void Enter(Program& program, const Argument& own, bool first_step) const {
    const auto [list, counts] = PartsOf(program);
    std::vector<Argument> args{list,
                               counts,
                               own,
                               Argument::OfInt(std::int64_t{train_.ranks}),
                               Argument::OfInt(std::int64_t{rank()}),
                               Argument::OfBool(first_step),
                               Argument::OfInt(std::int64_t{WrittenMicroSteps(train_)})};
    args.insert(args.end(), given_.given.begin(), given_.given.end());
    AppendCall(program, EnterOf(train_), args, masters_, Phase::kForward);
    std::vector<Node>& nodes = program.main().nodes;
    std::ranges::rotate(nodes, nodes.end() - 1);
    if (program.repeat.times > 1) ++program.repeat.first;
  }

  int rank() const { return train_.parallel.rank.value_or(0); }

  // As a first step finds it out.
  Result<std::vector<std::int64_t>> OrderOfModules() const {
    std::vector<std::int64_t> order;
    if (train_.first_step) return order;
    Program first = program_;
    first.repeat = {};  // its micro-steps are not alike
    Enter(first, IntsArgument(first, order), true);
    Dispatcher dispatcher(first, options_.target);
    dispatcher.RecordModules(&order);
    SY_RETURN_IF_ERROR(dispatcher.Run());
    return order;
  }

  void Note() const {
    program_.notes.push_back(program_.strings.Intern(
        fmt::format("DeepSpeed: told is process {} of 0 to {}, which steps {} elements", rank(),
                    train_.ranks - 1, elements_)));
    if (options_.target.device == Device::kCpu || given_.Named("overlap_comm").dim.number() == 0)
      return;
    program_.notes.push_back(program_.strings.Intern(
        "DeepSpeed: reserved is told of a device that is never behind; one that is keeps longer "
        "what several streams use (gathered parameters, gradients), at most until the backward "
        "pass has ended"));
  }

  Program& program_;
  const PassOptions& options_;
  const TrainOptions& train_;
  EngineOptions given_;
  std::vector<Part> parts_;
  std::vector<ValueId> masters_;
  std::int64_t elements_ = 0;
};

}  // namespace

Result<Program> BackwardInEngine(Program program, const PassOptions& options) {
  SY_RETURN_IF_ERROR(Check(options));
  const DType dtype = program.values[program.loss].dtype;
  const std::vector<std::int64_t> sizes(program.sizes(program.loss).begin(),
                                        program.sizes(program.loss).end());
  const std::array scaled{AddResult(program, "mean_loss", dtype, sizes),
                          AddResult(program, "scaled_loss", dtype, sizes)};
  const std::array loss{Argument::OfValue(program.loss),
                        Argument::OfInt(std::int64_t{options.train.accumulate})};
  AppendCall(program, "steelyard::scale_engine_loss", loss, scaled, Phase::kLoss);
  const std::array root{Argument::OfValue(scaled[1]), Argument::None(), Argument::OfBool(false)};
  AppendCall(program, kBackwardOp, root, {}, Phase::kBackward);
  const std::array last{Argument::OfValue(scaled[1]), Argument::OfValue(scaled[0])};
  AppendCall(program, "steelyard::end_engine_backward", last, {}, Phase::kBackward);
  return program;
}

Result<std::vector<Stepped>> EnterEngine(Program& program,
                                         std::span<const std::vector<Argument>> groups,
                                         const PassOptions& options) {
  SY_RETURN_IF_ERROR(CheckDTypes(program, groups));
  return Entering(program, options).Run(groups);
}

}  // namespace steelyard
