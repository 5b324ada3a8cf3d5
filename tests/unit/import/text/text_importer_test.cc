// SPDX-License-Identifier: Apache-2.0
#include "import/text/text_importer.h"

#include <gmock/gmock.h>

#include <string>

#include "../files.h"

namespace steelyard {
namespace {

using testing::StartsWith;

TEST(TextImporter, ReadsAFile) {
  std::string text = "input %x: f32[2,8]\n";
  // More than one buffer of the file.
  for (int i = 0; i < 5000; ++i) text += "# a comment, so that the file is long\n";
  const TemporaryFile file(".syt", text + "%y = aten::relu(%x)\nreturn %y\n");
  const Result<Program> program = kTextImporter.read(file.path(), {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->main().nodes.size(), 1u);
}

TEST(TextImporter, NamesFileAndLine) {
  const TemporaryFile file(".syt", "input %x: f32[2,8]\nnonsense!\n");
  const Result<Program> program = kTextImporter.read(file.path(), {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().where, StartsWith(file.path() + ":2:"));
}

TEST(TextImporter, RefusesWhatIsNotThere) {
  EXPECT_FALSE(kTextImporter.read("/no/such/file.syt", {}));
}

}  // namespace
}  // namespace steelyard
