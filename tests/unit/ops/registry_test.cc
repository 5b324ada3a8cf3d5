// SPDX-License-Identifier: Apache-2.0
//
// What holds for every row: written once, tested for rows nobody has thought of yet.

#include "ops/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "calls.h"
#include "ir/text_printer.h"
#include "ir/text_reader.h"
#include "ir/verify.h"

namespace steelyard {
namespace {

TEST(Registry, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const OpDef* def : AllOps()) {
    EXPECT_TRUE(names.insert(def->name->text()).second) << def->name->text();
    EXPECT_EQ(FindOp(*def->name), def);
  }
  EXPECT_EQ(FindOp("aten::no_such_operator"), nullptr);
}

TEST(Registry, RowsAreWhole) {
  for (const OpDef* def : AllOps()) {
    SCOPED_TRACE(def->name->text());
    EXPECT_TRUE(def->summary->ends_with(".")) << *def->summary;
    EXPECT_EQ(*def->shape != nullptr, def->is_kernel());
    EXPECT_EQ(def->allocations->cpu != nullptr, def->is_kernel());
    EXPECT_EQ(*def->work != nullptr, def->is_kernel());
    EXPECT_EQ(*def->traffic != nullptr, def->is_kernel());
    EXPECT_EQ(*def->fusion != Fusion::kFromParts, def->is_kernel());
    // What runs graphs or a training step cannot be written as one call.
    const bool no_call = *def->family == Family::kControl || *def->family == Family::kOptimizer;
    EXPECT_TRUE(no_call || !def->example->empty());
    if (!def->example->empty()) {
      EXPECT_TRUE(def->example->starts_with(std::string(def->name->text()) + "(")) << *def->example;
    }
  }
}

// Who takes part in a kernel as a view must be one.
TEST(Registry, OnlyViewsFuseAsViews) {
  for (const OpDef* def : AllOps()) {
    if (*def->fusion != Fusion::kView) continue;
    EXPECT_NE(*def->alias, Alias::kNone) << def->name->text();
  }
}

TEST(Registry, ExamplesRunAndTheirKernelsAreValid) {
  for (const OpDef* def : AllOps()) {
    if (def->example->empty()) continue;
    SCOPED_TRACE(*def->example);
    const Program kernels = KernelsOf(*def->example);
    const Status status = Verify(kernels);
    EXPECT_TRUE(status) << Describe(status.error());
  }
}

TEST(Registry, KernelsOfExamplesSurviveTheTextForm) {
  for (const OpDef* def : AllOps()) {
    if (def->example->empty()) continue;
    const std::string text = Print(KernelsOf(*def->example));
    const Result<Program> again = ParseText(text, "example.syt");
    ASSERT_TRUE(again) << *def->example << "\n" << Describe(again.error()) << "\n" << text;
    EXPECT_EQ(Print(*again), text) << *def->example;
  }
}

TEST(Registry, WorkOfExamplesDoesNotOverflow) {
  for (const OpDef* def : AllOps()) {
    if (def->example->empty()) continue;
    const Program kernels = KernelsOf(*def->example);
    for (const Node& node : kernels.main().nodes) {
      const OpDef* kernel = FindOp(OpName::FromRuntime(kernels.op_name(node.op)));
      if (kernel == nullptr) continue;
      const Work work =
          (**kernel->work)(OpView(kernels, *kernel, kernels.args(node), kernels.results(node)));
      EXPECT_FALSE(work.mac.overflowed() || work.alu.overflowed() || work.special.overflowed())
          << *def->example;
    }
  }
}

}  // namespace
}  // namespace steelyard
