// SPDX-License-Identifier: Apache-2.0
#include "import/weights/folder.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "../../temporary.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Folder, GivesItsNamesInOrder) {
  const std::string folder = TemporaryPath("names");
  std::filesystem::create_directories(folder);
  for (const char* name : {"b", "a", "c"}) WriteTemporary(std::string("names/") + name, "x");
  EXPECT_THAT(NamesIn(folder), ElementsAre("a", "b", "c"));
  EXPECT_THAT(NamesIn("/no/such/folder"), IsEmpty());
}

TEST(Folder, NamesAFewOfManyModels) {
  EXPECT_THAT(SeveralModels("f", {"a", "b"}).message, HasSubstr("several models: a, b"));
  EXPECT_THAT(SeveralModels("f", {"a", "b", "c", "d", "e", "f", "g"}).message,
              HasSubstr("a, b, c, d, e and 2 more"));
}

TEST(Folder, NamesWhatIsCalledModel) {
  EXPECT_EQ(NameOfModel("/models/llama-7b/model.safetensors", "model"), "llama-7b");
  EXPECT_EQ(NameOfModel("/models/llama-7b/llama.gguf", "llama"), "llama");
  EXPECT_EQ(NameOfModel("/model.safetensors", "model"), "model");
}

}  // namespace
}  // namespace steelyard::weights
