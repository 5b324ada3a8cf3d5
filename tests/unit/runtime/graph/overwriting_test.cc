// SPDX-License-Identifier: Apache-2.0

#include "runtime/graph/overwriting.h"

#include <string>

#include "graphs.h"

namespace steelyard::graph {
namespace {

// Whether the call `aten::add_` of a program may give a new tensor.
bool MakesNew(std::string_view text) {
  const Program kernels = KernelsOfText(text);
  std::vector<const OpDef*> rows;
  for (OpId op = 0; op < kernels.op_names.size(); ++op) {
    rows.push_back(FindOp(OpName::FromRuntime(kernels.op_name(op))));
  }
  const Overwriting found = FindOverwriting(kernels, rows);
  for (NodeId i = 0; i < kernels.main().nodes.size(); ++i) {
    if (kernels.op_name(kernels.main().nodes[i].op) == "aten::add_.Tensor") {
      return found.makes_new[i];
    }
  }
  ADD_FAILURE() << "nothing is overwritten";
  return false;
}

TEST(FindOverwriting, ATensorOfTheStepAloneMayBeNew) {
  EXPECT_TRUE(
      MakesNew("input %x: f32[8]\n%a = aten::tanh(%x)\n"
               "%b = aten::add_.Tensor(%a, %x)\nreturn %b\n"));
}

TEST(FindOverwriting, WhatOutlivesTheStepStays) {
  EXPECT_FALSE(
      MakesNew("input %x: f32[8]\nparameter %w: f32[8]\n"
               "%b = aten::add_.Tensor(%w, %x)\nreturn %b\n"));
}

TEST(FindOverwriting, AViewThatIsReadAfterwardsMustSeeIt) {
  constexpr std::string_view kBegin =
      "input %x: f32[8]\n%a = aten::tanh(%x)\n%v = aten::view(%a, [2, 4])\n"
      "%b = aten::add_.Tensor(%a, %x)\n";
  EXPECT_FALSE(MakesNew(std::string(kBegin) + "%c = aten::sin(%v)\nreturn %b, %c\n"));
  EXPECT_TRUE(MakesNew(std::string(kBegin) + "%c = aten::sin(%b)\nreturn %c\n"));
}

TEST(FindOverwriting, APartOfATensorStays) {
  EXPECT_FALSE(
      MakesNew("input %x: f32[4]\ninput %y: f32[8]\n%a = aten::tanh(%y)\n"
               "%v = aten::slice.Tensor(%a, 0, 0, 4)\n%b = aten::add_.Tensor(%v, %x)\n"
               "return %a\n"));
}

}  // namespace
}  // namespace steelyard::graph
