// SPDX-License-Identifier: Apache-2.0
//
// Running a model: what it takes and allocates, next to what weighing it predicts. It runs in
// PyTorch, through the engine, a library that is built apart from Steelyard and loaded here.
//
//   Result<Running> running = Run({.weigh = {.path = "bert.pt2"}, .repeat = 5});
//   if (!running) return Report(Describe(running.error()));
//   double seconds = SpreadOf(running->measurement.stages[0].seconds).median;
//   Result<std::string> text = report::Render(Describe(*running, {}), "text");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "execute/contents.h"
#include "execute/measurement.h"
#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/weigh.h"

namespace steelyard {

struct RunOptions {
  // What runs: the model, its sizes, the training step. The eager runtime predicts it.
  WeighOptions weigh = {};

  // Runs on the CUDA device that is here, and predicts it as the row that is like it. Else it runs
  // on what `weigh.target` names, which has to be the device that is here.
  bool device_at_hand = false;

  // The engine's library. Empty: libsteelyard_engine.so beside the program or library that calls.
  std::string engine = {};

  // Libraries that register operators with PyTorch, which are loaded first. torchvision's need not
  // be named where it is installed beside PyTorch.
  std::vector<std::string> libraries = {};

  // Files of safetensors: the parameters and buffers by their names, all of them, and the inputs by
  // theirs. Empty: they are drawn at random.
  std::string weights = {};
  std::string inputs = {};

  // Seeds what is drawn and, once more, the numbers that the program itself draws.
  std::uint64_t seed = 0;

  // Of PyTorch. The prediction is for one thread whatever this is.
  int threads = 1;

  // A file of safetensors. Before anything is measured `steps` steps run from the beginning, and
  // what they have computed is written: "outputs.0", "parameters.NAME", "buffers.NAME" and, of a
  // training step, "gradients.NAME" of its last.
  std::string save = {};
  int steps = 1;

  // Runs before what counts, at least; runs of which a mean is taken, 0: as many as a second holds,
  // at most 10; and means. Nothing is measured where `repeat` is 0.
  int warmup = 5;
  int number = 0;
  int repeat = 10;

  // Two of "fp32" (without autocast), "bf16" and "fp16", which `CompareRuns` runs in turns.
  std::vector<std::string> compare = {};

  // What the device computes in a second, for each program that runs. Empty: a product of matrices
  // is measured, which takes a second, unless that is left out.
  std::vector<double> peak_flops = {};
  bool leave_peak_out = false;

  // Where it points to a number that is not 0, measuring ends with what there is.
  const volatile int* stop = nullptr;
  // Called before anything runs, and after each repetition.
  std::function<void(int done, int total)> progress = {};
};

struct Running {
  RunOptions options;
  Weighing weighing;        // what is predicted
  std::string torch;        // the version that the engine is built against
  Measurement measurement;  // empty where nothing was measured
  std::int64_t peak = 0;    // bytes: the highest total of what was asked for, residents included
  std::int64_t predicted_peak = 0;  // of the same
  std::int64_t process_peak = 0;    // bytes: the most that the process has held in memory
  std::int64_t samples = 0;         // the first size of the first input; 0 where it has none
  std::int64_t tokens = 0;          // elements of that input, where it holds the tokens of texts
  std::vector<EventDifference> differences;  // from the prediction
  std::optional<DeviceUse> device_use;       // where it is not the CPU
  std::optional<DevicePeak> device_peak;     // of which the run's speed is a share
};

// A model in two precisions, which ran in turns.
struct RunComparison {
  std::vector<std::string> precisions;
  std::vector<Running> runs;       // in their order
  std::vector<StageRatio> ratios;  // of the second's time to the first's; of the whole step last
};

// Runs the model that `options.weigh` names. The errors are those of `Weigh`, of the engine (it
// says the command that mends it), of files that do not fit the model or hold NaN, of a loss that
// is not finite with the weights of a file, and what PyTorch says of a kernel.
[[nodiscard]] Result<Running> Run(const RunOptions& options);
// The same of a program that is in memory, on these tensors instead of those of files. Nothing of
// it is written: `save` is empty.
[[nodiscard]] Result<Running> Run(Program program, const RunOptions& options,
                                  const Sources& sources);

// Runs the model in both precisions that `options.compare` names, repetition by repetition in
// turns; all else as above.
[[nodiscard]] Result<RunComparison> CompareRuns(const RunOptions& options);
[[nodiscard]] Result<RunComparison> CompareRuns(const Program& program, const RunOptions& options,
                                                const Sources& sources);

// What of a run a report shows; its data have all of it.
struct RunReportOptions {
  int depth = 2;  // levels of the module tree
  int top = 10;   // operators
};
[[nodiscard]] report::Document Describe(const Running& running, const RunReportOptions& options);
[[nodiscard]] report::Document Describe(const RunComparison& comparison,
                                        const RunReportOptions& options);

}  // namespace steelyard
