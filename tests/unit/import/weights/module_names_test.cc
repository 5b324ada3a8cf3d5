// SPDX-License-Identifier: Apache-2.0
#include "import/weights/module_names.h"

#include <gmock/gmock.h>

#include <string>

namespace steelyard::weights {
namespace {

using testing::ElementsAre;

struct Arranged {
  std::vector<std::string> paths;
  std::vector<std::string> names;
};

Arranged Arrange(const std::vector<std::string>& names) {
  Program program;
  std::vector<StringId> ids;
  for (const std::string& name : names) ids.push_back(program.strings.Intern(name));
  Arranged out;
  for (const std::uint32_t i : ArrangeModules(ids, &program)) out.names.push_back(names[i]);
  for (const Module& module : program.modules) {
    out.paths.emplace_back(program.text(module.path));
    if (module.parent == kNoId) continue;
    const std::string parent(program.text(program.modules[module.parent].path));
    EXPECT_TRUE(parent.empty() || out.paths.back().starts_with(parent + ".")) << parent;
  }
  return out;
}

TEST(ModuleNames, MakeATree) {
  EXPECT_THAT(Arrange({"head.w", "m.a.w", "m.b", "top"}).paths,
              ElementsAre("", "head", "m", "m.a"));
}

TEST(ModuleNames, PutListsInTheOrderOfTheirNumbers) {
  const Arranged arranged = Arrange({"l.0.w", "l.10.w", "l.2.w", "l.1.w", "first"});
  EXPECT_THAT(arranged.paths, ElementsAre("", "l", "l.0", "l.1", "l.2", "l.10"));
  EXPECT_THAT(arranged.names, ElementsAre("first", "l.0.w", "l.1.w", "l.2.w", "l.10.w"));
}

TEST(ModuleNames, KeepTheOrderOfOthers) {
  EXPECT_THAT(Arrange({"z.w", "a.w", "5.w"}).paths, ElementsAre("", "z", "a", "5"));
}

TEST(ModuleNames, AreNotFollowedForEver) {
  std::string name = "w";
  for (int i = 0; i < 1000; ++i) name.insert(0, "a.");
  EXPECT_EQ(Arrange({name}).paths.size(), 1u + 16u);
  EXPECT_THAT(Arrange({"..w", ".x"}).names, ElementsAre(".x", "..w"));
}

}  // namespace
}  // namespace steelyard::weights
