// SPDX-License-Identifier: Apache-2.0
#include "import/weights/build_program.h"

#include <gmock/gmock.h>

#include "headers.h"
#include "ir/verify.h"

namespace steelyard::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Program Built(StoredWeights weights) {
  Program program = BuildProgram(std::move(weights), {});
  const Status verified = Verify(program);
  EXPECT_TRUE(verified) << Describe(verified.error());
  return program;
}

std::vector<std::string> NamesOf(const Program& program, const std::vector<NamedTensor>& list) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : list) names.emplace_back(program.text(tensor.name));
  return names;
}

TEST(BuildProgram, TellsParametersFromBuffers) {
  StoredWeights weights;
  AddStored(&weights, "bn.running_mean", DType::kFloat32, {8});
  AddStored(&weights, "bn.num_batches_tracked", DType::kInt64, {});
  AddStored(&weights, "bn.weight", DType::kFloat32, {8});
  AddStored(&weights, "h.attn.bias", DType::kFloat32, {1, 1, 4, 4});
  AddStored(&weights, "h.out.attn.bias", DType::kFloat32, {4});
  AddStored(&weights, "mask", DType::kBool, {4});
  const Program program = Built(std::move(weights));
  EXPECT_THAT(NamesOf(program, program.parameters), ElementsAre("bn.weight", "h.out.attn.bias"));
  EXPECT_THAT(NamesOf(program, program.buffers),
              ElementsAre("mask", "bn.running_mean", "bn.num_batches_tracked", "h.attn.bias"));
  EXPECT_TRUE(program.notes.empty());
}

TEST(BuildProgram, TiesWhatLiesAtOnePlace) {
  StoredWeights weights;
  AddStored(&weights, "embed", DType::kFloat16, {4, 8});
  AddStored(&weights, "norm", DType::kFloat16, {8});
  AddStored(&weights, "head", DType::kFloat16, {4, 8}).begin = 0;
  AddStored(&weights, "none", DType::kFloat16, {0}).begin = 0;
  const Program program = Built(std::move(weights));
  EXPECT_EQ(program.parameters[2].tied_to, 0u);
  EXPECT_EQ(program.values[program.parameters[2].value].storage,
            program.values[program.parameters[0].value].storage);
  EXPECT_EQ(program.parameters[1].tied_to, kNoId);
  EXPECT_EQ(program.parameters[3].tied_to, kNoId);
  EXPECT_EQ(program.storage_count, 3u);
}

TEST(BuildProgram, PacksBlocks) {
  StoredWeights weights;
  StoredTensor& tensor = AddStored(&weights, "w", DType::kFloat32, {2, 256});
  tensor.bytes = 2 * 144;
  tensor.packing = weights.program.strings.Intern("q4_k");
  const Program program = Built(std::move(weights));
  EXPECT_EQ(program.stored_bytes(program.parameters[0]), 2 * 144);
  EXPECT_EQ(program.stored_as(program.parameters[0]), "q4_k");
  EXPECT_FALSE(program.values[program.parameters[0].value].requires_grad);
}

TEST(BuildProgram, PutsQuantisedLayersTogether) {
  StoredWeights weights;
  AddStored(&weights, "up.weight", DType::kFloat8E4M3, {16, 8});
  AddStored(&weights, "up.weight_scale", DType::kFloat32, {16, 1});
  AddStored(&weights, "up.bias", DType::kBFloat16, {16});
  const Program program = Built(std::move(weights));
  EXPECT_THAT(NamesOf(program, program.parameters), ElementsAre("up.weight", "up.bias"));
  EXPECT_EQ(program.stored_bytes(program.parameters[0]), 16 * 8 + 16 * 4);
  EXPECT_THAT(program.sizes(program.parameters[0].value), ElementsAre(16, 8));
}

TEST(BuildProgram, LeavesLayersApartWhoseNameIsTaken) {
  StoredWeights weights;
  AddStored(&weights, "up.qweight", DType::kInt32, {4, 8});
  AddStored(&weights, "up.qzeros", DType::kInt32, {1, 1});
  AddStored(&weights, "up.scales", DType::kFloat16, {1, 8});
  AddStored(&weights, "up.weight", DType::kFloat16, {8, 32});
  const Program program = Built(std::move(weights));
  EXPECT_THAT(NamesOf(program, program.parameters), ElementsAre("up.scales", "up.weight"));
}

TEST(BuildProgram, NotesMatricesOfIntegers) {
  StoredWeights weights;
  AddStored(&weights, "up.codes", DType::kInt16, {16, 8});
  AddStored(&weights, "position_ids", DType::kInt64, {1, 512});
  const Program program = Built(std::move(weights));
  ASSERT_EQ(program.notes.size(), 1u);
  EXPECT_THAT(std::string(program.text(program.notes[0])),
              testing::AllOf(HasSubstr("1 matrix of integers (256 B, such as \"up.codes\")"),
                             HasSubstr("at least as many parameters")));
}

}  // namespace
}  // namespace steelyard::weights
