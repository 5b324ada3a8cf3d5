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
[[nodiscard]] std::string StackLines(const ProfiledRun& profile);

// Of a record: sizes by category, each change, or a page that draws them.
enum class MemoryForm : std::uint8_t { kSizes, kChanges, kPage };
[[nodiscard]] Result<std::string> MemoryOverTime(std::string_view bytes, std::string_view where,
                                                 MemoryForm form);

}  // namespace steelyard
