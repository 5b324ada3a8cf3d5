// SPDX-License-Identifier: Apache-2.0
//
// Decides what `steelyard run` can be asked: what `weigh` can of a model, without what only a
// prediction can follow, and what a run takes besides. Ctrl-C asks the run to stop before its next
// call; a second one ends the process.

#include "cli/run_command.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "cli/generate_flags.h"
#include "cli/progress.h"
#include "steelyard/error.h"
#include "steelyard/report.h"

namespace steelyard::cli {
namespace {

// Flags of weighing that nothing which runs can follow.
constexpr std::array<std::string_view, 9> kOfPredictions = {
    "--runtime", "--schedule",  "--budget",  "--count",     "--strict",
    "--as",      "--use-cache", "--devices", "--alloc-conf"};

// The device that is here, whatever its name.
constexpr std::string_view kAtHand = "cuda";

bool CanRun(const Flag& flag) {
  return flag.heading != WeighCommand::kOfTexts &&
         std::ranges::find(kOfPredictions, flag.name) == kOfPredictions.end();
}

// Set by Ctrl-C; the second one ends the process.
volatile std::sig_atomic_t g_stop = 0;

void Stop(int signal) {
  g_stop = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

RunCommand::RunCommand() : output_({"text", "json"}, {}) {}

void RunCommand::AddReportFlags(std::vector<Flag>* flags) {
  const std::size_t report = flags->size();
  flags->push_back({.name = "--depth",
                    .arg = "N",
                    .help = "levels of the module tree to show",
                    .field = &report_.depth});
  flags->push_back({.name = "--top", .arg = "N", .help = "kernels to show", .field = &report_.top});
  output_.AddFlags(flags);
  PutUnder("The report", report, flags);
}

void RunCommand::AddModelFlags(std::vector<Flag>* flags) {
  std::vector<Flag> of_models;
  weigh_.AddModelFlags(&of_models);
  for (Flag& flag : of_models) {
    if (flag.name == "--device") {
      flag.help = "where it runs: the CPU, the CUDA device that is here, or that by its name";
      flag.choices.insert(flag.choices.begin() + 1, kAtHand);
    }
    if (CanRun(flag)) flags->push_back(std::move(flag));
  }
}

std::vector<Flag> RunCommand::Flags() {
  std::vector<Flag> flags;
  AddModelFlags(&flags);
  const std::size_t first = flags.size();
  flags.insert(
      flags.end(),
      {{.name = "--weights",
        .arg = "FILE",
        .help = "parameters and buffers, a safetensors file; drawn at random without it",
        .field = &run_.weights},
       {.name = "--inputs",
        .arg = "FILE",
        .help = "the inputs by their names, a safetensors file; drawn at random without it",
        .field = &run_.inputs},
       {.name = "--seed", .arg = "N", .help = "of what is drawn", .field = &seed_},
       {.name = "--threads", .arg = "N", .help = "of PyTorch", .field = &run_.threads, .least = 1},
       {.name = "--warmup",
        .arg = "N",
        .help = "runs before those that count, at least",
        .field = &run_.warmup},
       {.name = "--number",
        .arg = "N",
        .help = "runs of which a mean is taken; 0: as many as a second holds, at most 10",
        .field = &run_.number},
       {.name = "--repeat",
        .arg = "N",
        .help = "means that are taken; 0 measures nothing",
        .field = &run_.repeat},
       {.name = "--compare",
        .arg = "fp32,bf16",
        .help = "run in two precisions, fp32, bf16 or fp16, in turns, and tell the ratio of their "
                "times with its interval",
        .field = &compare_},
       {.name = "--peak-flops",
        .arg = "989T",
        .help = "what the device computes in a second, of which the speed is told as a share; "
                "measured by a product of matrices without it; of each precision, with --compare",
        .field = &peak_flops_},
       {.name = "--save",
        .arg = "FILE",
        .help = "write what the steps have computed, a safetensors file: outputs, gradients, "
                "parameters",
        .field = &run_.save},
       {.name = "--steps",
        .arg = "N",
        .help = "steps before it is written, from the beginning",
        .field = &run_.steps,
        .least = 1},
       {.name = "--library",
        .arg = "FILE",
        .help = "a library of operators that are not PyTorch's own, which is loaded; torchvision's "
                "is, where it is installed beside PyTorch",
        .field = &run_.libraries},
       {.name = "--engine",
        .arg = "FILE",
        .help = "libsteelyard_engine.so; by default beside steelyard, or $STEELYARD_ENGINE",
        .field = &run_.engine}});
  PutUnder("The run", first, &flags);
  AddReportFlags(&flags);
  return flags;
}

Result<RunOptions> RunCommand::Options() const {
  RunOptions options = run_;
  SY_ASSIGN_OR_RETURN(options.weigh, weigh_.Options(!compare_.empty()));
  options.device_at_hand = weigh_.device() == kAtHand;
  options.seed = static_cast<std::uint64_t>(seed_.value_or(0));
  if (const char* const engine = std::getenv("STEELYARD_ENGINE");
      options.engine.empty() && engine != nullptr) {
    options.engine = engine;
  }
  for (const std::string_view speed : PartsOf(peak_flops_)) {
    SY_ASSIGN_OR_RETURN(const double flops, ReadSpeed(speed, "--peak-flops"));
    options.peak_flops.push_back(flops);
  }
  for (const std::string_view precision : PartsOf(compare_)) {
    options.compare.emplace_back(precision);
  }
  options.stop = &g_stop;
  options.progress = StandardErrorProgress(false);
  return options;
}

Status RunCommand::Run() {
  SY_ASSIGN_OR_RETURN(const std::string format, output_.Format());
  SY_ASSIGN_OR_RETURN(const RunOptions options, Options());
  std::signal(SIGINT, Stop);
  report::Document document;
  if (options.compare.empty()) {
    SY_ASSIGN_OR_RETURN(const Running running, steelyard::Run(options));
    document = Describe(running, report_);
  } else {
    SY_ASSIGN_OR_RETURN(const RunComparison comparison, CompareRuns(options));
    document = Describe(comparison, report_);
  }
  SY_ASSIGN_OR_RETURN(const std::string text, report::Render(document, format, output_.Look()));
  return output_.Write(text);
}

}  // namespace steelyard::cli
