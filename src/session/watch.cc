// SPDX-License-Identifier: Apache-2.0
//
// Calls of a program that ran are weighed as programs of one call each, by the rows that weigh a
// model without running it: a call that its row takes, with all parts of it, counts as one.
#include "session/watch.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyze/counting.h"
#include "execute/library.h"
#include "ir/text_call.h"
#include "ops/op_def.h"
#include "pass/decompose.h"
#include "pass/infer_outputs.h"
#include "present/watch.h"
#include "record/recording.h"
#include "record/replay.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {
namespace {

class CallWeights {
 public:
  explicit CallWeights(const Convention& convention) : convention_(convention) {}

  // Of one call; nothing where nobody knows all that it does.
  const std::optional<NodeWork>& Of(const RecordedCall& call) {
    const auto [found, is_new] = weights_.try_emplace(call.text);
    if (is_new && call.complete) found->second = Weigh(call.text);
    return found->second;
  }

 private:
  std::optional<NodeWork> Weigh(const std::string& text) const {
    const std::string_view name = std::string_view(text).substr(0, text.find('('));
    if (FindOp(OpName::FromRuntime(name)) == nullptr) return std::nullopt;
    Result<Program> program = ProgramOfCall(text);
    const Target target;
    // What counts calls asks for the sizes of results, too, which the text does not say.
    if (program && convention_.counts_calls()) {
      program = InferOutputs(*std::move(program), target);
    }
    if (!program) return std::nullopt;
    const Result<Program> kernels = Decompose(*program, target);
    if (!kernels) return std::nullopt;
    const Result<WorkReport> work = CountWork(*program, *kernels, convention_, target);
    if (!work || !work->unmodelled.empty()) return std::nullopt;
    NodeWork sum;
    for (const NodeWork& phase : work->by_phase) sum += phase;
    return sum;
  }

  const Convention& convention_;
  std::unordered_map<std::string, std::optional<NodeWork>> weights_;
};

}  // namespace

Result<const SyObserver*> LoadObserver(const std::string& engine) {
  const Result<const SyEngine*> loaded = LoadEngine(engine);
  if (!loaded) return Unexpected(loaded.error());
  const Result<void*> function = FindInEngine(**loaded, SY_OBSERVER_ENTRY);
  if (!function) return Unexpected(function.error());
  const SyObserver* const observer = reinterpret_cast<SyObserverEntry>(*function)();
  if (observer->abi != SY_OBSERVER_ABI) {
    return Unexpected(
        Unsupported(fmt::format("the engine's observer speaks ABI {}, this Steelyard {}",
                                observer->abi, static_cast<int>(SY_OBSERVER_ABI)),
                    engine, "Build the engine of this Steelyard: make engine."));
  }
  return observer;
}

Result<Watching> ReadWatch(std::string_view bytes, std::string_view where, std::string_view count) {
  const Convention* const convention = FindConvention(count);
  if (convention == nullptr) {
    return Unexpected(UsageError(fmt::format("there is no convention \"{}\"", count), "count",
                                 "`steelyard weigh --help` lists them."));
  }
  Result<Recording> recording = ReadRecording(bytes, where);
  if (!recording) return Unexpected(std::move(recording).error());
  CallWeights weights(*convention);
  const TakesCall takes = [&](const RecordedCall& call) {
    const std::optional<NodeWork>& work = weights.Of(call);
    if (!work) return CallIs::kUnknown;
    return work->flops_all > 0 || work->macs > 0 ? CallIs::kWorking : CallIs::kIdle;
  };
  Watching watching{.watched = Replay(std::move(*recording), takes), .peak = {}, .work = {}};
  for (const WatchedCall& call : watching.watched.calls) {
    const auto found = watching.watched.recording.calls.find(call.call);
    watching.work.push_back(weights.Of(found->second).value_or(NodeWork{}).Times(call.count));
  }
  watching.peak = FindPeak(watching.watched.timeline);
  return watching;
}

report::Document Describe(const Watching& watching, const WatchReportOptions& options) {
  report::Document document;
  present::PresentWatch({watching.watched, watching.peak, watching.work},
                        {.depth = options.depth, .top = options.top}, &document);
  return document;
}

}  // namespace steelyard
