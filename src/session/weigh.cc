// SPDX-License-Identifier: Apache-2.0
//
// The order in which a model is weighed. Every step is somebody else's; this file calls them.
#include "steelyard/weigh.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/casts.h"
#include "analyze/classes.h"
#include "analyze/counting.h"
#include "analyze/masking.h"
#include "analyze/modules.h"
#include "analyze/parameters.h"
#include "analyze/peak.h"
#include "analyze/work.h"
#include "ir/text_printer.h"
#include "memory/allocator.h"
#include "present/names.h"
#include "session/advise.h"
#include "session/analyses.h"
#include "session/device_memory.h"
#include "session/fit.h"
#include "session/generate.h"
#include "session/prepare.h"
#include "session/runtimes.h"
#include "steelyard/error.h"
#include "steelyard/import.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"
#include "support/choices.h"

namespace steelyard {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// More operators than this are counted and not named in the refusal of `strict`.
constexpr std::size_t kNamedOperators = 5;

// With this convention the others are shown beside it.
constexpr std::string_view kEveryConvention = "all";

Result<const Convention*> ConventionNamed(std::string_view name) {
  if (const Convention* convention = FindConvention(name)) return convention;
  return Unexpected(NoSuch("counting convention", name, NamesOf(CountingConventions())));
}

Status RefuseUnmodelled(const WorkReport& work, const std::string& path) {
  if (work.unmodelled.empty()) return {};
  const std::string names = Listed(work.unmodelled.size(), kNamedOperators, [&](std::size_t i) {
    const OperatorWork& op = work.unmodelled[i];
    return fmt::format("{} ({}×{}{})", op.name, op.calls, op.reason.empty() ? "" : ": ", op.reason);
  });
  return Unexpected(Unsupported(
      fmt::format("{} of {} operators are not modelled: {}", work.calls - work.modelled_calls,
                  work.calls, names),
      path, "Without --strict the model is weighed with totals that are lower bounds."));
}

Error NoSuchCall(const WorkReport& work, const std::string& name) {
  const std::span<const OperatorWork> named =
      std::span(work.by_operator).first(std::min(work.by_operator.size(), kNamedOperators));
  return NotFound(fmt::format("the model makes no call \"{}\"", name), "--at",
                  fmt::format("Name an operator ({} ...) or a call of the exported graph, such as "
                              "linear_2.",
                              fmt::join(NamesOf(named), ", ")));
}

// What runs nothing has no peak, not even that of its weights.
Totals TotalsOf(const Program& program, const Analyses& analyses) {
  if (!program.has_graph) {
    return {.parameter_count = analyses.parameters.parameters.count,
            .parameter_bytes = analyses.parameters.parameters.bytes,
            .buffer_bytes = analyses.parameters.buffers.bytes};
  }
  NodeWork forward = analyses.work.of(Phase::kForward);
  forward += analyses.work.of(Phase::kLoss);
  return {.parameter_count = analyses.parameters.parameters.count,
          .parameter_bytes = analyses.parameters.parameters.bytes,
          .buffer_bytes = analyses.parameters.buffers.bytes,
          .forward_macs = forward.macs,
          .forward_flops = forward.flops,
          .forward_flops_all = forward.flops_all,
          .resident_bytes = analyses.peak.resident,
          .peak_bytes = analyses.memory.peak,
          .operators = analyses.work.calls,
          .modelled_operators = analyses.work.modelled_calls};
}

// Fills in the programs, from what the file holds.
Status Prepare(Program program, const WeighOptions& options, Weighing* weighing) {
  SY_ASSIGN_OR_RETURN(Lowered lowered, Lower(std::move(program), PassesOf(options)));
  weighing->imported = std::move(lowered.imported);
  weighing->kernels = std::move(lowered.kernels);
  weighing->times = std::move(lowered.times);
  return {};
}

Status Analyze(const Convention& convention, const EarlierRuns& earlier, Weighing* weighing) {
  auto analyses = std::make_unique<Analyses>();
  const Program& kernels = weighing->kernels;
  const Target& target = weighing->options.target;
  const Clock::time_point begin = Clock::now();
  SY_ASSIGN_OR_RETURN(weighing->timeline,
                      RunAsChosen(weighing->options, &weighing->kernels, &analyses->graph));
  weighing->times.push_back({.stage = "run", .seconds = SecondsSince(begin)});
  const Clock::time_point ran = Clock::now();
  analyses->parameters = CountParameters(kernels);
  const std::vector<std::int64_t> masked = CountMasked(kernels, target);
  KnownOfNodes known{.masked = masked};
  if (analyses->graph) known.moved = analyses->graph->traffic;
  SY_ASSIGN_OR_RETURN(analyses->work,
                      CountWork(weighing->imported, kernels, convention, target, known));
  if (convention.name == kEveryConvention) {
    for (const Convention& other : Conventions()) {
      SY_ASSIGN_OR_RETURN(WorkReport count,
                          CountWork(weighing->imported, kernels, other, target, known));
      analyses->counts.push_back(std::move(count));
    }
  }
  analyses->training = CountTrainingState(kernels);
  analyses->peak = FindPeak(weighing->timeline);
  if (weighing->options.amp.dtype) {
    analyses->casts = CountCasts(
        weighing->imported, kernels, weighing->timeline, analyses->peak, analyses->work, target,
        weighing->options.amp.policy == CastPolicy::kRaf ? CastRules::kRaf : CastRules::kTorch);
  }
  analyses->kinds = CountKinds(kernels, analyses->work, weighing->timeline, analyses->peak.live);
  if (Caches(weighing->options)) {
    SY_ASSIGN_OR_RETURN(analyses->device,
                        RunOnDevice(kernels, weighing->timeline, weighing->options, earlier));
    SY_ASSIGN_OR_RETURN(weighing->allocators,
                        CompareAllocators(kernels, weighing->timeline, weighing->options, earlier,
                                          *analyses->device));
    analyses->memory = {.peak = analyses->device->use.allocated,
                        .bound = analyses->device->use.requested};
  } else {
    analyses->memory = Replay(weighing->timeline, *MakeExactAllocator());
  }
  analyses->modules = CountModules(weighing->imported, kernels, analyses->work, weighing->timeline);
  analyses->classes = CountClasses(kernels, analyses->modules);
  if (const std::string& at = weighing->options.at; !at.empty()) {
    analyses->moment = FindMoment(weighing->imported, kernels, weighing->timeline, at);
    if (!analyses->moment) return Unexpected(NoSuchCall(analyses->work, at));
  }
  weighing->totals = TotalsOf(kernels, *analyses);
  weighing->times.push_back({.stage = "analyze", .seconds = SecondsSince(ran)});
  weighing->analyses = std::move(analyses);
  return {};
}

// Weights alone do not run: a question about a run is refused rather than answered with zeros.
Status RefuseForWeights(const WeighOptions& options) {
  const std::string_view asked = AskedOfRun(options);
  if (asked.empty()) return {};
  return Unexpected(Unsupported(
      fmt::format("it holds weights and no graph, so that {} has nothing to run", asked), {},
      "Weigh the exported model: torch.export.save(torch.export.export(model, (example_input,)), "
      "\"model.pt2\")."));
}

Result<Weighing> WeighProgram(Program program, const WeighOptions& options,
                              const Convention& convention) {
  Weighing weighing;
  weighing.options = options;
  SY_ASSIGN_OR_RETURN(const EarlierRuns earlier, RunEarlier(program, options));
  SY_RETURN_IF_ERROR(Prepare(std::move(program), options, &weighing));
  SY_RETURN_IF_ERROR(Analyze(convention, earlier, &weighing));
  return weighing;
}

Result<Weighing> WeighFitting(const Program& program, const WeighOptions& options,
                              const Convention& convention) {
  SY_ASSIGN_OR_RETURN(const OpenSize open, FindOpenSize(program, options.bind));
  return WeighLargest(open, options.bind, *options.fit, [&](const BindOptions& sizes) {
    WeighOptions sized = options;
    sized.bind = sizes;
    return WeighProgram(program, sized, convention);
  });
}

Result<Weighing> WeighAndAdvise(const Program& program, const WeighOptions& options,
                                const Convention& convention) {
  if (options.train.optimizer.empty()) {
    return Unexpected(UsageError("only a training step is advised on", "--advise",
                                 "Name its optimizer with --train."));
  }
  SY_ASSIGN_OR_RETURN(Weighing weighing, options.fit ? WeighFitting(program, options, convention)
                                                     : WeighProgram(program, options, convention));
  weighing.advice = Advise(program, weighing, [&](const WeighOptions& changed) {
    return WeighProgram(program, changed, convention);
  });
  return weighing;
}

// What was weighed, without mixed precision. Nothing where it only runs with it.
std::optional<Baseline> BaselineOf(Program program, const WeighOptions& options,
                                   const Convention& convention) {
  WeighOptions plain = options;
  plain.amp = {};
  const Result<Weighing> weighing = WeighProgram(std::move(program), plain, convention);
  if (!weighing) return std::nullopt;
  const Analyses& analyses = *weighing->analyses;
  return Baseline{.peak_bytes = analyses.peak.peak,
                  .at_peak = analyses.peak.at_peak,
                  .moved_bytes = present::Moved(present::TotalOf(analyses.work))};
}

// Keys and values are kept for calls that follow, of which training and weights have none.
Status RefuseUseOfCache(const WeighOptions& options) {
  if (!options.use_cache) return {};
  const std::string_view other = options.generate                   ? "--generate"
                                 : !options.train.optimizer.empty() ? "--train"
                                 : options.fit                      ? "--fit"
                                                                    : "";
  if (other.empty()) return {};
  return Unexpected(UsageError("it is one forward pass that keeps keys and values", "--use-cache",
                               fmt::format("Leave it away, or {}.", other)));
}

// For each of the devices that were asked for, what it takes of them.
Result<std::vector<DeviceFit>> FitsOf(const Program& program, const WeighOptions& options) {
  std::vector<DeviceFit> fits;
  SY_ASSIGN_OR_RETURN(const std::vector<Target> targets, DevicesNamed(options.devices));
  for (const Target& target : targets) {
    WeighOptions there = options;
    there.target = target;
    there.segments = false;
    there.target.cudnn_attention = options.target.cudnn_attention;
    there.target.deterministic = options.target.deterministic;
    there.target.torch_minor = options.target.torch_minor;
    if (!Caches(there)) continue;
    SY_ASSIGN_OR_RETURN(DeviceFit fit, FitOn(program, there));
    fits.push_back(fit);
  }
  return fits;
}

// With the time that it took.
Result<Weighing> Finish(Result<Weighing> weighing, const WeighOptions& options,
                        Clock::time_point begin) {
  if (!weighing) return weighing;
  if (options.strict) SY_RETURN_IF_ERROR(RefuseUnmodelled(weighing->analyses->work, options.path));
  weighing->elapsed_seconds = SecondsSince(begin);
  return weighing;
}

// Only an allocator that keeps what is freed can be set up, and has segments.
Status RefuseAllocators(const WeighOptions& options) {
  if (options.segments && !Caches(options)) {
    return Unexpected(UsageError("the allocator of a cpu has no segments", "--segments",
                                 "Name a CUDA device with --device."));
  }
  if (options.alloc_conf.empty() || Caches(options) || !options.devices.empty()) return {};
  return Unexpected(UsageError("the allocator of a cpu keeps nothing that it could be told of",
                               "--alloc-conf", "Name a CUDA device with --device."));
}

// What other releases of PyTorch do is known of its own kernels on CUDA, be it for the report or
// for the devices that are asked about beside it.
Status RefuseRelease(const WeighOptions& options) {
  const int asked = options.target.torch_minor;
  if (asked == Target().torch_minor) return {};
  if (options.target.device == Device::kCpu && options.devices.empty()) {
    return Unexpected(UsageError(fmt::format("what PyTorch 2.{} does on a cpu is not known", asked),
                                 "--torch",
                                 "Name CUDA devices with --device or --devices, or leave "
                                 "--torch away."));
  }
  const Runtime* runtime = FindRuntime(options.runtime);
  if (runtime == nullptr || !runtime->compiles) return {};
  return Unexpected(UsageError("a compiler is not of a release of PyTorch", "--torch, --runtime",
                               "Leave one of them away."));
}

// The kernels of flash attention are CUDA's.
Status RefuseFlashOnCpu(const WeighOptions& options) {
  if (options.attention != "flash" || options.target.device != Device::kCpu) return {};
  return Unexpected(UsageError("flash attention runs on CUDA devices alone", "--attention",
                               "Name one: --device h200."));
}

Result<Weighing> WeighAsAsked(Program program, const WeighOptions& options,
                              const Convention& convention, Clock::time_point begin) {
  const StageTime read{.stage = "read", .seconds = SecondsSince(begin)};
  if (!program.has_graph) {
    Status runs = RefuseForWeights(options);
    if (!runs) return Unexpected(Within(options.path, std::move(runs).error()));
  }
  std::vector<DeviceFit> devices;
  if (!options.devices.empty()) {
    Result<std::vector<DeviceFit>> fits = FitsOf(program, options);
    if (!fits) return Unexpected(Within(options.path, std::move(fits).error()));
    devices = *std::move(fits);
  }
  std::optional<Program> uncast;
  if (options.amp.dtype) uncast = program;
  Result<Weighing> weighing = options.advise ? WeighAndAdvise(program, options, convention)
                              : options.fit  ? WeighFitting(program, options, convention)
                                            : WeighProgram(std::move(program), options, convention);
  if (!weighing) return Unexpected(Within(options.path, std::move(weighing).error()));
  weighing->devices = std::move(devices);
  if (uncast) weighing->baseline = BaselineOf(*std::move(uncast), weighing->options, convention);
  weighing->times.insert(weighing->times.begin(), read);
  return Finish(std::move(weighing), options, begin);
}

// A program in memory has been read already.
Status RefuseReading(const WeighOptions& options) {
  const std::string_view asked = options.generate             ? "generate"
                                 : !options.from.empty()      ? "from"
                                 : options.dtype              ? "dtype"
                                 : !options.attention.empty() ? "attention"
                                 : options.use_cache          ? "use_cache"
                                                              : "";
  if (asked.empty()) return {};
  return Unexpected(UsageError("the program is in memory, and is not read or built again",
                               std::string(asked), "Leave it away."));
}

}  // namespace

Weighing::Weighing() = default;
Weighing::~Weighing() = default;
Weighing::Weighing(Weighing&&) noexcept = default;
Weighing& Weighing::operator=(Weighing&&) noexcept = default;

Result<std::string> PrintAfter(const WeighOptions& options, std::string_view pass) {
  PassOptions passes = PassesOf(options);
  passes.train.unroll = true;
  std::vector<std::string_view> names = PassesFor(passes);
  const auto last = std::ranges::find(names, pass);
  if (last == names.end()) {
    return Unexpected(UsageError(fmt::format("the pass \"{}\" does not run", pass), "--print-after",
                                 fmt::format("These run: {}.", fmt::join(names, ", "))));
  }
  names.erase(last + 1, names.end());
  ImportOptions import = ImportOf(options);
  if (options.generate) {
    SY_RETURN_IF_ERROR(CheckGeneration(options));
    import.cache = LastCall(*options.generate);
    passes.bind.batch = options.bind.batch.value_or(1) * options.generate->beams;
  }
  if (options.use_cache) passes.bind.seq.reset();
  SY_ASSIGN_OR_RETURN(Program program, ImportFile(options.path, import));
  Result<Program> after = RunPasses(std::move(program), names, passes);
  if (!after) return Unexpected(Within(options.path, std::move(after).error()));
  return Print(*after);
}

Result<Weighing> Weigh(const WeighOptions& options) {
  const Clock::time_point begin = Clock::now();
  SY_ASSIGN_OR_RETURN(const Convention* convention, ConventionNamed(options.count));
  SY_RETURN_IF_ERROR(RefuseUseOfCache(options));
  SY_RETURN_IF_ERROR(RefuseAllocators(options));
  SY_RETURN_IF_ERROR(RefuseRelease(options));
  SY_RETURN_IF_ERROR(RefuseFlashOnCpu(options));
  if (options.generate) {
    return Finish(
        WeighGeneration(options, ImportOf(options),
                        [&](Program program, const WeighOptions& call) -> Result<Weighing> {
                          auto weighing = WeighProgram(std::move(program), call, *convention);
                          if (weighing) return weighing;
                          return Unexpected(Within(call.path, std::move(weighing).error()));
                        }),
        options, begin);
  }
  SY_ASSIGN_OR_RETURN(Program program, ImportFile(options.path, ImportOf(options)));
  if (!options.use_cache) return WeighAsAsked(std::move(program), options, *convention, begin);
  WeighOptions built = options;
  built.bind.seq.reset();  // it was built with that
  return WeighAsAsked(std::move(program), built, *convention, begin);
}

Result<Weighing> Weigh(Program program, const WeighOptions& options) {
  const Clock::time_point begin = Clock::now();
  SY_ASSIGN_OR_RETURN(const Convention* convention, ConventionNamed(options.count));
  SY_RETURN_IF_ERROR(RefuseReading(options));
  SY_RETURN_IF_ERROR(RefuseAllocators(options));
  SY_RETURN_IF_ERROR(RefuseRelease(options));
  return WeighAsAsked(std::move(program), options, *convention, begin);
}

}  // namespace steelyard
