// SPDX-License-Identifier: Apache-2.0
//
// Calls of a program that ran are weighed as programs of one call each, by the rows that weigh a
// model without running it: a call that its row takes, with all parts of it, counts as one.
#include "session/watch.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "analyze/counting.h"
#include "execute/library.h"
#include "present/watch.h"
#include "record/recording.h"
#include "record/replay.h"
#include "session/call_weights.h"

namespace steelyard {
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

Result<Watching> ReadWatch(std::string_view bytes, std::string_view where,
                           const WatchReadOptions& options) {
  const Convention* const convention = FindConvention(options.count);
  if (convention == nullptr) {
    return Unexpected(UsageError(fmt::format("there is no convention \"{}\"", options.count),
                                 "count", "`steelyard weigh --help` lists them."));
  }
  Result<Recording> recording = ReadRecording(bytes, where);
  if (!recording) return Unexpected(std::move(recording).error());
  if (options.whole) MakeOneStep(*recording);
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
