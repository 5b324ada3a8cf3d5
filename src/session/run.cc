// SPDX-License-Identifier: Apache-2.0
//
// What is weighed is run: the same kernels, in the order in which the prediction has them.
#include "session/run.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "execute/contents.h"
#include "execute/execution.h"
#include "execute/library.h"
#include "execute/measure.h"
#include "import/pt2/constants.h"
#include "import/weights/tensor_file.h"
#include "present/run.h"
#include "present/run_comparison.h"
#include "session/device_at_hand.h"
#include "session/findings.h"
#include "session/peak_flops.h"
#include "session/run_help.h"
#include "session/saved_steps.h"
#include "steelyard/program.h"

namespace steelyard {
namespace {

using weights::TensorFile;

// What `--amp` knows, by name, and the model as it is.
struct Precision {
  std::string_view name;
  std::optional<DType> amp;
};
constexpr std::array kPrecisions{Precision{"fp32", std::nullopt},
                                 Precision{"bf16", DType::kBFloat16},
                                 Precision{"fp16", DType::kFloat16}};

// Tensors of the file at `path`, which live as long as they are asked for; none of no file.
Result<GivenTensors> TensorsOf(const std::string& path) {
  if (path.empty()) return GivenTensors();
  SY_ASSIGN_OR_RETURN(TensorFile opened, TensorFile::Open(path));
  auto file = std::make_shared<const TensorFile>(std::move(opened));
  return GivenTensors([file](std::string_view name) -> std::optional<GivenTensor> {
    const std::optional<TensorFile::Found> found = file->Find(name);
    if (!found) return std::nullopt;
    return GivenTensor{found->dtype, found->sizes, found->bytes};
  });
}

// What the model at `path` has besides its weights, which is read once somebody asks for it.
GivenTensors ConstantsOf(const std::string& path) {
  auto constants = std::make_shared<std::optional<const pt2::Constants>>();
  return [constants, path](std::string_view name) -> std::optional<GivenTensor> {
    if (!*constants) constants->emplace(pt2::Constants::Of(path));
    const std::optional<pt2::Constants::Found> found = (*constants)->Find(name);
    if (!found) return std::nullopt;
    return GivenTensor{found->dtype, found->sizes, found->bytes};
  };
}

Result<Sources> SourcesOf(const RunOptions& options) {
  Sources sources{.weights_name = options.weights, .inputs_name = options.inputs};
  SY_ASSIGN_OR_RETURN(sources.weights, TensorsOf(options.weights));
  SY_ASSIGN_OR_RETURN(sources.inputs, TensorsOf(options.inputs));
  sources.constants = ConstantsOf(options.weigh.path);
  return sources;
}

// How many programs run.
std::size_t RunsOf(const RunOptions& options) {
  return std::max<std::size_t>(options.compare.size(), 1);
}

Status RefuseLess(int value, int least, std::string_view flag) {
  if (value >= least) return {};
  return Unexpected(UsageError(fmt::format("{} is less than {}", value, least), std::string(flag),
                               fmt::format("It is a whole number from {} on.", least)));
}

// More threads than any machine has processors for end a process without a word.
constexpr int kMostThreads = 4096;

Status Refuse(const RunOptions& options) {
  if (options.weigh.runtime != WeighOptions().runtime) {
    return Unexpected(UsageError("what runs runs eagerly", "--runtime", "Leave it away."));
  }
  if (!options.weigh.train.parallel.wrapper.empty()) {
    return Unexpected(UsageError("the engine runs no wrapped model", "--parallel",
                                 "Leave it away: torchrun's processes then average gradients."));
  }
  SY_RETURN_IF_ERROR(RefuseLess(options.threads, 1, "--threads"));
  if (options.threads > kMostThreads) {
    return Unexpected(UsageError(fmt::format("{} is more than {}", options.threads, kMostThreads),
                                 "--threads", "As many as there are processors are of use."));
  }
  SY_RETURN_IF_ERROR(RefuseLess(options.steps, 1, "--steps"));
  if (options.steps > 1 && options.save.empty()) {
    return Unexpected(UsageError("nothing of several steps is kept", "--steps",
                                 "Say where what they compute goes: --save FILE."));
  }
  if (options.steps > 1 && options.weigh.train.first_step) {
    return Unexpected(UsageError(fmt::format("{} first steps are none", options.steps),
                                 "--steps, --first-step", "Leave one of them away."));
  }
  SY_RETURN_IF_ERROR(RefuseLess(options.number, 0, "--number"));
  SY_RETURN_IF_ERROR(RefuseLess(options.warmup, 0, "--warmup"));
  SY_RETURN_IF_ERROR(RefuseLess(options.repeat, 0, "--repeat"));
  const std::size_t peaks = options.peak_flops.size();
  if (peaks > 0 && peaks != RunsOf(options)) {
    return Unexpected(UsageError(fmt::format("{} peaks of {} programs", peaks, RunsOf(options)),
                                 "--peak-flops", "Give one for each precision, as 2T,4T."));
  }
  return {};
}

Status RefuseOverwriting(const RunOptions& options) {
  std::error_code missing;
  for (const std::string& read : {options.weigh.path, options.inputs}) {
    if (options.save.empty() || !std::filesystem::equivalent(options.save, read, missing)) continue;
    return Unexpected(UsageError("what is computed would overwrite what is read", "--save",
                                 "Name another file."));
  }
  return {};
}

Status RefuseComparison(const RunOptions& options) {
  constexpr std::size_t kCompared = 2;
  if (options.compare.size() != kCompared || options.compare[0] == options.compare[1]) {
    return Unexpected(
        UsageError("two precisions are compared", "--compare", "Write it as --compare fp32,bf16."));
  }
  if (options.weigh.amp.dtype) {
    return Unexpected(UsageError("what is compared says the precisions", "--amp",
                                 "Leave it away beside --compare."));
  }
  if (!options.save.empty()) {
    return Unexpected(UsageError("what two programs compute is not written", "--save",
                                 "Run each of them alone, with --amp."));
  }
  if (options.repeat < 1) {
    return Unexpected(UsageError("nothing is compared that is not measured", "--repeat",
                                 "It is a whole number from 1 on beside --compare."));
  }
  return Refuse(options);
}

Result<AmpOptions> AmpOf(std::string_view precision, const AmpOptions& amp) {
  const auto* const found = std::ranges::find(kPrecisions, precision, &Precision::name);
  if (found != kPrecisions.end()) {
    return found->amp ? AmpOptions{.dtype = found->amp, .policy = amp.policy, .casts = amp.casts}
                      : AmpOptions();
  }
  std::vector<std::string_view> names;
  names.reserve(kPrecisions.size());
  for (const Precision& known : kPrecisions) names.push_back(known.name);
  return Unexpected(UsageError(fmt::format("there is no precision \"{}\"", precision), "--compare",
                               fmt::format("There are: {}.", fmt::join(names, ", "))));
}

// Weights of a file are to give a loss. Those that are drawn need not, nor does a program of which
// some numbers stand for any: what it takes is the same.
Status CheckLoss(const Measurement& so_far, const Program& kernels, const Sources& sources) {
  if (!sources.weights || kernels.has_stand_ins) return {};
  const std::string where = WhereNotFinite(*so_far.not_finite, kernels);
  return Unexpected(InvalidInput(
      fmt::format("the loss is {}{}{}", *so_far.loss, where.empty() ? "" : ": ", where),
      sources.weights_name,
      "Give inputs that the model is made for, with --inputs, or run it without --amp."));
}

// What the engine told of memory, next to what was predicted.
void CompareMemory(Running* running) {
  const present::Findings findings = FindingsOf(running->weighing);
  running->predicted_peak = findings.device != nullptr ? findings.device->use.requested
                                                       : running->weighing.totals.peak_bytes;
  if (!running->measurement.has_memory) return;  // it was interrupted before
  const Timeline& timeline = running->measurement.timeline;
  std::int64_t now = timeline.resident_bytes();
  running->peak = now;
  for (const Event& event : timeline.events) {
    now += event.bytes;
    running->peak = std::max(running->peak, now);
  }
  running->differences =
      CompareEvents(running->weighing.timeline, timeline, running->weighing.kernels);
}

// The peak of the dtype that most of it computes in, as given or as this machine reaches it.
Status FindPeak(const SyEngine& engine, std::size_t i, Running* running) {
  const RunOptions& options = running->options;
  const std::optional<DType> dtype = DTypeOfProducts(running->weighing);
  if (!dtype || running->measurement.runs == 0 || options.leave_peak_out) return {};
  if (i < options.peak_flops.size()) {
    running->device_peak = DevicePeak{.flops_per_second = options.peak_flops[i], .dtype = *dtype};
    return {};
  }
  const Target& target = running->weighing.options.target;
  if (target.device != Device::kCpu) {
    const double flops = PeakOf(target, *dtype);
    if (flops > 0)
      running->device_peak =
          DevicePeak{.flops_per_second = flops, .dtype = *dtype, .device = target.name};
    return {};
  }
  if (running->measurement.was_interrupted) return {};
  Result<DevicePeak> peak = MeasurePeak(engine, *dtype, options.stop);
  const bool was_interrupted = options.stop != nullptr && *options.stop != 0;
  if (!peak) return was_interrupted ? Status() : Unexpected(std::move(peak).error());
  running->device_peak = *peak;
  return {};
}

Status MeasureRuns(const SyEngine& engine, const Sources& sources, std::span<Running> runs) {
  const RunOptions& options = runs[0].options;
  std::vector<Execution> executions;
  for (const Running& running : runs) {
    engine.set_seed(options.seed);
    SY_ASSIGN_OR_RETURN(Execution execution,
                        Execution::Open(engine, running.weighing.kernels, sources,
                                        HelpOf(running.weighing), EngineDevice(options)));
    executions.push_back(std::move(execution));
  }
  engine.set_seed(options.seed);
  SY_ASSIGN_OR_RETURN(std::vector<Measurement> measured,
                      MeasureInTurns(executions, {.warmup = options.warmup,
                                                  .number = options.number,
                                                  .repeat = options.repeat,
                                                  .runs_in_group = options.weigh.train.ranks > 1,
                                                  .stop = options.stop,
                                                  .progress = options.progress,
                                                  .check_loss = [&](const Measurement& so_far,
                                                                    const Program& kernels) {
                                                    return CheckLoss(so_far, kernels, sources);
                                                  }}));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].measurement = std::move(measured[i]);
    CompareMemory(&runs[i]);
  }
  return {};
}

// The first size of the first input.
std::int64_t SamplesOf(const Program& kernels) {
  if (kernels.inputs.empty()) return 0;
  const auto sizes = kernels.sizes(kernels.inputs[0]);
  return sizes.empty() ? 0 : sizes[0];
}

// Whole numbers in two dimensions are taken to be tokens.
std::int64_t TokensOf(const Program& kernels) {
  if (kernels.inputs.empty()) return 0;
  const ValueId first = kernels.inputs[0];
  const auto sizes = kernels.sizes(first);
  return sizes.size() == 2 && IsIntegral(kernels.values[first].dtype) ? sizes[0] * sizes[1] : 0;
}

std::int64_t PeakOfProcess() {
  constexpr std::int64_t kKilobyte = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * kKilobyte;
}

Status LoadLibraries(const SyEngine& engine, const RunOptions& options) {
  for (const std::string& library : options.libraries) {
    SyError error{};
    // A name without a folder would be looked for where the linker looks.
    const std::string file = std::filesystem::absolute(library).string();
    if (engine.load_library(file.c_str(), &error)) continue;
    const std::string_view said = static_cast<const char*>(error.message);
    return Unexpected(Unsupported(std::string(said.substr(0, said.find('\n'))), library,
                                  "It is a library that registers operators (TORCH_LIBRARY), built "
                                  "against the PyTorch of the engine; one that needs Python is "
                                  "loaded by `python -m steelyard run`."));
  }
  return {};
}

// Nodes are timed one by one, so that none stands for several; for the device that it runs on.
Result<WeighOptions> ToWeigh(const RunOptions& options) {
  WeighOptions weigh = options.weigh;
  weigh.train.unroll = true;
  if (EngineDevice(options) == "cpu") return weigh;
  SY_ASSIGN_OR_RETURN(const SyEngine* engine, LoadEngine(options.engine));
  SY_ASSIGN_OR_RETURN(const SyDevice device, OpenDevice(*engine, options));
  SY_ASSIGN_OR_RETURN(weigh.target, TargetFor(device, weigh.target, options.device_at_hand));
  return weigh;
}

// The programs that were weighed, in turns.
Result<std::vector<Running>> RunWeighed(std::vector<Weighing> weighings, const RunOptions& options,
                                        const Sources& sources) {
  const std::string& path = options.weigh.path;
  SY_ASSIGN_OR_RETURN(const SyEngine* engine, LoadEngine(options.engine));
  SY_RETURN_IF_ERROR(LoadLibraries(*engine, options));
  SY_ASSIGN_OR_RETURN(const SyDevice device, OpenDevice(*engine, options));
  std::vector<Running> runs(weighings.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Running& running = runs[i];
    running.options = options;
    running.options.weigh = weighings[i].options;
    running.weighing = std::move(weighings[i]);
    const Program& kernels = running.weighing.kernels;
    if (!kernels.has_graph) {
      return Unexpected(
          Unsupported("it holds weights and no graph, so that there is nothing to run", path));
    }
    running.torch = engine->torch;
    running.samples = SamplesOf(kernels);
    running.tokens = TokensOf(kernels);
  }
  engine->set_threads(options.threads);
  engine->set_deterministic(options.weigh.target.deterministic);
  Status done = options.save.empty() ? Status() : SaveSteps(*engine, sources, runs[0]);
  if (done && options.repeat > 0) done = MeasureRuns(*engine, sources, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].process_peak = PeakOfProcess();
    runs[i].device_use = UseOf(device, *engine, options);
    if (done) done = FindPeak(*engine, i, &runs[i]);
  }
  if (!done) return Unexpected(Within(path, std::move(done).error()));
  return runs;
}

Result<Running> RunOne(Result<Weighing> weighing, const RunOptions& options,
                       const Sources& sources) {
  if (!weighing) return Unexpected(std::move(weighing).error());
  std::vector<Weighing> weighings;
  weighings.push_back(*std::move(weighing));
  SY_ASSIGN_OR_RETURN(std::vector<Running> runs,
                      RunWeighed(std::move(weighings), options, sources));
  return std::move(runs[0]);
}

// Of each stage that both have, and of the whole.
std::vector<StageRatio> RatiosOf(const Running& first, const Running& second) {
  std::vector<StageRatio> ratios;
  for (const StageTimes& stage : first.measurement.stages) {
    const auto& others = second.measurement.stages;
    const auto other = std::ranges::find(others, stage.name, &StageTimes::name);
    if (other == others.end()) continue;
    ratios.push_back({stage.name, RatioOf(stage.seconds, other->seconds)});
  }
  if (ratios.size() < 2) return ratios;
  ratios.push_back(
      {kWholeStep, RatioOf(SecondsOfRuns(first.measurement), SecondsOfRuns(second.measurement))});
  return ratios;
}

// Weighs in both precisions what `weigh` weighs in one.
template <class WeighIn>
Result<RunComparison> RunBoth(const RunOptions& options, const Sources& sources,
                              const WeighIn& weigh) {
  std::vector<Weighing> weighings;
  for (const std::string& precision : options.compare) {
    SY_ASSIGN_OR_RETURN(WeighOptions in, ToWeigh(options));
    SY_ASSIGN_OR_RETURN(in.amp, AmpOf(precision, options.weigh.amp));
    Result<Weighing> weighing = weigh(in);
    if (!weighing) return Unexpected(std::move(weighing).error());
    weighings.push_back(*std::move(weighing));
  }
  RunComparison comparison{.precisions = options.compare, .runs = {}, .ratios = {}};
  SY_ASSIGN_OR_RETURN(comparison.runs, RunWeighed(std::move(weighings), options, sources));
  comparison.ratios = RatiosOf(comparison.runs[0], comparison.runs[1]);
  return comparison;
}

// Valid while the running and the findings are.
present::Run Presented(const Running& running, const present::Findings& findings) {
  return {.findings = findings,
          .measurement = running.measurement,
          .differences = running.differences,
          .torch = running.torch,
          .threads = running.options.threads,
          .seed = running.options.seed,
          .peak = running.peak,
          .predicted_peak = running.predicted_peak,
          .process_peak = running.process_peak,
          .samples = running.samples,
          .tokens = running.tokens,
          .device_use = running.device_use ? &*running.device_use : nullptr,
          .device_peak = running.device_peak ? &*running.device_peak : nullptr,
          .where_not_finite =
              running.measurement.not_finite
                  ? WhereNotFinite(*running.measurement.not_finite, running.weighing.kernels)
                  : std::string()};
}

}  // namespace

Result<Running> Run(const RunOptions& options) {
  SY_RETURN_IF_ERROR(Refuse(options));
  SY_RETURN_IF_ERROR(RefuseOverwriting(options));
  SY_ASSIGN_OR_RETURN(const Sources sources, SourcesOf(options));
  SY_ASSIGN_OR_RETURN(const WeighOptions weigh, ToWeigh(options));
  return RunOne(Weigh(weigh), options, sources);
}

Result<Running> Run(Program program, const RunOptions& options, const Sources& sources) {
  SY_RETURN_IF_ERROR(Refuse(options));
  if (!options.save.empty()) {
    return Unexpected(UsageError("what a program in memory computes is not written", "save"));
  }
  SY_ASSIGN_OR_RETURN(const WeighOptions weigh, ToWeigh(options));
  return RunOne(Weigh(std::move(program), weigh), options, sources);
}

Result<RunComparison> CompareRuns(const RunOptions& options) {
  SY_RETURN_IF_ERROR(RefuseComparison(options));
  SY_ASSIGN_OR_RETURN(const Sources sources, SourcesOf(options));
  return RunBoth(options, sources, [](const WeighOptions& in) { return Weigh(in); });
}

Result<RunComparison> CompareRuns(const Program& program, const RunOptions& options,
                                  const Sources& sources) {
  SY_RETURN_IF_ERROR(RefuseComparison(options));
  return RunBoth(options, sources,
                 [&](const WeighOptions& in) { return Weigh(Program(program), in); });
}

report::Document Describe(const Running& running, const RunReportOptions& options) {
  report::Document document;
  const present::Findings findings = FindingsOf(running.weighing);
  present::PresentRun(Presented(running, findings), {.depth = options.depth, .top = options.top},
                      &document);
  return document;
}

report::Document Describe(const RunComparison& comparison, const RunReportOptions& options) {
  report::Document document;
  const present::Findings before = FindingsOf(comparison.runs[0].weighing);
  const present::Findings after = FindingsOf(comparison.runs[1].weighing);
  const std::array sides{
      present::RunSide{comparison.precisions[0], Presented(comparison.runs[0], before)},
      present::RunSide{comparison.precisions[1], Presented(comparison.runs[1], after)}};
  present::PresentRunComparison(sides, comparison.ratios,
                                {.depth = options.depth, .top = options.top}, &document);
  return document;
}

}  // namespace steelyard
