// SPDX-License-Identifier: Apache-2.0
//
// The metadata of GGUF files that hold nothing else.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../files.h"
#include "import/weights/gguf_metadata.h"

namespace steelyard::weights {

// Reads the pairs, each of which is given as its bytes.
inline Status ReadPairs(const std::vector<std::string>& pairs, GgufMetadata* metadata) {
  std::string content;
  for (const std::string& pair : pairs) content += pair;
  const TemporaryFile stored(".bin", content);
  const Result<File> file = File::Open(stored.path());
  EXPECT_TRUE(file);
  Cursor cursor(*file);
  return metadata->Read(pairs.size(), &cursor);
}

}  // namespace steelyard::weights
