// SPDX-License-Identifier: Apache-2.0
#include "import/weights/file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>

#include "../files.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

using testing::HasSubstr;

TEST(File, ReadsWhatIsAskedFor) {
  const TemporaryFile content(".bin", "0123456789");
  const Result<File> file = File::Open(content.path());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 10);
  std::array<char, 3> three = {};
  ASSERT_TRUE(file->Read(7, three));
  EXPECT_EQ(std::string(three.data(), three.size()), "789");
  EXPECT_FALSE(file->Read(8, three));
}

TEST(File, IsARegularFile) {
  EXPECT_THAT(Refusal(File::Open("/no/such/file")), HasSubstr("no such file"));
  EXPECT_THAT(Refusal(File::Open(testing::TempDir())), HasSubstr("no regular file"));
  const TemporaryFile pipe(".bin");
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  EXPECT_THAT(Refusal(File::Open(pipe.path())), HasSubstr("no regular file"));
}

}  // namespace
}  // namespace steelyard::weights
