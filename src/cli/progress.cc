// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace steelyard::cli {

std::string ProgressLine(int done, int total) {
  constexpr double kPercent = 100;
  const double part = total == 0 ? 1.0 : static_cast<double>(done) / total;
  return fmt::format("Estimated {:.2f}% ({}/{})\n", part * kPercent, done, total);
}

std::function<void(int, int)> StandardErrorProgress(bool always) {
  if (!always && isatty(STDERR_FILENO) == 0) return {};
  return [](int done, int total) { fmt::print(stderr, "{}", ProgressLine(done, total)); };
}

}  // namespace steelyard::cli
