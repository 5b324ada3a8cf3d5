// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/factorization.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "matrix_steps.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr const char* kEnd =
    "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n";

std::vector<std::string> SavedBy(const std::string& call) {
  const Program kernels = KernelsOfProgram("parameter %a: f32[3,3]\n" + call + kEnd);
  std::vector<std::string> saved;
  for (const SavedTensor& tensor : kernels.saved) {
    saved.emplace_back(kernels.text(kernels.values[tensor.value].name));
  }
  return saved;
}

TEST(FactorizationGradients, AnInverseSavesItself) {
  EXPECT_THAT(SavedBy("%y, %info = aten::linalg_inv_ex(%a)\n"), ElementsAre("y"));
}

TEST(FactorizationGradients, ASolutionIsSolvedForAgain) {
  const Program kernels = KernelsOfProgram(
      "parameter %p: f32[3,3]\ninput %b: f32[3,2]\n%y = aten::linalg_solve(%p, %b)\n" +
      std::string(kEnd));
  std::vector<std::string> names;
  for (const Node& node : kernels.main().nodes) {
    if (node.phase == Phase::kBackward) names.emplace_back(kernels.op_name(node.op));
  }
  EXPECT_THAT(names, Contains("steelyard::lapack").Times(1));
  EXPECT_THAT(names, Contains("aten::mm").Times(1));
}

TEST(FactorizationGradients, TheTriangleThatWasReadHasAGradient) {
  const auto names = BackwardOfMatrix("f32[3,3]",
                                      "%b = aten::ones([3, 2])\n%y, %copy = "
                                      "aten::triangular_solve(%b, %a, False)\n");
  EXPECT_THAT(names, Contains("steelyard::lapack").Times(1));
  EXPECT_THAT(names, Contains("aten::tril").Times(1));
}

TEST(FactorizationGradients, OneSidesVectorsAloneNeedTwoProductsLess) {
  const auto one = BackwardOfMatrix("f32[3,3]", "%y, %s, %v = aten::_linalg_svd(%a)\n");
  EXPECT_THAT(one, Contains("aten::mm").Times(3));  // U.mH() @ grad, and U ... Vh
  EXPECT_THAT(one, Contains("aten::div.Tensor").Times(1));
}

TEST(FactorizationGradients, OfAWideMatrixTheLastColumnsAreZerosWithoutR) {
  EXPECT_THAT(BackwardOfMatrix("f32[3,5]", "%y, %r = aten::linalg_qr(%a)\n"),
              Contains("aten::cat").Times(1));
}

}  // namespace
}  // namespace steelyard
