// SPDX-License-Identifier: Apache-2.0
#include "import/weights/gguf_importer.h"

#include <gmock/gmock.h>

#include "../../temporary.h"
#include "headers.h"

namespace steelyard::weights {
namespace {

Result<Program> ReadGgufPath(const std::string& path) { return kGgufImporter.read(path, {}); }

using testing::HasSubstr;

std::string Part(int number, int count) {
  return Padded(GgufHead(1, 2) + Text("split.no") + U32(2) +
                    Number(static_cast<std::uint64_t>(number), 2) + Text("split.count") + U32(2) +
                    Number(static_cast<std::uint64_t>(count), 2) +
                    GgufTensor("t" + std::to_string(number), {8}, 0, 0),
                32);
}

TEST(GgufImporter, ReadsAllPartsWhicheverIsNamed) {
  WriteTemporary("p-00001-of-00002.gguf", Part(0, 2));
  const std::string second = WriteTemporary("p-00002-of-00002.gguf", Part(1, 2));
  const Result<Program> program = ReadGgufPath(second);
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->parameters.size(), 2u);
  EXPECT_EQ(program->text(program->name), "p");
  EXPECT_FALSE(program->has_graph);
}

TEST(GgufImporter, SaysWhichPartIsMissing) {
  const std::string first = WriteTemporary("q-00001-of-00002.gguf", Part(0, 2));
  EXPECT_THAT(Refusal(ReadGgufPath(first)),
              HasSubstr("q-00002-of-00002.gguf: there is no such file"));
  const std::string unnamed = WriteTemporary("q.gguf", Part(1, 2));
  EXPECT_THAT(Refusal(ReadGgufPath(unnamed)), HasSubstr("part 2 of 2"));
}

TEST(GgufImporter, KnowsItsFiles) {
  EXPECT_TRUE(kGgufImporter.sniff("GGUF\x03"));
  EXPECT_FALSE(kGgufImporter.sniff("GGML"));
  const std::vector<std::string> folder = {"a.gguf", "readme.md"};
  EXPECT_TRUE(kGgufImporter.takes_folder(folder));
  EXPECT_FALSE(kGgufImporter.takes_folder({}));
}

}  // namespace
}  // namespace steelyard::weights
