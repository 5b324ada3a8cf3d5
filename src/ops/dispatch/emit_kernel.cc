// SPDX-License-Identifier: Apache-2.0
//
// A kernel becomes a node with its results, on fresh storages or that of what they alias. Its row
// is asked what they are and what it costs, unless it has answered for such a call before.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/known_kernels.h"

namespace steelyard {
namespace {

// What is said of a kernel whose results have as many elements as its data choose.
std::string AssumedNote(const OpDef& def, Phase phase) {
  const std::string_view where = phase == Phase::kBackward ? ", of the backward pass," : "";
  return fmt::format("{}{} is weighed as if its data chose all that they may", def.label(), where);
}

// Adds up what a kernel allocates.
class Tally final : public Allocations {
 public:
  Tally(const OpView& op, Count& bytes) : op_(op), bytes_(bytes) {}
  void Output(int i, std::string_view) override { bytes_ += op_.output(i).storage_bytes(); }
  Scratch Allocate(std::int64_t bytes, std::string_view) override {
    if (++allocations_ > kMost) {
      Refuse(fmt::format("it allocates more than {} times, image by image or row by row", kMost),
             "A smaller batch tells as much.");
    }
    bytes_ += bytes;
    return 0;
  }
  void Free(Scratch, std::string_view) override {}

 private:
  // Each is told of; a kernel of a program that somebody waits for makes far fewer.
  static constexpr std::int64_t kMost = std::int64_t{1} << 22;

  const OpView& op_;
  Count& bytes_;
  std::int64_t allocations_ = 0;
};

// Asks every rule once, so that one that refuses (a scratch of more than 2^63 bytes) does it here,
// where the node is known, and not in what runs or analyzes the program later. `bytes` is a bound
// for every sum of live blocks: while it fits, none overflows.
void Rehearse(const OpView& op, Count& bytes) {
  Tally tally(op, bytes);
  op.def().Allocate(op, tally);
  (*op.def().work)(op);
  (*op.def().traffic)(op);
}

}  // namespace

Dispatcher::Places Dispatcher::PlacesOf(std::span<const Argument> args) const {
  Places places;
  for (const Argument& arg : args) {
    if (arg.kind == ArgKind::kList) {
      const Places listed = PlacesOf(out_.list(arg.list));
      places.host |= listed.host;
      places.device |= listed.device;
    } else if (arg.kind == ArgKind::kValue) {
      (out_.values[arg.value].on_host ? places.host : places.device) = true;
    }
  }
  return places;
}

// What a kernel says of a view of `of`; nothing of what begins where its storage does.
void Dispatcher::SetPlace(ValueId id, ValueId of, DType dtype, std::int64_t from,
                          bool from_storage) {
  if (from == 0 && (places_.empty() || from_storage)) return;
  const std::int64_t width = std::max(BitsOf(dtype) / 8, 1);
  const std::int64_t before = from_storage ? 0 : PlaceOf(of);
  std::int64_t place = 0;
  if (__builtin_mul_overflow(from, width, &place) ||
      __builtin_add_overflow(place, before, &place) || place == 0) {
    return;
  }
  places_[id] = place;
}

void Dispatcher::ShareDims(ValueId id) {
  out_.values[id].dims = known_->Intern(out_.sizes(id), out_.strides(id));
}

struct Dispatcher::Emission {
  const OpDef& def;
  Argument::Run arguments;
  KernelId known = kNoId;
  std::vector<KnownKernels::Result> asked = {};        // of a row, where it is not known
  std::span<const KnownKernels::Result> results = {};  // either
  ValueId first = kNoId;                               // argument 0, where results share its bytes
  bool differentiable = false, on_host = false, on_device = false;
};

void Dispatcher::AskRow(Emission& kernel) {
  outputs_.Clear();
  outputs_.Expect(source_, recorded_, data_size_);
  (*kernel.def.shape)(OpView(out_, kernel.def, out_.list(kernel.arguments), {}, target_), outputs_);
  if (outputs_.assumed()) Note(AssumedNote(kernel.def, context_.phase));
  kernel.asked.reserve(outputs_.metas().size());
  for (const Outputs::Meta& meta : outputs_.metas()) {
    if (!meta.none && !CheckLayout(meta.dtype, meta.sizes, meta.strides)) {
      Contradict(fmt::format("the result {}[{}] is too large", ShortNameOf(meta.dtype),
                             fmt::join(std::span<const std::int64_t>(meta.sizes), ",")));
    }
    kernel.asked.push_back({.dtype = meta.dtype,
                            .rank = static_cast<std::uint8_t>(meta.sizes.size()),
                            .none = meta.none,
                            .wrapped_number = meta.wrapped_number,
                            .conjugates = meta.conjugates,
                            .negates = meta.negates,
                            .from_storage = meta.from_storage,
                            .dims = known_->Intern(meta.sizes, meta.strides),
                            .from = meta.from});
  }
  kernel.results = kernel.asked;
}

ValueId Dispatcher::AddResult(const Emission& kernel, std::size_t i) {
  const KnownKernels::Result& result = kernel.results[i];
  if (result.none) return kNoId;
  const bool same_bytes = kernel.first != kNoId;
  const Value before = same_bytes ? out_.values[kernel.first] : Value();
  Value value;
  value.dims = result.dims;
  value.rank = result.rank;
  value.dtype = result.dtype;
  value.wrapped_number = result.wrapped_number;
  value.conjugated = before.conjugated != result.conjugates;
  value.negated = before.negated != result.negates;
  has_lazy_ |= value.conjugated || value.negated;
  value.on_host = kernel.on_host || (kernel.on_device && result.wrapped_number);
  value.requires_grad =
      kernel.differentiable && (IsFloating(result.dtype) || IsComplex(result.dtype));
  value.storage = same_bytes ? before.storage : out_.storage_count++;
  const auto id = static_cast<ValueId>(out_.values.size());
  out_.values.push_back(value);
  AddReferences(id, 0);
  if (same_bytes) SetPlace(id, kernel.first, result.dtype, result.from, result.from_storage);
  if (autograd_ != nullptr && *kernel.def.alias == Alias::kInPlace) {
    autograd_->AdoptOverwritten(id, kernel.first);
  }
  return id;
}

std::vector<Tensor> Dispatcher::EmitKernel(const OpDef& def, std::span<const Argument> args) {
  Emission kernel{.def = def, .arguments = out_.AddArguments(args)};
  kernel.known = known_->Find(def, out_.list(kernel.arguments));
  if (kernel.known == kNoId) {
    AskRow(kernel);
  } else {
    kernel.results = known_->results(kernel.known);
  }
  if (*def.alias != Alias::kNone) kernel.first = args[0].value;
  // A view says what its base says, in the no_grad mode too; what is overwritten is the same
  // tensor.
  kernel.differentiable = *def.alias != Alias::kNone && args[0].kind == ArgKind::kValue &&
                          out_.values[args[0].value].requires_grad &&
                          (*def.alias == Alias::kInPlace || def.grad->KeepsHistory());
  kernel.on_device = target_.device != Device::kCpu;
  const Places places = kernel.on_device ? PlacesOf(args) : Places();
  kernel.on_host = places.host && !places.device;
  std::vector<Tensor> results;
  std::vector<ValueId>& ids = results_;
  ids.clear();
  results.reserve(kernel.results.size());
  for (std::size_t i = 0; i < kernel.results.size(); ++i) {
    ids.push_back(AddResult(kernel, i));
    results.emplace_back(this, ids.back());
  }
  if (kernel.known == kNoId) {
    Count bytes;
    Rehearse(OpView(out_, def, out_.list(kernel.arguments), ids, target_), bytes);
    CountBytes(bytes);
    // Where the file tells nothing, a row that asked it for a size has assumed one.
    const bool told = !recorded_.empty() || data_size_.has_value();
    if (!told && !outputs_.assumed()) kernel.known = known_->Add(kernel.asked, bytes);
  } else {
    CountBytes(known_->bytes(kernel.known));
  }
  AppendNode(OpIdOf(def), kernel.arguments, out_.AddOutputs(ids));
  out_.main().nodes.back().kernel = kernel.known;
  has_step_ |= def.only_within;
  return results;
}

}  // namespace steelyard
