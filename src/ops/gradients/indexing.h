// SPDX-License-Identifier: Apache-2.0
//
// Gradients of selections: what was not selected has none.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/masking.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

Tensor SelectedValues(Dispatcher& d, const Backward& b);
Tensor SelectedOfDim(Dispatcher& d, const Backward& b);
Tensor IndexSelectSelf(Dispatcher& d, const Backward& b);
Tensor GatherSelf(Dispatcher& d, const Backward& b);
Tensor IndexSelf(Dispatcher& d, const Backward& b);
Tensor MaskedSelectSelf(Dispatcher& d, const Backward& b);
Tensor MaskedScatterSource(Dispatcher& d, const Backward& b);
Tensor UnsafeIndexSelf(Dispatcher& d, const Backward& b);
Tensor UnsafeIndexPutSelf(Dispatcher& d, const Backward& b);
Tensor UnsafeIndexPutValues(Dispatcher& d, const Backward& b);
Tensor IndexPutSelf(Dispatcher& d, const Backward& b);
Tensor IndexPutValues(Dispatcher& d, const Backward& b);
Tensor ScatterSelf(Dispatcher& d, const Backward& b);
Tensor ScatterSource(Dispatcher& d, const Backward& b);
Tensor IndexAddSource(Dispatcher& d, const Backward& b);
std::vector<Tensor> ScatterReduce(Dispatcher& d, const Backward& b);
std::vector<Tensor> IndexReduce(Dispatcher& d, const Backward& b);
Tensor SegmentReduceData(Dispatcher& d, const Backward& b);
Tensor TakeSelf(Dispatcher& d, const Backward& b);
Tensor PutSelf(Dispatcher& d, const Backward& b);
Tensor PutSource(Dispatcher& d, const Backward& b);
Tensor IndexFillSelf(Dispatcher& d, const Backward& b);
Tensor IndexFillValue(Dispatcher& d, const Backward& b);
Tensor IndexCopySource(Dispatcher& d, const Backward& b);
Tensor TraceSelf(Dispatcher& d, const Backward& b);
Tensor RunningBestSelf(Dispatcher& d, const Backward& b);
Tensor TrilSelf(Dispatcher& d, const Backward& b);
Tensor TriuSelf(Dispatcher& d, const Backward& b);

inline constexpr Gradient kSegmentReduce{"SegmentReduceBackward0",
                                         {GradientOf(0, {0, 2, 4, kResult}, SegmentReduceData)}};
inline constexpr Gradient kTopk{"TopkBackward0", {GradientOf(0, {ResultAt(1)}, SelectedValues)}};
inline constexpr Gradient kSort{"SortBackward0", {GradientOf(0, {ResultAt(1)}, SelectedValues)}};
inline constexpr Gradient kSortStable{"SortBackward1",
                                      {GradientOf(0, {ResultAt(1)}, SelectedValues)}};
inline constexpr Gradient kMaxDim{"MaxBackward0", {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kMinDim{"MinBackward0", {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kIndexSelect{"IndexSelectBackward0",
                                       {GradientOf(0, {2}, IndexSelectSelf)}};
inline constexpr Gradient kGather{"GatherBackward0", {GradientOf(0, {0, 2}, GatherSelf)}};
inline constexpr Gradient kIndex{"IndexBackward0", {GradientOf(0, {1}, IndexSelf)}};
inline constexpr Gradient kMaskedSelect{"MaskedSelectBackward0",
                                        {GradientOf(0, {0, 1}, MaskedSelectSelf)}};
inline constexpr Gradient kMaskedScatter{
    "MaskedScatterBackward0",
    {GradientOf(0, {1}, MaskedFillSelf), GradientOf(2, {1}, MaskedScatterSource)}};
inline constexpr Gradient kUnsafeIndex{"UnsafeIndexBackward0",
                                       {GradientOf(0, {1}, UnsafeIndexSelf)}};
inline constexpr Gradient kUnsafeIndexPut{
    "UnsafeIndexPutBackward0",
    {GradientOf(0, {1}, UnsafeIndexPutSelf), GradientOf(2, {1}, UnsafeIndexPutValues)}};
inline constexpr Gradient kIndexPut{
    "IndexPutBackward0", {GradientOf(0, {1}, IndexPutSelf), GradientOf(2, {1}, IndexPutValues)}};
inline constexpr Gradient kIndexPutImpl{
    "IndexPutImplBackward0",
    {GradientOf(0, {1}, IndexPutSelf), GradientOf(2, {1}, IndexPutValues)}};
inline constexpr Gradient kScatter{
    "ScatterBackward0", {GradientOf(0, {2}, ScatterSelf), GradientOf(3, {2}, ScatterSource)}};
inline constexpr Gradient kScatterNumber{"ScatterBackward1", {GradientOf(0, {2}, ScatterSelf)}};
inline constexpr Gradient kScatterAdd{"ScatterAddBackward0",
                                      {GradientOf(0, {}, Same), GradientOf(3, {2}, ScatterSource)}};
inline constexpr Gradient kIndexAdd{
    "IndexAddBackward0", {GradientOf(0, {}, Same), GradientOf(3, {2, 3}, IndexAddSource)}};
inline constexpr Gradient kScatterReduce{"ScatterReduceBackward0",
                                         {GradientsOf({0, 3}, {0, 2, 3, kResult}, ScatterReduce)}};
inline constexpr Gradient kIndexReduce{"IndexReduceBackward0",
                                       {GradientsOf({0, 3}, {0, 2, 3, kResult}, IndexReduce)}};
inline constexpr Gradient kTake{"TakeBackward0", {GradientOf(0, {0, 1}, TakeSelf)}};
inline constexpr Gradient kPut{"PutBackward0",
                               {GradientOf(0, {1}, PutSelf), GradientOf(2, {1, 2}, PutSource)}};
inline constexpr Gradient kIndexFill{"IndexFillBackward0", {GradientOf(0, {2}, IndexFillSelf)}};
inline constexpr Gradient kIndexFillTensor{
    "IndexFillBackward1", {GradientOf(0, {2}, IndexFillSelf), GradientOf(3, {2}, IndexFillValue)}};
inline constexpr Gradient kIndexCopy{
    "IndexCopyBackward0",
    {GradientOf(0, {2}, IndexFillSelf), GradientOf(3, {2, 3}, IndexCopySource)}};
inline constexpr Gradient kTrace{"TraceBackward0", {GradientOf(0, {}, TraceSelf)}};
inline constexpr Gradient kMedianDim{"MedianBackward1",
                                     {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kNanMedianDim{"NanmedianBackward1",
                                        {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kMode{"ModeBackward0", {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kKthvalue{"KthvalueBackward0",
                                    {GradientOf(0, {ResultAt(1)}, SelectedOfDim)}};
inline constexpr Gradient kCummax{"CummaxBackward0",
                                  {GradientOf(0, {0, ResultAt(1)}, RunningBestSelf)}};
inline constexpr Gradient kCummin{"CumminBackward0",
                                  {GradientOf(0, {0, ResultAt(1)}, RunningBestSelf)}};
inline constexpr Gradient kTril{"TrilBackward0", {GradientOf(0, {}, TrilSelf)}};
inline constexpr Gradient kTriu{"TriuBackward0", {GradientOf(0, {}, TriuSelf)}};

}  // namespace steelyard::gradients
