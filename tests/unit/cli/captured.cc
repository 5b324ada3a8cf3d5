// SPDX-License-Identifier: Apache-2.0
#include "captured.h"

#include <gtest/gtest.h>

#include "cli/program.h"

namespace steelyard::cli {

Captured RunCaptured(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Captured captured;
  captured.status = RunProgram(words);
  captured.out = ::testing::internal::GetCapturedStdout();
  captured.err = ::testing::internal::GetCapturedStderr();
  return captured;
}

}  // namespace steelyard::cli
