// SPDX-License-Identifier: Apache-2.0
//
// A record, told as PyTorch's profiler tells of a program.
//
//   Result<ProfiledRun> profile = ReadProfile(bytes, "run.record", {.flops = true});
//   for (const KeyAverage& row : Averages(*profile, {.by_inputs = true})) ...
//   std::string trace = TraceOf(*profile, {.name = "run.json"});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/folded_stacks.h"
#include "record/key_averages.h"
#include "record/spans.h"
#include "steelyard/error.h"

namespace steelyard {

struct ProfiledRun {
  Spans spans;
  std::vector<std::int64_t> own_flops;  // by span; empty where nobody asked
};

struct ProfileOptions {
  bool flops = false;
};

// `where` names the record in errors.
[[nodiscard]] Result<ProfiledRun> ReadProfile(std::string_view bytes, std::string_view where,
                                              const ProfileOptions& options);

// What happened from one moment to another, as a program may ask for it: times are nanoseconds
// since the record began, threads as RecordFunction numbers them.
struct ProfiledSpan {
  SpanKind kind = SpanKind::kOp;
  std::uint32_t name = 0;  // in `spans.names`
  std::string_view overload;
  std::int64_t begin = 0, end = 0;
  std::uint64_t thread = 0, forward_thread = 0;
  std::int64_t sequence = -1;
  std::uint64_t inputs = 0;  // in `spans.recording.inputs`
  std::int64_t bytes = 0;    // allocated less freed, with all inside it
  std::int64_t flops = 0;    // without what is inside it
  std::string_view module;
  std::vector<std::uint32_t> stack;  // names of functions, the innermost first
};

// In the order of spans: thread by thread, what is around others before these. With `stacks` or
// without.
[[nodiscard]] std::vector<ProfiledSpan> SpanRows(const ProfiledRun& profile, bool stacks);
[[nodiscard]] std::int64_t NanosecondsOf(const ProfiledRun& profile, std::uint64_t tick);

[[nodiscard]] std::vector<KeyAverage> Averages(const ProfiledRun& profile,
                                               const KeyAverageOptions& options);

// JSON as PyTorch's profiler writes it, or Perfetto's own format.
enum class TraceForm : std::uint8_t { kChrome, kPerfetto };
struct TraceOptions {
  TraceForm form = TraceForm::kChrome;
  // Of JSON:
  std::string name;  // what the trace says it is called
  // What stands beside the events; each value is JSON.
  std::vector<std::pair<std::string, std::string>> properties;
};
[[nodiscard]] std::string TraceOf(const ProfiledRun& profile, const TraceOptions& options);
// The same into a file, which is there whole or not at all.
[[nodiscard]] Status WriteTrace(const ProfiledRun& profile, const std::string& path,
                                const TraceOptions& options);

// Time by the functions around it, a line for each stack: frames, a space, microseconds.
[[nodiscard]] std::string StackLines(const ProfiledRun& profile, StackTime time);

// Of a record: sizes by category, each change, or a page that draws them.
enum class MemoryForm : std::uint8_t { kSizes, kChanges, kPage };
[[nodiscard]] Result<std::string> MemoryOverTime(std::string_view bytes, std::string_view where,
                                                 MemoryForm form);

}  // namespace steelyard
