// SPDX-License-Identifier: Apache-2.0
//
// What is asked of a record: it is read once for spans, and replayed where memory is asked for,
// which needs categories that only the whole of it tells.
#include "session/profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <limits>
#include <optional>
#include <system_error>

#include "analyze/counting.h"
#include "document/memory_timeline.h"
#include "document/recorded_trace.h"
#include "present/memory_timeline.h"
#include "present/recorded_trace.h"
#include "record/folded_stacks.h"
#include "record/recording.h"
#include "record/replay.h"
#include "render/memory_timeline.h"
#include "render/perfetto_trace.h"
#include "render/recorded_trace.h"
#include "session/call_weights.h"

namespace steelyard {

Result<ProfiledRun> ReadProfile(std::string_view bytes, std::string_view where,
                                const ProfileOptions& options) {
  Result<Recording> recording = ReadRecording(bytes, where);
  if (!recording) return Unexpected(std::move(recording).error());
  ProfiledRun profile{.spans = FindSpans(*std::move(recording)), .own_flops = {}};
  if (options.flops) {
    // As PyTorch counts them, by the sizes that ran.
    CallWeights weights(*FindConvention("torch"));
    profile.own_flops =
        OwnFlops(profile.spans, [&](const RecordedCall& call) -> std::optional<std::int64_t> {
          const std::optional<NodeWork>& work = weights.Of(call);
          if (!work) return std::nullopt;
          return work->flops;
        });
  }
  return profile;
}

std::int64_t NanosecondsOf(const ProfiledRun& profile, std::uint64_t tick) {
  constexpr double kLongest = 1e9;  // seconds; a record that says more is damaged
  const Recording& recording = profile.spans.recording;
  const std::uint64_t ticks = tick - std::min(tick, recording.first_tick);
  return std::llround(std::min(recording.Seconds(ticks), kLongest) * 1e9);
}

std::vector<ProfiledSpan> SpanRows(const ProfiledRun& profile, bool stacks) {
  const Spans& spans = profile.spans;
  const std::vector<std::int64_t> bytes = BytesInside(spans);
  const Stacks around(spans);
  std::vector<ProfiledSpan> rows;
  rows.reserve(spans.spans.size());
  for (std::uint32_t s = 0; s < spans.spans.size(); ++s) {
    const Span& span = spans.spans[s];
    ProfiledSpan& row = rows.emplace_back();
    row.kind = span.kind;
    row.name = span.name;
    row.overload = OverloadOfSpan(spans, span);
    row.begin = NanosecondsOf(profile, span.begin);
    row.end = NanosecondsOf(profile, span.end);
    row.thread = spans.threads[span.thread];
    row.forward_thread = span.forward_thread;
    if (span.sequence != SY_NO_SEQUENCE) row.sequence = static_cast<std::int64_t>(span.sequence);
    row.inputs = span.inputs;
    row.bytes = bytes[s];
    if (!profile.own_flops.empty()) row.flops = profile.own_flops[s];
    if (span.module < spans.recording.modules.size()) {
      const RecordedModule& module = spans.recording.modules[span.module];
      row.module = module.path.empty() ? module.class_name : module.path;
    }
    if (stacks) row.stack = around.Of(s, std::numeric_limits<std::size_t>::max());
  }
  return rows;
}

std::vector<KeyAverage> Averages(const ProfiledRun& profile, const KeyAverageOptions& options) {
  return KeyAverages(profile.spans, profile.own_flops, options);
}

namespace {

void Render(const ProfiledRun& profile, const TraceOptions& options,
            const std::function<void(std::string_view piece)>& write) {
  report::RecordedTrace trace = present::PresentSpans(profile.spans);
  trace.name = options.name;
  trace.properties = options.properties;
  switch (options.form) {
    case TraceForm::kChrome:
      return render::WriteRecordedTrace(trace, write);
    case TraceForm::kPerfetto:
      return render::WritePerfettoTrace(trace, write);
  }
}

}  // namespace

std::string TraceOf(const ProfiledRun& profile, const TraceOptions& options) {
  std::string out;
  Render(profile, options, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string StackLines(const ProfiledRun& profile, StackTime time) {
  std::string lines;
  for (const FoldedStack& stack : FoldStacks(profile.spans, time)) {
    lines += stack.frames + ' ' + std::to_string(stack.microseconds) + '\n';
  }
  return lines;
}

Result<std::string> MemoryOverTime(std::string_view bytes, std::string_view where,
                                   MemoryForm form) {
  Result<Recording> recording = ReadRecording(bytes, where);
  if (!recording) return Unexpected(std::move(recording).error());
  const report::MemoryTimeline timeline =
      present::PresentMemory(ReplayMemory(*recording), *recording);
  switch (form) {
    case MemoryForm::kSizes:
      return render::MemoryTimelineJson(timeline);
    case MemoryForm::kChanges:
      return render::MemoryChangesJson(timeline);
    case MemoryForm::kPage:
      return render::MemoryTimelineHtml(timeline);
  }
  return std::string();
}

Status WriteTrace(const ProfiledRun& profile, const std::string& path,
                  const TraceOptions& options) {
  const std::string unfinished = path + ".tmp";
  std::ofstream file(unfinished, std::ios::binary);
  Render(profile, options, [&](std::string_view piece) {
    file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  if (file && !error) return {};
  std::filesystem::remove(unfinished, error);
  return Unexpected(InvalidInput("the trace cannot be written", path,
                                 "Name a file in a folder that is there and has room."));
}

}  // namespace steelyard
