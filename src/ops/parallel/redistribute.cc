// SPDX-License-Identifier: Apache-2.0
//
// Which collective takes a tensor from one placement to another, and what its gradient takes back
// (torch/distributed/tensor/_redistribute.py, _api.py, placement_types.py).

#include "ops/parallel/redistribute.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

int DimOf(const Tensor& tensor, const Placement& placement) {
  const int dim = placement.dim < 0 ? placement.dim + tensor.rank() : placement.dim;
  if (dim < 0 || dim >= tensor.rank()) {
    Contradict(
        fmt::format("a tensor of {} dimensions has no dimension {}", tensor.rank(), placement.dim));
  }
  return dim;
}

Tensor SumOf(Dispatcher& d, const Tensor& part) {
  const Tensor sum = d.Call("_c10d_functional::all_reduce", part, d.Text("sum"), d.Text("0"));
  return d.Call("_c10d_functional::wait_tensor", sum);
}

// Of parts along a dimension, of which all but the last ones have `chunk` of `size` elements.
Tensor PutTogether(Dispatcher& d, const Tensor& part, const Way& way) {
  const int dim = DimOf(part, way.from);
  const std::int64_t ranks = way.group.ranks;
  const std::int64_t size = way.size == 0 ? part.size(dim) * ranks : way.size;
  const std::int64_t chunk = DivideUp(size, ranks), missing = chunk - part.size(dim);
  Tensor padded = part;
  if (missing > 0) {
    Dims pads;
    for (int i = part.rank() - 1; i >= dim; --i) {
      pads.push_back(0);
      pads.push_back(i == dim ? missing : 0);
    }
    padded = d.Call("aten::constant_pad_nd", part, pads);
  }
  Tensor whole = d.Call("steelyard::all_gather_parts", d.Call("aten::contiguous", padded), ranks);
  if (dim != 0) whole = d.Call("aten::cat", d.CallMany("aten::chunk", whole, ranks, 0), dim);
  if (chunk * ranks == size) return whole;
  return d.Call("aten::contiguous", d.Call("aten::slice.Tensor", whole, dim, 0, size));
}

Tensor SumOfPart(Dispatcher& d, const Tensor& part, const Way& way) {
  const int dim = DimOf(part, way.to);
  const std::int64_t ranks = way.group.ranks;
  if (part.size(dim) % ranks != 0) {
    Refuse(fmt::format("{} elements of a dimension that {} processes share are padded",
                       part.size(dim), ranks),
           "Take a length that the number of processes divides.");
  }
  Tensor sent = d.Call("aten::contiguous", part);
  if (dim != 0) sent = d.Call("aten::cat", d.CallMany("aten::chunk", sent, ranks, dim), 0);
  return d.Call("steelyard::reduce_scatter_parts", sent, ranks);
}

Tensor PartOf(Dispatcher& d, const Tensor& whole, const Way& way) {
  const int dim = DimOf(whole, way.to);
  const std::int64_t size = whole.size(dim), chunk = DivideUp(size, way.group.ranks);
  const std::int64_t begin = std::min(chunk * way.group.rank, size);
  const std::int64_t end = std::min(begin + chunk, size);
  return d.Call("aten::clone", d.Call("aten::slice.Tensor", whole, dim, begin, end));
}

// --- Functions of autograd -----------------------------------------------------------------------

class Moving final : public PythonFunction {
 public:
  // `record`: the profiler's, within the function; empty: none.
  Moving(std::string_view name, std::string_view record, const Way& way,
         Waits waits = Waits::kAtOnce)
      : name_(name), record_(record), way_(way), waits_(waits) {}
  std::string_view name() const override { return name_; }
  bool takes_zeros() const override { return false; }
  std::vector<Tensor> Backward(Dispatcher& d, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    if (way_.from == way_.to) return {arrived[0]};
    if (record_.empty()) return {Moved(d, arrived[0], way_)};
    const Dispatcher::Inside record(d, record_);
    const Tensor moved = Moved(d, arrived[0], way_);
    if (waits_ == Waits::kWhenUsed && way_.from == kPartial) {
      d.autograd().PlaceGradient(moved.id(), {.from = way_.to, .to = way_.to});
    }
    return {moved};
  }

 private:
  std::string_view name_, record_;
  Way way_;
  Waits waits_;
};

// `make` gives a tensor without history of `from`, whose gradient `function` knows.
template <class Make>
Tensor WithFunction(Dispatcher& d, const Tensor& from, std::unique_ptr<PythonFunction> function,
                    const Make& make) {
  const Node context = d.context();
  const bool wanted = d.has_autograd() && d.grad_enabled() && from.requires_grad();
  const std::uint64_t sequence = wanted ? d.autograd().TakeSequence() : 0;
  Tensor made;
  {
    const Dispatcher::GradMode off(d, false);
    made = make();
  }
  if (wanted) {
    FunctionCall call{.function = std::move(function),
                      .operands = {from},
                      .saves_operands = false,
                      .sequence = sequence};
    d.autograd().AddFunction(std::move(call), {&made, 1}, context);
  }
  return made;
}

}  // namespace

Tensor Moved(Dispatcher& d, const Tensor& local, const Way& way) {
  if (way.from == way.to) return local;
  const bool sums = way.from == kPartial;
  if (sums && way.to == kReplicate) return SumOf(d, local);
  if (sums && way.to.is_shard()) return SumOfPart(d, local, way);
  if (way.from.is_shard() && way.to == kReplicate) return PutTogether(d, local, way);
  if (way.from == kReplicate && way.to.is_shard()) return PartOf(d, local, way);
  Refuse(fmt::format("to take a tensor from {} to {} is not modelled", ShortName(way.from),
                     ShortName(way.to)),
         "Modelled are wholes (R), their parts (S) and sums (P) that become wholes or parts.");
}

Tensor Taken(Dispatcher& d, const Tensor& local, const Way& way) {
  const Way back{.from = way.to, .to = OfGradient(way.from), .group = way.group};
  return WithFunction(d, local, std::make_unique<Moving>("_FromTorchTensorBackward", "", back),
                      [&] { return d.Call("aten::alias", local); });
}

Tensor Redistributed(Dispatcher& d, const Tensor& local, const Way& way, const Placement& arrives,
                     Waits waits, Tensor mask) {
  const Way back{.from = arrives, .to = OfGradient(way.from), .group = way.group, .size = way.size};
  auto function =
      std::make_unique<Moving>("RedistributeBackward", "NestedRedistribute", back, waits);
  return WithFunction(d, local, std::move(function), [&] {
    const Dispatcher::Inside record(d, "Redistribute");
    if (mask.defined()) {
      const Tensor rows = d.Call("aten::unsqueeze", mask, -1);
      d.Call("aten::masked_fill_.Scalar", local, rows, 0);
    }
    mask.reset();
    return Moved(d, local, way);
  });
}

Tensor Given(Dispatcher& d, const Tensor& local) {
  const Way none{};
  return WithFunction(d, local, std::make_unique<Moving>("_ToTorchTensorBackward", "", none),
                      [&] { return d.Call("aten::alias", local); });
}

}  // namespace steelyard::ops
