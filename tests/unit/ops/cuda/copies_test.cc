// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/copies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

TEST(CudaCopies, OperandsThatLieAsTheyShouldAreNotCopied) {
  EXPECT_THAT(CudaBytesOf("aten::native_layer_norm(f32[2,8], [8], f32[8], f32[8], 1e-05)"),
              ElementsAre(64, 8, 8));
}

TEST(CudaCopies, GoInTheOppositeOrderOfTheirMaking) {
  EXPECT_THAT(CudaBytesOf("aten::native_layer_norm(f32[2,8]{1,2}, [8], f32[8]{2}, None, 1e-05)"),
              ElementsAre(64, 32, 64, 8, 8, -32, -64));
}

TEST(CudaCopies, AreMadeBesideResultsThatAreThere) {
  EXPECT_THAT(CudaBytesOf("aten::cummax(f32[2,8]{1,2}, 1)"), ElementsAre(64, 128, 64, -64));
}

TEST(CudaCopies, ImagesAreReadInTheirOwnOrderWhereTheKernelKnowsIt) {
  EXPECT_THAT(CudaBytesOf("aten::max_pool2d_with_indices(f32[2,4,4,4]{64,1,16,4}, [2,2])"),
              ElementsAre(128, 256));
  EXPECT_THAT(CudaBytesOf("aten::avg_pool3d(f32[2,4,4,4,4]{256,1,64,16,4}, [2,2,2])"),
              testing::Contains(2048));
}

// Recorded: the gradient and the image in the order of the image, and a table more row by row.
TEST(CudaCopies, GroupsAreReadInTheOrderOfTheImage) {
  constexpr std::string_view kRows = "f32[4,32,32,32]";
  constexpr std::string_view kLast = "f32[4,32,32,32]{32768,1,1024,32}";
  const auto bytes = [](std::string_view gradient, std::string_view image) {
    return CudaBytesOf(fmt::format(
        "aten::native_group_norm_backward({}, {}, f32[4,8], f32[4,8], f32[32], 4, 32, 1024, 8, "
        "[True,True,True])",
        gradient, image));
  };
  EXPECT_THAT(bytes(kRows, kRows),
              ElementsAre(524288, 128, 128, 512, 512, 128, 128, 512, -128, -128, -512, -512, -512));
  EXPECT_THAT(bytes(kLast, kRows), ElementsAre(524288, 524288, 128, 128, 512, 512, 128, 128, 512,
                                               -128, -128, -512, -512, -512, -524288));
  EXPECT_THAT(bytes(kRows, kLast), ElementsAre(524288, 524288, 128, 128, 512, 512, 128, 128, -128,
                                               -128, -512, -512, -524288));
  EXPECT_THAT(bytes(kLast, kLast),
              ElementsAre(524288, 128, 128, 512, 512, 128, 128, -128, -128, -512, -512));
}

// Recorded: the gradient of dropout lies in rows or has channels last, whatever else what it is
// made of does. What has it in rows next makes no copy.
TEST(CudaCopies, GradientsOfDropoutAreMadeAnew) {
  const auto strides = [](std::string_view gradient) {
    const Result<Program> program = ProgramOfCall(
        fmt::format("aten::native_dropout_backward({}, bool[2,3,4,5], 2.0)", gradient));
    EXPECT_TRUE(program);
    const Result<Program> kernels = Dispatcher(*program, kH100).Run();
    EXPECT_TRUE(kernels);
    const std::span<const std::int64_t> found = kernels->strides(kernels->main().outputs[0].value);
    return std::vector<std::int64_t>(found.begin(), found.end());
  };
  EXPECT_THAT(strides("f32[2,3,4,5]{20,40,5,1}"), ElementsAre(60, 20, 5, 1));
  EXPECT_THAT(strides("f32[2,3,4,5]{60,1,15,3}"), ElementsAre(60, 1, 15, 3));
}

}  // namespace
}  // namespace steelyard
