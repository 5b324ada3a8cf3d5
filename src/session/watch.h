// SPDX-License-Identifier: Apache-2.0
//
// Programs that were watched: the library that watches, and what a record says.
//
//   Result<const SyObserver*> observer = LoadObserver("");  // beside the program that calls
//   (*observer)->start(&options, &problem);
//   ...
//   Result<Watching> watching = ReadWatch(bytes, "run.syr");
//   Result<std::string> text = report::Render(Describe(*watching, {}), "text");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/peak.h"
#include "analyze/work.h"
#include "record/format.h"
#include "record/watched.h"
#include "steelyard/error.h"
#include "steelyard/report.h"

namespace steelyard {

// The observer in the engine's library. The errors say the command that mends it.
[[nodiscard]] Result<const SyObserver*> LoadObserver(const std::string& engine);

struct Watching {
  Watched watched;
  PeakReport peak;
  std::vector<NodeWork> work;  // by `watched.calls`, of all that are equal
};

struct WatchReadOptions {
  std::string_view count = "torch";  // a convention of counting, such as "deepspeed"
  bool whole = false;                // all that ran is one step, whatever ended others
};

// `where` names the record in errors.
[[nodiscard]] Result<Watching> ReadWatch(std::string_view bytes, std::string_view where,
                                         const WatchReadOptions& options = {});

struct WatchReportOptions {
  int depth = 2;  // levels of the module tree
  int top = 10;   // operators
};
[[nodiscard]] report::Document Describe(const Watching& watching,
                                        const WatchReportOptions& options);

}  // namespace steelyard
