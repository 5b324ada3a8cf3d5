// SPDX-License-Identifier: Apache-2.0
//
// How a rule reads its operands. Every access that an input could get wrong (a rank, a kind of
// argument) is checked here once and refused by throwing RuleError, so that the rules can be
// written plainly; the dispatcher catches it and names the node.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "ir/layout.h"
#include "ops/op_def.h"
#include "ops/rules/allocations.h"
#include "ops/rules/shape.h"

namespace steelyard {

const Target OpView::kDefaultTarget{};

void Refuse(std::string message, std::string hint) {
  throw RuleError{std::move(message), std::move(hint)};
}

void Contradict(std::string message, std::string hint) {
  throw RuleError{std::move(message), std::move(hint), true};
}

void OpDef::Allocate(const OpView& op, Allocations& memory) const {
  if (op.target().device == Device::kCpu) return allocations->cpu(op, memory);
  for (int i = 0; i < op.output_count(); ++i) {
    if (op.output(i).defined() && op.output(i).value().on_host) return;
  }
  (allocations->cuda == nullptr ? allocations::OutputsOnly : allocations->cuda)(op, memory);
}

std::string_view NameOf(Fusion fusion) {
  switch (fusion) {
    case Fusion::kElementwise:
      return "elementwise";
    case Fusion::kBroadcast:
      return "broadcast";
    case Fusion::kView:
      return "view";
    case Fusion::kInjective:
      return "injective";
    case Fusion::kReduction:
      return "reduction";
    case Fusion::kOutFusable:
      return "out-fusable";
    case Fusion::kOpaque:
      return "opaque";
    case Fusion::kFromParts:
      return "from parts";
  }
  __builtin_unreachable();
}

std::string_view NameOf(CastRule rule) {
  switch (rule) {
    case CastRule::kFollow:
      return "follow";
    case CastRule::kLow:
      return "low";
    case CastRule::kFull:
      return "full";
    case CastRule::kFullResult:
      return "full result";
    case CastRule::kRefused:
      return "refused";
    case CastRule::kPromote:
      return "promote";
  }
  __builtin_unreachable();
}

std::string_view NameOf(Family family) {
  switch (family) {
    case Family::kContraction:
      return "contraction";
    case Family::kConvolution:
      return "convolution";
    case Family::kAttention:
      return "attention";
    case Family::kNormalization:
      return "normalization";
    case Family::kElementwise:
      return "elementwise";
    case Family::kReduction:
      return "reduction";
    case Family::kPooling:
      return "pooling";
    case Family::kIndexing:
      return "indexing";
    case Family::kView:
      return "view";
    case Family::kDataMovement:
      return "data movement";
    case Family::kFactory:
      return "factory";
    case Family::kRandom:
      return "random";
    case Family::kLoss:
      return "loss";
    case Family::kOptimizer:
      return "optimizer";
    case Family::kTransform:
      return "transform";
    case Family::kSelection:
      return "selection";
    case Family::kControl:
      return "control";
    case Family::kBookkeeping:
      return "bookkeeping";
  }
  __builtin_unreachable();
}

std::string_view OpDef::label() const {
  const std::string_view full = name->text();
  const std::size_t dot = full.find('.');
  return dot == std::string_view::npos ? full : full.substr(0, dot);
}

std::size_t TensorView::At(int dim) const {
  const int wrapped = dim < 0 ? dim + rank() : dim;
  if (wrapped < 0 || wrapped >= rank()) {
    Refuse(fmt::format("a tensor of {} dimensions has no dimension {}", rank(), dim));
  }
  return static_cast<std::size_t>(wrapped);
}

std::int64_t TensorView::count() const {
  // An expanded tensor may have more elements than fit.
  const std::optional<std::int64_t> n = NumElements(sizes());
  if (!n) Contradict(fmt::format("[{}] has more than 2^63 elements", fmt::join(sizes(), ", ")));
  return *n;
}

std::int64_t TensorView::bytes() const {
  const int bits = BitsOf(dtype());
  if (bits < 8) return count() / 8 * bits + (count() % 8 * bits + 7) / 8;
  const Count bytes = Count(count()) * (bits / 8);
  if (bytes.overflowed()) {
    Contradict(fmt::format("[{}] has more than 2^63 bytes", fmt::join(sizes(), ", ")));
  }
  return bytes.value();
}

std::int64_t TensorView::storage_bytes() const { return StorageBytes(dtype(), sizes(), strides()); }

bool TensorView::is_contiguous() const { return IsContiguous(sizes(), strides()); }

TensorView OpView::tensor(int i) const {
  if (!given(i)) return {*program_, kNoId};
  if (arg(i).kind != ArgKind::kValue || program_->values[arg(i).value].kind != ValueKind::kTensor) {
    Refuse(fmt::format("argument {} must be a tensor", i + 1));
  }
  return {*program_, arg(i).value};
}

std::vector<TensorView> OpView::tensors(int i) const {
  std::vector<TensorView> out;
  if (!given(i)) return out;
  if (arg(i).kind != ArgKind::kList)
    Refuse(fmt::format("argument {} must be a list of tensors", i + 1));
  for (const Argument& element : program_->list(arg(i).list)) {
    if (element.kind == ArgKind::kNone) {
      out.emplace_back(*program_, kNoId);
    } else if (element.kind == ArgKind::kValue &&
               program_->values[element.value].kind == ValueKind::kTensor) {
      out.emplace_back(*program_, element.value);
    } else {
      Refuse(fmt::format("argument {} must be a list of tensors", i + 1));
    }
  }
  return out;
}

namespace {

std::optional<std::int64_t> IntegerOf(const Argument& a) {
  switch (a.kind) {
    case ArgKind::kInt:
    case ArgKind::kBool:
      return a.dim.is_number() ? std::optional(a.dim.number()) : std::nullopt;
    case ArgKind::kFloat:
      if (!(std::abs(a.real) < 9.2e18)) return std::nullopt;
      return static_cast<std::int64_t>(std::floor(a.real));
    case ArgKind::kNone:
    case ArgKind::kValue:
    case ArgKind::kString:
    case ArgKind::kDType:
    case ArgKind::kList:
    case ArgKind::kGraph:
    case ArgKind::kComplex:
      return std::nullopt;
  }
  __builtin_unreachable();
}

}  // namespace

std::int64_t OpView::integer(int i, std::int64_t missing) const {
  if (!given(i)) return missing;
  const std::optional<std::int64_t> value = IntegerOf(arg(i));
  if (!value) Refuse(fmt::format("argument {} must be a known integer", i + 1));
  return *value;
}

double OpView::real(int i, double missing) const {
  if (!given(i)) return missing;
  if (arg(i).kind == ArgKind::kFloat) return arg(i).real;
  if (arg(i).kind == ArgKind::kComplex) {
    const std::span<const Argument> parts = program_->list(arg(i).list);
    return parts[1].real == 0 ? parts[0].real : std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(integer(i));
}

std::vector<double> OpView::reals(int i) const {
  std::vector<double> out;
  for (const Argument& element : program_->list(arg(i).list)) {
    if (element.kind == ArgKind::kFloat) {
      out.push_back(element.real);
      continue;
    }
    const std::optional<std::int64_t> whole = IntegerOf(element);
    if (!whole) Refuse(fmt::format("argument {} must be a list of known numbers", i + 1));
    out.push_back(static_cast<double>(*whole));
  }
  return out;
}

bool OpView::boolean(int i, bool missing) const { return given(i) ? integer(i) != 0 : missing; }

// Gives `add` the numbers of argument i, one or a list, in order.
template <class Add>
void OpView::EachInteger(int i, const Add& add) const {
  if (!given(i)) return;
  if (arg(i).kind != ArgKind::kList) return add(integer(i));
  for (const Argument& element : program_->list(arg(i).list)) {
    const std::optional<std::int64_t> value = IntegerOf(element);
    if (!value) Refuse(fmt::format("argument {} must be a list of known integers", i + 1));
    add(*value);
  }
}

std::vector<std::int64_t> OpView::integers(int i) const {
  std::vector<std::int64_t> out;
  EachInteger(i, [&](std::int64_t value) { out.push_back(value); });
  return out;
}

Dims OpView::ints(int i) const {
  Dims out;
  if (given(i) && arg(i).kind == ArgKind::kList && arg(i).list.count > Dims::kMaxRank) {
    Refuse(fmt::format("argument {} has {} elements; {} are possible", i + 1, arg(i).list.count,
                       Dims::kMaxRank));
  }
  EachInteger(i, [&](std::int64_t value) { out.push_back(value); });
  return out;
}

int OpView::dim(int i, int rank) const { return shape::WrapDim(integer(i), rank); }

std::optional<DType> OpView::dtype(int i) const {
  if (!given(i) || arg(i).kind != ArgKind::kDType) return std::nullopt;
  return arg(i).dtype;
}

std::string_view OpView::text(int i) const {
  if (!given(i) || arg(i).kind != ArgKind::kString) return {};
  return program_->text(arg(i).text);
}

GraphId OpView::graph(int i) const {
  if (!given(i) || arg(i).kind != ArgKind::kGraph)
    Refuse(fmt::format("argument {} must be a graph", i + 1));
  return arg(i).graph;
}

std::optional<std::int64_t> RecordedSize(const Program* file, std::span<const ValueId> results,
                                         int i, int dim) {
  const auto at = static_cast<std::size_t>(i);
  if (at >= results.size() || results[at] == kNoId) return std::nullopt;
  const Value& value = file->values[results[at]];
  if (value.kind != ValueKind::kTensor || !value.has_layout || dim >= value.rank) {
    return std::nullopt;
  }
  return file->sizes(results[at])[static_cast<std::size_t>(dim)];
}

void Outputs::Add(DType dtype, std::span<const std::int64_t> sizes) {
  metas_.push_back({dtype, Dims(sizes), ContiguousStrides(sizes)});
}

void Outputs::Add(DType dtype, std::span<const std::int64_t> sizes,
                  std::span<const std::int64_t> strides) {
  metas_.push_back({dtype, Dims(sizes), Dims(strides)});
}

void Outputs::AddLike(const TensorView& other) {
  Add(other.dtype(), other.sizes(), other.strides());
}

void Outputs::AddWrappedNumber(DType dtype) { metas_.push_back({dtype, Dims(), Dims(), true}); }

void Outputs::BeginAfter(std::int64_t steps, std::int64_t stride) {
  // An empty view may begin beyond anything that can be counted.
  std::int64_t from = 0;
  if (!__builtin_mul_overflow(steps, stride, &from)) metas_.back().from = from;
}

void Outputs::BeginInStorage(std::int64_t element) {
  metas_.back().from = element;
  metas_.back().from_storage = true;
}

void Outputs::AddNone() { metas_.push_back({.sizes = {}, .strides = {}, .none = true}); }

void Outputs::Clear() {
  metas_.clear();
  recorded_ = {};
  size_.reset();
  assumed_ = false;
}

void Outputs::Expect(const Program& file, std::span<const ValueId> results,
                     std::optional<std::int64_t> size) {
  file_ = &file;
  recorded_ = results;
  size_ = size;
}

std::int64_t Outputs::FromData(int i, int dim, std::optional<std::int64_t> most) {
  if (size_) return *size_;
  if (const auto size = RecordedSize(file_, recorded_, i, dim)) return *size;
  if (!most) Refuse("only the data tells the size of its result");
  assumed_ = true;
  return *most;
}

}  // namespace steelyard
