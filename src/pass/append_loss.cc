// SPDX-License-Identifier: Apache-2.0
//
// Decides the shape of targets: class numbers for a cross-entropy, else a tensor like the output.
// A loss of classes takes dimension 1 for them, as PyTorch does, with what stands behind it:
// [batch, classes, height, width]. Only scores of three dimensions are taken for a language
// model's, [batch, length, classes], which a training loop flattens; losses by dimension 1 leave
// them be.

#include "pass/append_loss.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ops/op_def.h"
#include "pass/append_call.h"
#include "pass/fused_loss.h"
#include "support/choices.h"

namespace steelyard {
namespace {

// torch.nn._reduction: what functional losses pass for "mean".
constexpr std::int64_t kMean = 1;
constexpr std::int64_t kSum = 2;
constexpr double kSmoothing = 0.1;
constexpr std::int64_t kIgnored = -100;

// A loss of `scores`; gives the value of the loss.
using AppendFn = Result<ValueId> (*)(Program& program, ValueId scores);

ValueId Append(Program& p, std::string_view op, std::span<const Argument> args,
               std::string_view name, DType dtype, std::span<const std::int64_t> sizes) {
  const ValueId result = AddResult(p, name, dtype, sizes);
  AppendCall(p, op, args, {&result, 1}, Phase::kLoss);
  return result;
}

// zeros(sizes, dtype): what stands for the labels.
ValueId AppendTarget(Program& p, std::span<const std::int64_t> sizes, DType dtype) {
  const std::array args{IntsArgument(p, sizes), Argument::OfDType(dtype)};
  return Append(p, "aten::zeros", args, "target", dtype, sizes);
}

// Where the classes are in scores of three dimensions.
enum class Classes { kLast, kSecond };

Result<ValueId> AppendClasses(Program& p, ValueId scores, std::span<const Argument> tail,
                              std::string_view op, Classes classes = Classes::kLast) {
  Dims sizes(p.sizes(scores));
  const DType dtype = p.values[scores].dtype;
  if (sizes.size() < 2) {
    return Unexpected(InvalidInput(
        fmt::format("scores of {} dimensions have no classes to choose from", sizes.size()),
        std::string(p.text(p.values[scores].name)),
        "Name another loss with --loss, or export a program that returns its loss."));
  }
  if (sizes.size() == 3 && classes == Classes::kLast) {
    const Count rows = Count(sizes[0]) * sizes[1];
    if (rows.overflowed()) {
      return Unexpected(InvalidInput("the scores have more than 2^63 rows",
                                     std::string(p.text(p.values[scores].name)), ""));
    }
    sizes = Dims{rows.value(), sizes[2]};
    const std::array args{Argument::OfValue(scores), IntsArgument(p, sizes)};
    scores = Append(p, "aten::reshape", args, "scores", dtype, sizes);
  }
  Dims labels{sizes[0]};
  for (int i = 2; i < sizes.size(); ++i) labels.push_back(sizes[i]);
  const ValueId target = AppendTarget(p, labels, DType::kInt64);
  std::vector<Argument> args{Argument::OfValue(scores), Argument::OfValue(target)};
  args.insert(args.end(), tail.begin(), tail.end());
  return Append(p, op, args, "loss", dtype, {});
}

// weight, reduction, ignore_index, label_smoothing
std::array<Argument, 4> CrossEntropyTail(double smoothing, std::int64_t reduction = kMean) {
  return {Argument::None(), Argument::OfInt(reduction), Argument::OfInt(kIgnored),
          Argument::OfFloat(smoothing)};
}
constexpr std::string_view kCrossEntropy = "aten::cross_entropy_loss";

Result<ValueId> AppendPair(Program& p, ValueId output, std::string_view op) {
  const ValueId target = AppendTarget(p, Dims(p.sizes(output)), p.values[output].dtype);
  const std::array args{Argument::OfValue(output), Argument::OfValue(target)};
  return Append(p, op, args, "loss", p.values[output].dtype, {});
}

struct Loss {
  LossInfo info;
  AppendFn append;
  std::optional<double> smoothing = {};  // of a cross-entropy
};

constexpr std::array kLosses{
    Loss{{"cross-entropy",
          "torch.nn.functional.cross_entropy with class numbers; scores [batch, length, classes] "
          "are "
          "flattened first"},
         [](Program& p, ValueId v) {
           return AppendClasses(p, v, CrossEntropyTail(0.0), kCrossEntropy);
         },
         0.0},
    Loss{
        {"cross-entropy-dim1",
         "the same of scores as they are: classes are dimension 1, as in [batch, classes, length]"},
        [](Program& p, ValueId v) {
          return AppendClasses(p, v, CrossEntropyTail(0.0), kCrossEntropy, Classes::kSecond);
        }},
    Loss{{"label-smoothing", "cross-entropy with label_smoothing=0.1"},
         [](Program& p, ValueId v) {
           return AppendClasses(p, v, CrossEntropyTail(kSmoothing), kCrossEntropy);
         },
         kSmoothing},
    Loss{{"nll", "torch.nn.functional.nll_loss of log-probabilities"},
         [](Program& p, ValueId v) { return AppendClasses(p, v, {}, "aten::nll_loss_nd"); }},
    Loss{{"nll-dim1", "the same of log-probabilities as they are: classes are dimension 1"},
         [](Program& p, ValueId v) {
           return AppendClasses(p, v, {}, "aten::nll_loss_nd", Classes::kSecond);
         }},
    Loss{{"mse", "torch.nn.functional.mse_loss with a target like the output"},
         [](Program& p, ValueId v) { return AppendPair(p, v, "aten::mse_loss"); }},
    Loss{{"bce-with-logits", "torch.nn.functional.binary_cross_entropy_with_logits"},
         [](Program& p, ValueId v) {
           return AppendPair(p, v, "aten::binary_cross_entropy_with_logits");
         }},
    Loss{{"sum", "the sum of the output"},
         [](Program& p, ValueId v) -> Result<ValueId> {
           const std::array args{Argument::OfValue(v)};
           return Append(p, "aten::sum", args, "loss", p.values[v].dtype, {});
         }},
};

constexpr auto kInfos = [] {
  std::array<LossInfo, kLosses.size()> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kLosses[i].info;
  return infos;
}();

bool IsFloatingTensor(const Program& p, const Argument& output) {
  return output.kind == ArgKind::kValue && p.values[output.value].kind == ValueKind::kTensor &&
         p.values[output.value].has_layout && IsFloating(p.values[output.value].dtype);
}

bool HasOneElement(const Program& p, ValueId value) {
  return std::ranges::all_of(p.sizes(value), [](std::int64_t n) { return n == 1; });
}

// What is taken for a loss where another is asked for: a number without dimensions, as a reduction
// gives it, or what the file calls its loss. A batch of one score, [1] or [1,1], is none.
bool IsReturnedLoss(const Program& p, ValueId value) {
  return p.values[value].rank == 0 || value == p.loss;
}

// `loss / accumulate`: gradients of micro-steps are averaged. DeepSpeed's engine does it itself.
ValueId Scaled(Program& p, ValueId loss, const TrainOptions& options) {
  if (options.accumulate <= 1 || ZeroStage(options.parallel) > 0) return loss;
  const std::array args{Argument::OfValue(loss), Argument::OfInt(options.accumulate)};
  const std::vector<std::int64_t> sizes(p.sizes(loss).begin(), p.sizes(loss).end());
  return Append(p, "steelyard::scale_loss", args, "scaled_loss", p.values[loss].dtype, sizes);
}

Result<ValueId> AppendUnscaled(Program& program, const Loss& loss, ValueId scores,
                               const TrainOptions& options) {
  if (options.fused_loss == 0) return loss.append(program, scores);
  if (!loss.smoothing) {
    return Unexpected(UsageError(fmt::format("the loss {} has no chunks", loss.info.name),
                                 "--fused-loss", "Those of --loss cross-entropy are."));
  }
  return AppendFusedLoss(program, scores, kCrossEntropy, CrossEntropyTail(*loss.smoothing, kSum),
                         options);
}

}  // namespace

std::span<const LossInfo> Losses() { return kInfos; }

namespace {

bool MayBeLoss(const Program& program, const Argument& output) {
  return IsFloatingTensor(program, output) && HasOneElement(program, output.value);
}

// The output that `options` name.
Result<ValueId> ChosenLoss(const Program& program, const TrainOptions& options) {
  const std::vector<Argument>& outputs = program.main().outputs;
  const auto place = static_cast<std::size_t>(options.loss_output);
  const std::string where = fmt::format("--loss-output {}", place);
  if (place >= outputs.size()) {
    return Unexpected(InvalidInput(
        fmt::format("the program returns {} values, counted from 0", outputs.size()), where));
  }
  if (!MayBeLoss(program, outputs[place])) {
    return Unexpected(InvalidInput("that is no floating-point tensor of one element", where,
                                   "A step differentiates one number."));
  }
  return outputs[place].value;
}

// Says which output is taken, where several may be meant and none is called "loss".
void NoteChoice(Program& program, ValueId loss) {
  if (program.loss == loss) return;
  const std::vector<Argument>& outputs = program.main().outputs;
  const auto several = std::ranges::count_if(
      outputs, [&](const Argument& output) { return MayBeLoss(program, output); });
  if (several < 2) return;
  program.notes.push_back(program.strings.Intern(fmt::format(
      "the loss is \"{}\", the first of {} outputs that are one number; --loss-output N names "
      "another of the {} that the program returns, from 0 on",
      program.text(program.values[loss].name), several, outputs.size())));
}

Result<ValueId> OwnLoss(Program& program, const TrainOptions& options) {
  if (options.loss_output >= 0) return ChosenLoss(program, options);
  const ValueId loss = FindLoss(program);
  if (loss == kNoId) {
    return Unexpected(InvalidInput("the program returns no loss to train with", "",
                                   "Append one: --loss cross-entropy, mse, sum or another."));
  }
  NoteChoice(program, loss);
  return loss;
}

}  // namespace

ValueId FindLoss(const Program& program) {
  ValueId first = kNoId;
  for (const Argument& output : program.main().outputs) {
    if (!MayBeLoss(program, output)) continue;
    if (output.value == program.loss) return output.value;
    if (first == kNoId) first = output.value;
  }
  return first;
}

Result<Program> AppendLoss(Program program, const TrainOptions& options) {
  if (options.loss.empty() && options.fused_loss != 0) {
    return Unexpected(UsageError("a loss in chunks is one that is appended", "--fused-loss",
                                 "Add --loss cross-entropy; the program then returns its scores."));
  }
  if (options.loss.empty()) {
    SY_ASSIGN_OR_RETURN(const ValueId loss, OwnLoss(program, options));
    program.loss = Scaled(program, loss, options);
    return program;
  }
  if (options.loss_output >= 0) {
    return Unexpected(
        UsageError("a loss is appended or returned", "--loss, --loss-output", "Leave one away."));
  }
  const auto* loss =
      std::ranges::find(kLosses, options.loss, [](const Loss& l) { return l.info.name; });
  if (loss == kLosses.end()) {
    return Unexpected(NoSuch("loss", options.loss, NamesOf(Losses())));
  }
  const std::vector<Argument>& outputs = program.main().outputs;
  const auto scores = std::ranges::find_if(
      outputs, [&](const Argument& o) { return IsFloatingTensor(program, o); });
  if (scores == outputs.end()) {
    return Unexpected(
        InvalidInput("the program returns no floating-point tensor", "", "A loss needs one."));
  }
  if (IsReturnedLoss(program, scores->value)) {
    return Unexpected(
        InvalidInput(fmt::format("the program returns its loss already: {}",
                                 program.text(program.values[scores->value].name)),
                     "--loss",
                     "Leave it away, or export a program that returns no loss; a prediction "
                     "that is one number has a loss as [1]."));
  }
  SY_ASSIGN_OR_RETURN(const ValueId unscaled,
                      AppendUnscaled(program, *loss, scores->value, options));
  const ValueId value = Scaled(program, unscaled, options);
  program.main().outputs.push_back(Argument::OfValue(value));
  program.loss = value;
  return program;
}

}  // namespace steelyard
