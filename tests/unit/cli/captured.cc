// SPDX-License-Identifier: Apache-2.0
#include "captured.h"

#include <gtest/gtest.h>

#include <fstream>

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

std::string WriteTemporary(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace steelyard::cli
