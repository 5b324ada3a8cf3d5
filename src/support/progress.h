// SPDX-License-Identifier: Apache-2.0
//
// Tells whoever wants to know how far a long task has come. The library prints nothing: the caller
// gives a callback (the command line draws a line on standard error), or none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

namespace steelyard {

// One message: `done` of `total` units of `stage`. A total of 0 means that it is not known.
struct ProgressUpdate {
  std::string_view stage;
  std::int64_t done = 0;
  std::int64_t total = 0;
};

using ProgressCallback = std::function<void(const ProgressUpdate&)>;

// Counts units of work and calls back now and then:
//
//   progress.Begin("reading trace", bytes);
//   while (...) progress.Advance(chunk);
//   progress.End();
//
// Each stage calls back at its begin and at its end, and in between no more often than the interval
// says. `Advance` costs an addition and a comparison, so it may stand in an inner loop. One thread.
class Progress {
 public:
  // Reports to nobody.
  Progress() = default;
  explicit Progress(ProgressCallback callback,
                    std::chrono::milliseconds interval = std::chrono::milliseconds(100));

  // Starts a stage of `total` units, or of an unknown number. `stage` must outlive it.
  void Begin(std::string_view stage, std::int64_t total = 0);

  // Adds finished units.
  void Advance(std::int64_t units = 1) {
    current_.done += units;
    if (current_.done >= next_look_) Look();
  }

  // Ends the stage: everything that was announced is done.
  void End();

 private:
  void Look();
  void Report();

  ProgressCallback callback_;
  std::chrono::steady_clock::duration interval_{};
  std::chrono::steady_clock::time_point last_;
  ProgressUpdate current_;
  std::int64_t next_look_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace steelyard
