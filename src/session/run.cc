// SPDX-License-Identifier: Apache-2.0
//
// What is weighed is run: the same kernels, in the order in which the prediction has them.
#include "session/run.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execute/contents.h"
#include "execute/execution.h"
#include "execute/library.h"
#include "execute/measure.h"
#include "execute/tensor_writer.h"
#include "import/weights/tensor_file.h"
#include "present/run.h"
#include "session/findings.h"
#include "session/prepare.h"
#include "steelyard/import.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"
#include "steelyard/units.h"

namespace steelyard {
namespace {

using weights::TensorFile;

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

Result<Sources> SourcesOf(const RunOptions& options) {
  Sources sources{.weights_name = options.weights, .inputs_name = options.inputs};
  SY_ASSIGN_OR_RETURN(sources.weights, TensorsOf(options.weights));
  SY_ASSIGN_OR_RETURN(sources.inputs, TensorsOf(options.inputs));
  return sources;
}

Status Refuse(const RunOptions& options) {
  if (options.weigh.runtime != WeighOptions().runtime) {
    return Unexpected(UsageError("what runs runs eagerly", "--runtime", "Leave it away."));
  }
  if (options.steps < 1 || options.number < 0 || options.threads < 1) {
    return Unexpected(UsageError("steps, runs and threads are at least one"));
  }
  return {};
}

// Its values are another program's, to be written or to go on with.
class Steps {
 public:
  Steps(const RunOptions& options, const Weighing& first, Execution execution)
      : options_(options), first_(first), execution_(std::move(execution)) {}

  Status Run() {
    for (int step = 1; step <= options_.steps; ++step) {
      if (step > 1) {
        execution_.ReleaseOutputs();
        SY_RETURN_IF_ERROR(GoOn(step));
      }
      KeepResults();
      const auto end = static_cast<NodeId>(execution_.kernels().main().nodes.size());
      SY_RETURN_IF_ERROR(execution_.Run(0, end));
    }
    return {};
  }

  Status Write() {
    TensorWriter file;
    const Program& kernels = execution_.kernels();
    const std::vector<Argument>& outputs = kernels.main().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].kind != ArgKind::kValue) continue;
      if (kernels.values[outputs[i].value].kind != ValueKind::kTensor) continue;
      SY_RETURN_IF_ERROR(Add("outputs." + std::to_string(i), outputs[i].value, &file));
    }
    for (const Resident& resident : execution_.residents()) {
      const bool is_parameter = resident.category == Category::kParameters;
      if (!is_parameter && resident.category != Category::kBuffers) continue;
      SY_RETURN_IF_ERROR(
          Add((is_parameter ? "parameters." : "buffers.") + resident.name, resident.value, &file));
      if (resident.value >= kernels.gradients.size()) continue;
      const ValueId gradient = kernels.gradients[resident.value];
      if (gradient == kNoId) continue;
      SY_RETURN_IF_ERROR(Add("gradients." + resident.name, gradient, &file));
    }
    return file.Write(options_.save);
  }

 private:
  // The step itself lets gradients and outputs go before it ends.
  void KeepResults() {
    const Program& kernels = execution_.kernels();
    for (const ValueId gradient : kernels.gradients) {
      if (gradient != kNoId) execution_.Keep(gradient);
    }
    for (const Argument& output : kernels.main().outputs) {
      if (output.kind == ArgKind::kValue) execution_.Keep(output.value);
    }
  }

  // With the numbers of the optimizer that are this step's.
  Status GoOn(int step) {
    if (first_.options.train.optimizer.empty()) return {};
    WeighOptions weigh = first_.options;
    weigh.train.step = step;
    SY_ASSIGN_OR_RETURN(Program program, ImportFile(weigh.path, ImportOf(weigh)));
    SY_ASSIGN_OR_RETURN(Lowered lowered, Lower(std::move(program), PassesOf(weigh)));
    auto next = std::make_unique<Program>(std::move(lowered.kernels));
    SY_RETURN_IF_ERROR(execution_.Continue(*next));
    kernels_ = std::move(next);
    return {};
  }

  Status Add(const std::string& name, ValueId value, TensorWriter* file) {
    Result<SyElements> elements = execution_.Read(value);
    if (!elements) return Unexpected(Within(name, std::move(elements).error()));
    return file->Add(name, *elements);
  }

  const RunOptions& options_;
  const Weighing& first_;
  Execution execution_;
  std::unique_ptr<const Program> kernels_;  // of a later step
};

// What helps where there is not memory enough.
std::string WhenMemoryEnds(const Weighing& weighing) {
  return fmt::format(
      "Its peak was predicted to be {}. A smaller --batch or --seq lowers it, and what "
      "`steelyard weigh` names with --advise.",
      Format(weighing.totals.peak_bytes, Unit::kBytes));
}

// What steps compute, written to a file.
Status Save(const SyEngine& engine, const Sources& sources, const Running& running) {
  if (running.weighing.kernels.has_stand_ins) {
    return Unexpected(Unsupported(
        "what this step computes is not written: some of its numbers stand for any", {},
        "The numbers of sgd, adam and adamw are known, without --foreach, --fused, clipping and "
        "the gradient scaler."));
  }
  engine.set_seed(running.options.seed);
  SY_ASSIGN_OR_RETURN(
      Execution execution,
      Execution::Open(engine, running.weighing.kernels, sources, WhenMemoryEnds(running.weighing)));
  engine.set_seed(running.options.seed);
  Steps steps(running.options, running.weighing, std::move(execution));
  SY_RETURN_IF_ERROR(steps.Run());
  return steps.Write();
}

// Weights of a file are to give a loss. Those that are drawn need not: what it takes is the same.
Status CheckLoss(double loss, const Sources& sources) {
  if (std::isfinite(loss) || !sources.weights) return {};
  return Unexpected(InvalidInput(fmt::format("the loss is {}", loss), sources.weights_name,
                                 "Give inputs that the model is made for, with --inputs, or run "
                                 "it without --amp."));
}

Status MeasureRun(const SyEngine& engine, const Sources& sources, Running* running) {
  const RunOptions& options = running->options;
  const Program& kernels = running->weighing.kernels;
  engine.set_seed(options.seed);
  SY_ASSIGN_OR_RETURN(Execution execution,
                      Execution::Open(engine, kernels, sources, WhenMemoryEnds(running->weighing)));
  engine.set_seed(options.seed);
  SY_ASSIGN_OR_RETURN(running->measurement,
                      MeasureExecution(execution, {.warmup = options.warmup,
                                                   .number = options.number,
                                                   .repeat = options.repeat,
                                                   .stop = options.stop,
                                                   .progress = options.progress,
                                                   .check_loss = [&](double loss) {
                                                     return CheckLoss(loss, sources);
                                                   }}));
  const Timeline& timeline = running->measurement.timeline;
  std::int64_t now = timeline.resident_bytes();
  running->peak = now;
  for (const Event& event : timeline.events) {
    now += event.bytes;
    running->peak = std::max(running->peak, now);
  }
  running->differences =
      CompareEvents(running->weighing.timeline, timeline, kernels.main().nodes.size());
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

// Nodes are timed one by one, so that none stands for several.
WeighOptions ToWeigh(const RunOptions& options) {
  WeighOptions weigh = options.weigh;
  weigh.train.unroll = true;
  return weigh;
}

Result<Running> RunWeighed(Weighing weighing, const RunOptions& options, const Sources& sources) {
  const std::string& path = options.weigh.path;
  Running running;
  running.options = options;
  running.options.weigh = ToWeigh(options);
  running.weighing = std::move(weighing);
  const Program& kernels = running.weighing.kernels;
  if (!kernels.has_graph) {
    return Unexpected(
        Unsupported("it holds weights and no graph, so that there is nothing to run", path));
  }
  SY_ASSIGN_OR_RETURN(const SyEngine* engine, LoadEngine(options.engine));
  running.torch = engine->torch;
  running.samples = SamplesOf(kernels);
  running.tokens = TokensOf(kernels);
  engine->set_threads(options.threads);
  Status done = options.save.empty() ? Status() : Save(*engine, sources, running);
  if (done && options.repeat > 0) done = MeasureRun(*engine, sources, &running);
  if (!done) return Unexpected(Within(path, std::move(done).error()));
  running.process_peak = PeakOfProcess();
  return running;
}

}  // namespace

Result<Running> Run(const RunOptions& options) {
  SY_RETURN_IF_ERROR(Refuse(options));
  Result<Weighing> weighing = Weigh(ToWeigh(options));
  if (!weighing) return Unexpected(std::move(weighing).error());
  SY_ASSIGN_OR_RETURN(const Sources sources, SourcesOf(options));
  return RunWeighed(*std::move(weighing), options, sources);
}

Result<Running> Run(Program program, const RunOptions& options, const Sources& sources) {
  SY_RETURN_IF_ERROR(Refuse(options));
  if (!options.save.empty()) {
    return Unexpected(UsageError("what a program in memory computes is not written", "save"));
  }
  Result<Weighing> weighing = Weigh(std::move(program), ToWeigh(options));
  if (!weighing) return Unexpected(std::move(weighing).error());
  return RunWeighed(*std::move(weighing), options, sources);
}

report::Document Describe(const Running& running, const RunReportOptions& options) {
  report::Document document;
  const present::Findings findings = FindingsOf(running.weighing);
  const present::Run run{.findings = findings,
                         .measurement = running.measurement,
                         .differences = running.differences,
                         .torch = running.torch,
                         .threads = running.options.threads,
                         .seed = running.options.seed,
                         .peak = running.peak,
                         .predicted_peak = running.weighing.totals.peak_bytes,
                         .process_peak = running.process_peak,
                         .samples = running.samples,
                         .tokens = running.tokens};
  present::PresentRun(run, {.depth = options.depth, .top = options.top}, &document);
  return document;
}

}  // namespace steelyard
