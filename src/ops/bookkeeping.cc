// SPDX-License-Identifier: Apache-2.0
//
// What is asked of tensors without arithmetic: their sizes and strides, numbers that leave them for
// Python, checks, and what says where a result has been put.

#include <array>
#include <vector>

#include "ops/dispatch/autocast.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/pointwise.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

std::vector<Tensor> IsAllTrue(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() != DType::kBool) Refuse("truth is bool, not " + shape::Text(op.self()));
  return {d.Call("aten::all", d.tensor(op, 0))};
}

std::vector<Tensor> IsAnyTrue(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() != DType::kBool) Refuse("truth is bool, not " + shape::Text(op.self()));
  return {d.Call("aten::any", d.tensor(op, 0))};
}

// The dtypes of the program as it was exported are not those that autocast makes.
std::vector<Tensor> CheckMetadata(Dispatcher& d, const OpView& op) {
  const bool other = op.given(3) && op.dtype(3) != op.self().dtype();
  if (other && d.autocast_mode().enabled) {
    d.Note("checks of dtypes in the program, which fail under autocast, are left out");
  }
  return {};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Metadata(const Words& words) {
  return Kernel(Family::kBookkeeping, words,
                {.shape = shape::None,
                 .fusion = Fusion::kOpaque,
                 .allocations = allocations::None,
                 .work = work::None,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::None);
}

constexpr std::array kRows{
    OnlyWithin(Metadata({"steelyard::stand_in",
                         "Says that a step stands for another: a kernel, or one that is given "
                         "numbers which only the data tell.",
                         "() -> ()", "steelyard::stand_in()"})),
    Metadata({"aten::sym_size.int", "A size of a tensor.", "(Tensor self, int dim) -> SymInt",
              "aten::sym_size.int(f32[2], 0)"}),
    Metadata({"aten::sym_stride.int", "A stride of a tensor.", "(Tensor self, int dim) -> SymInt",
              "aten::sym_stride.int(f32[2], 0)"}),
    Metadata({"aten::sym_storage_offset", "Where in its storage a tensor begins.",
              "(Tensor self) -> SymInt", "aten::sym_storage_offset(f32[2])"}),
    Metadata({"aten::sym_is_contiguous", "Whether a tensor lies in a memory format.",
              "(Tensor self, MemoryFormat memory_format=0) -> SymBool",
              "aten::sym_is_contiguous(f32[2])"}),
    Metadata({"aten::sym_numel", "The number of elements.", "(Tensor self) -> SymInt",
              "aten::sym_numel(f32[2])"}),
    Metadata(
        {"aten::item", "The number in a tensor.", "(Tensor self) -> Scalar", "aten::item(f32[1])"}),
    Metadata({"aten::_local_scalar_dense", "The number in a tensor.", "(Tensor self) -> Scalar",
              "aten::_local_scalar_dense(f32[])"}),
    Composite(Family::kSelection,
              {"aten::_is_all_true", "Whether all are true.", "(Tensor self) -> Tensor",
               "aten::_is_all_true(bool[8])"},
              IsAllTrue, kNoGradient),
    Composite(Family::kSelection,
              {"aten::_is_any_true", "Whether one is true.", "(Tensor self) -> Tensor",
               "aten::_is_any_true(bool[8])"},
              IsAnyTrue, kNoGradient),
    Metadata({"aten::_assert_async.msg", "Checks a condition.",
              "(Tensor self, str assert_msg) -> ()", "aten::_assert_async.msg(bool[], 'no')"}),
    Composite("aten::_assert_tensor_metadata", "Checks a tensor's sizes, strides and dtype.",
              "(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, "
              "Device? device=None, Layout? layout=None) -> ()",
              "aten::_assert_tensor_metadata(f32[2])", Family::kBookkeeping, CheckMetadata,
              precision::kFollow, kNoGradient),
    Kernel(Family::kBookkeeping,
           {"steelyard::put",
            "A tensor in which a result has been computed, as overloads with `out` give it back.",
            "(Tensor(a!) out, Tensor result) -> Tensor(a!)", "steelyard::put(f32[2,8], f32[2,8])"},
           {pointwise::InPlaceShape, Fusion::kElementwise, allocations::None, work::None,
            kNoGradient, precision::kFollow},
           Alias::kInPlace, traffic::None),
};

}  // namespace

std::span<const OpDef> Bookkeeping() { return kRows; }

}  // namespace steelyard::ops
