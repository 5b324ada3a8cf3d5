// SPDX-License-Identifier: Apache-2.0
#include "import/weights/part_names.h"

#include <gmock/gmock.h>

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PartNames, SayWhichPartOfHowMany) {
  const auto part = PartOf("a-b-00002-of-00012.gguf", ".gguf");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->model, "a-b");
  EXPECT_EQ(part->number, 2);
  EXPECT_EQ(part->count, 12);
  EXPECT_EQ(NameOfPart(*part, ".gguf"), "a-b-00002-of-00012.gguf");
}

TEST(PartNames, AreNotFoundInOtherNames) {
  for (const char* name : {"model.gguf", "a-00001-of-00002.bin", "a-00000-of-00002.gguf",
                           "a-00003-of-00002.gguf", "a-1-of-2.gguf", "a-0000x-of-00002.gguf",
                           "a_00001-of-00002.gguf", "a-00001-or-00002.gguf", ".gguf", ""}) {
    EXPECT_FALSE(PartOf(name, ".gguf")) << name;
  }
}

TEST(PartNames, MakeOneModelOfItsParts) {
  const std::vector<std::string> names = {"a-00001-of-00002.gguf", "a-00002-of-00002.gguf",
                                          "b.gguf", "c-00002-of-00003.gguf", "readme.md"};
  EXPECT_THAT(ModelsAmong(names, ".gguf"),
              ElementsAre("a-00001-of-00002.gguf", "b.gguf", "c-00001-of-00003.gguf"));
  EXPECT_THAT(ModelsAmong(names, ".safetensors"), IsEmpty());
}

}  // namespace
}  // namespace steelyard::weights
