// SPDX-License-Identifier: Apache-2.0
//
// Kernels are gone through in order. The operands of each are brought to the dtypes that its rule
// asks for, by a cast that was made before or a new one, and its results are typed anew from them.
//
// A cast that is already there is looked through: a rule sees what was cast, so that the cast is
// used again where it has the dtype wanted, and else goes. Casts are kept for a later kernel only
// where the one they are made for is harder than an injective one (a product, a reduction): before
// others, the cast becomes a part of their kernel, and to keep it would keep memory. In the end no
// value is let go before its last use, which casts may have made later.

#include "pass/cast_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ir/visit_values.h"
#include "ops/dispatch/program_rows.h"
#include "ops/op_def.h"
#include "ops/raf_policy.h"
#include "pass/cast_overrides.h"
#include "support/choices.h"

namespace steelyard {
namespace {

constexpr std::size_t kListed = 8;    // operators without a rule
constexpr int kMostConcatenated = 5;  // RAF: with more tensors in float16 a GPU lacks registers

// What a kernel asks of an operand.
struct Wish {
  enum class Kind : std::uint8_t { kNone, kOriginal, kDType };
  Kind kind = Kind::kNone;
  DType dtype = DType::kFloat32;
  static Wish Original() { return {.kind = Kind::kOriginal}; }
  static Wish Of(DType dtype) { return {.kind = Kind::kDType, .dtype = dtype}; }
};

class Caster {
 public:
  Caster(Program kernels, const AmpOptions& options, const Target& target,
         std::vector<NamedCast> overrides)
      : p_(std::move(kernels)),
        rows_(RowsOf(p_)),
        low_(*options.dtype),
        results_(options.results.value_or(low_)),
        target_(target),
        overrides_(std::move(overrides)),
        source_(p_.values.size(), kNoId) {
    for (const Value& value : p_.values) before_.push_back(value.dtype);
    overwritten_.assign(p_.storage_count, false);
    for (const Node& node : p_.main().nodes) {
      VisitWritten(rows_[node.op], p_.args(node), [&](ValueId id) {
        if (p_.values[id].storage != kNoId) overwritten_[p_.values[id].storage] = true;
      });
    }
  }

  Program Run() && {
    std::vector<Node> nodes = std::exchange(p_.main().nodes, {});
    std::vector<std::size_t> place;  // of the first item that a node became
    for (Node& node : nodes) {
      node.kernel = kNoId;  // of operands that are cast now
      place.push_back(items_.size());
      if (p_.is_drop(node)) {
        items_.push_back({.node = node});
      } else {
        Visit(node);
      }
    }
    place.push_back(items_.size());
    CastResults(nodes);
    Forget();
    DropUnused();
    Write(place);
    NoteUnlisted();
    return std::move(p_);
  }

 private:
  struct Item {
    Node node;
    bool casts = false;  // it goes when nobody reads it
    bool gone = false;
  };

  // --- A kernel ----------------------------------------------------------------------------------

  void Visit(const Node& node) {
    const OpDef* def = node.refusal == kNoString ? rows_[node.op] : nullptr;
    const RafRule* rule = def != nullptr ? FindRafRule(*def) : nullptr;
    if (rule != nullptr && rule->hint == RafHint::kCast && VisitCast(node)) return;
    const std::vector<Argument> given(p_.args(node).begin(), p_.args(node).end());
    std::vector<Argument> wanted = Bring(node, def, given, WishesOf(node, def, rule, given));
    if (def != nullptr && !Retype(node, *def, wanted)) {
      wanted = Bring(node, def, given, std::vector<Wish>(given.size(), Wish::Original()));
      if (!Retype(node, *def, wanted)) RestoreResults(node);
    }
    ForgetOverwritten(def, wanted);
    const bool overwrites = def != nullptr && def->overwrites();
    if (rule == nullptr && !overwrites && ReadsFloats(given))
      ++unlisted_[std::string(LabelOf(node, def))];
    Append(node, wanted);
  }

  template <class Visit>
  void VisitWritten(const OpDef* def, std::span<const Argument> args, const Visit& visit) const {
    if (def == nullptr) return;
    const auto params = def->signature->params();
    for (std::size_t i = 0; i < std::min(args.size(), params.size()); ++i) {
      if (params[i].written) VisitValues(p_, args[i], visit);
    }
  }

  // A cast of what is overwritten is one of what was there before.
  void ForgetOverwritten(const OpDef* def, std::span<const Argument> args) {
    VisitWritten(def, args, [&](ValueId written) {
      const StorageId storage = p_.values[written].storage;
      std::erase_if(
          kept_, [&](const auto& kept) { return p_.values[kept.first.first].storage == storage; });
    });
  }

  std::string_view LabelOf(const Node& node, const OpDef* def) const {
    return def != nullptr ? def->label() : p_.op_name(node.op);
  }

  bool IsEligible(ValueId id) const {
    const Value& value = p_.values[id];
    return value.kind == ValueKind::kTensor && !value.wrapped_number && IsFloating(before_[id]);
  }
  bool ReadsFloats(std::span<const Argument> args) const {
    return Count(args, [](DType) { return true; }) > 0;
  }

  // How many eligible tensors of these arguments have a dtype of which `is` is true.
  template <class Is>
  int Count(std::span<const Argument> args, const Is& is) const {
    int count = 0;
    for (const Argument& argument : args) {
      VisitValues(p_, argument, [&](ValueId id) {
        if (IsEligible(id) && is(p_.values[SourceOf(id)].dtype)) ++count;
      });
    }
    return count;
  }
  int CountOf(std::span<const Argument> args, DType dtype) const {
    return Count(args, [&](DType of) { return of == dtype; });
  }

  // The cast of a floating tensor to another floating dtype, nothing else changed, of a tensor that
  // stays what it is.
  bool VisitCast(const Node& node) {
    const std::span<const ValueId> results = p_.results(node);
    const std::span<const Argument> args = p_.args(node);
    if (args.empty() || args[0].kind != ArgKind::kValue || results.size() != 1) return false;
    const ValueId from = args[0].value, to = results[0];
    if (to == kNoId || !IsEligible(from) || !IsEligible(to) || before_[from] == before_[to] ||
        !std::ranges::equal(p_.strides(from), p_.strides(to)) ||
        p_.values[from].storage == p_.values[to].storage || overwritten_[p_.values[from].storage] ||
        overwritten_[p_.values[to].storage]) {
      return false;
    }
    const ValueId source = SourceOf(from);
    source_[to] = source;
    if (p_.values[source].dtype == before_[to]) return true;
    std::vector<Argument> cast(args.begin(), args.end());
    cast[0].value = source;
    Append(node, cast);
    items_.back().casts = true;
    kept_[{source, before_[to]}] = to;
    return true;
  }

  // What a value was before it was cast.
  ValueId SourceOf(ValueId id) const { return source_[id] == kNoId ? id : source_[id]; }

  std::optional<DType> OverrideOf(const Node& node, const OpDef* def, const RafRule* rule) const {
    for (const NamedCast& cast : overrides_) {
      const auto names = [&](const OpDef* of) {
        return of != nullptr && std::ranges::find(cast.operators, of) != cast.operators.end();
      };
      bool named = names(def);
      for (FrameId frame = node.frame; frame != 0; frame = p_.frames[frame].parent) {
        named |= names(rows_[p_.frames[frame].op]);
      }
      const bool low = rule != nullptr && rule->hint == RafHint::kLow;
      if (named || (low && std::ranges::binary_search(cast.modules, node.module))) {
        return cast.dtype;
      }
    }
    return std::nullopt;
  }

  // --- What is wanted ----------------------------------------------------------------------------

  std::vector<Wish> WishesOf(const Node& node, const OpDef* def, const RafRule* rule,
                             std::span<const Argument> args) const {
    std::vector<Wish> wishes(args.size(), Wish::Original());
    if (def != nullptr && def->overwrites()) return WishesOfOverwriting(*def, args);
    if (const std::optional<DType> override = OverrideOf(node, def, rule)) {
      return std::vector<Wish>(args.size(), Wish::Of(*override));
    }
    if (rule == nullptr) return wishes;
    const auto count = std::min(args.size(), static_cast<std::size_t>(rule->operands));
    const Wish wish = WishOf(node, *rule, args.first(count));
    std::fill_n(wishes.begin(), count, wish);
    return wishes;
  }

  // What is overwritten stays what it is, and the others become that.
  std::vector<Wish> WishesOfOverwriting(const OpDef& def, std::span<const Argument> args) const {
    const auto params = def.signature->params();
    std::vector<Wish> wishes(args.size(), Wish::Original());
    for (std::size_t i = 0; i < std::min(args.size(), params.size()); ++i) {
      if (params[i].written) wishes[i] = {};
    }
    const RafRule* rule = FindRafRule(def);
    const bool sums = rule != nullptr && rule->hint == RafHint::kEither;
    if (args[0].kind != ArgKind::kValue || !IsEligible(args[0].value)) return wishes;
    const ValueId over = args[0].value;
    const DType dtype = p_.values[over].dtype;
    if (rule != nullptr && rule->hint == RafHint::kCast) {
      for (Wish& wish : wishes) wish = {};
    } else if (sums || dtype != before_[over]) {
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (i >= params.size() || !params[i].written) wishes[i] = Wish::Of(dtype);
      }
    }
    return wishes;
  }

  Wish WishOf(const Node& node, const RafRule& rule, std::span<const Argument> operands) const {
    const int low = CountOf(operands, low_), full = CountOf(operands, DType::kFloat32);
    switch (rule.hint) {
      case RafHint::kLow:
        return Wish::Of(low_);
      case RafHint::kOriginal:
        return Wish::Original();
      case RafHint::kMajority:
        return Wish::Of(full > low ? DType::kFloat32 : low_);
      case RafHint::kEither: {
        const std::span<const ValueId> results = p_.results(node);
        const bool wide =
            !results.empty() && results[0] != kNoId && before_[results[0]] == DType::kFloat32;
        return wide && low > 0 ? Wish::Of(low_) : Wish::Original();
      }
      case RafHint::kFew: {
        const int all = Count(operands, [](DType) { return true; });
        return Wish::Of(low > all / 2 && all <= kMostConcatenated ? low_ : DType::kFloat32);
      }
      case RafHint::kFollow:
      case RafHint::kCast:
        return {};
    }
    __builtin_unreachable();
  }

  // --- Casts ------------------------------------------------------------------------------------

  std::vector<Argument> Bring(const Node& node, const OpDef* def, std::span<const Argument> given,
                              const std::vector<Wish>& wishes) {
    const bool shares = def == nullptr || *def->fusion > Fusion::kInjective;
    std::vector<Argument> out;
    out.reserve(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      out.push_back(Bring(node, given[i], wishes[i], shares));
    }
    return out;
  }

  Argument Bring(const Node& node, const Argument& argument, Wish wish, bool shares) {
    Argument out = argument;
    if (argument.kind == ArgKind::kValue) out.value = Bring(node, argument.value, wish, shares);
    if (argument.kind != ArgKind::kList) return out;
    std::vector<Argument> elements;
    elements.reserve(argument.list.count);
    for (std::uint32_t i = 0; i < argument.list.count; ++i) {
      elements.push_back(Bring(node, Argument(p_.list(argument.list)[i]), wish, shares));
    }
    out.list = p_.AddArguments(elements);
    return out;
  }

  ValueId Bring(const Node& node, ValueId id, Wish wish, bool shares) {
    if (!IsEligible(id)) return id;
    const ValueId source = SourceOf(id);
    DType dtype = p_.values[source].dtype;
    if (wish.kind == Wish::Kind::kOriginal) dtype = before_[id];
    if (wish.kind == Wish::Kind::kDType) dtype = wish.dtype;
    if (p_.values[source].dtype == dtype) return source;
    if (const auto kept = kept_.find({source, dtype}); shares && kept != kept_.end()) {
      return kept->second;
    }
    const ValueId cast = AddCast(node, source, dtype);
    if (shares) kept_[{source, dtype}] = cast;
    return cast;
  }

  // Before `node`, which is why it is there.
  ValueId AddCast(const Node& node, ValueId from, DType dtype) {
    const std::string_view name = CastBefore(rows_[node.op]);
    const OpDef& def = *FindOp(OpName::FromRuntime(name));
    const StringId text = p_.strings.Intern(fmt::format("cast{}", ++casts_));
    const std::vector<std::int64_t> sizes(p_.sizes(from).begin(), p_.sizes(from).end());
    const Dims strides = EmptyLikeStrides(p_.sizes(from), p_.strides(from));
    const ValueId to = p_.AddTensor(text, dtype, sizes, strides);
    p_.values[to].requires_grad = p_.values[from].requires_grad;
    p_.values[to].on_host = p_.values[from].on_host;
    before_.push_back(before_[from]);
    source_.push_back(kNoId);
    std::vector<Argument> args{Argument::OfValue(from), Argument::OfDType(dtype)};
    const auto params = def.signature->params();
    for (std::size_t i = args.size(); i < params.size(); ++i) {
      args.push_back(params[i].type == ParamType::kBool ? Argument::OfBool(false)
                                                        : Argument::None());
    }
    Node cast = node;
    cast.op = p_.AddOpName(name);
    cast.arguments = p_.AddArguments(args);
    cast.outputs = p_.AddOutputs(std::array{to});
    cast.refusal = kNoString;
    if (cast.op >= rows_.size()) rows_.resize(cast.op + 1, &def);
    items_.push_back({.node = cast, .casts = true});
    made_.push_back(to);
    return to;
  }

  const Node* MakerOf(ValueId id, std::span<const Node> nodes) const {
    const auto makes = [&](const Node& node) {
      return std::ranges::find(p_.results(node), id) != p_.results(node).end();
    };
    const auto maker = std::ranges::find_if(nodes, makes);
    return maker != nodes.end() ? &*maker : nullptr;
  }

  // Results of the program in the low dtype become `results_`.
  void CastResults(std::span<const Node> nodes) {
    for (Argument& output : p_.main().outputs) {
      if (output.kind != ArgKind::kValue || !IsEligible(output.value)) continue;
      const ValueId source = SourceOf(output.value);
      const Node* maker = MakerOf(source, nodes);
      const bool other = p_.values[source].dtype == low_ && results_ != low_ && maker != nullptr;
      // The role moves with what the caller gets.
      const Role role = p_.values[output.value].role;
      const ValueId cast = other ? AddCast(*maker, source, results_) : source;
      if (cast == output.value) continue;
      if (role == Role::kOutput) {
        p_.values[output.value].role = Role::kActivation;
        if (p_.values[cast].role == Role::kActivation) p_.values[cast].role = role;
      }
      instead_[output.value] = cast;
      output.value = cast;
    }
  }

  // --- Types -------------------------------------------------------------------------------------

  // Gives the results the dtypes that the row makes of these operands. False where it refuses them.
  bool Retype(const Node& node, const OpDef& def, std::span<const Argument> args) {
    Outputs out;
    try {
      (*def.shape)(OpView(p_, def, args, {}, target_), out);
    } catch (const RuleError&) {
      return false;
    }
    const std::span<const ValueId> results = p_.results(node);
    for (std::size_t i = 0; i < std::min(results.size(), out.metas().size()); ++i) {
      if (results[i] != kNoId) p_.values[results[i]].dtype = out.metas()[i].dtype;
    }
    return true;
  }
  void RestoreResults(const Node& node) {
    for (const ValueId id : p_.results(node)) {
      if (id != kNoId) p_.values[id].dtype = before_[id];
    }
  }

  // --- The program -------------------------------------------------------------------------------

  void Append(const Node& node, std::span<const Argument> args) {
    Node copy = node;
    copy.arguments = p_.AddArguments(args);
    items_.push_back({.node = copy});
  }

  // What autograd or the report knows by a cast that is no longer there, they know by its source.
  void Forget() {
    for (SavedTensor& saved : p_.saved) saved.value = SourceOf(saved.value);
    for (ValueId& gradient : p_.gradients) {
      if (gradient != kNoId) gradient = SourceOf(gradient);
    }
    if (p_.loss != kNoId) p_.loss = SourceOf(p_.loss);
  }

  // Last first: a cast may have been made for another.
  void DropUnused() {
    uses_.assign(p_.values.size(), 0);
    const auto use = [&](const Argument& argument, int count) {
      VisitValues(p_, argument, [&](ValueId id) { uses_[id] += count; });
    };
    for (const Argument& output : p_.main().outputs) use(output, 1);
    for (const Item& item : items_) {
      if (p_.is_drop(item.node)) continue;
      for (const Argument& argument : p_.args(item.node)) use(argument, 1);
    }
    for (std::size_t i = items_.size(); i-- > 0;) {
      Item& item = items_[i];
      if (!item.casts || uses_[p_.results(item.node)[0]] > 0) continue;
      item.gone = true;
      for (const Argument& argument : p_.args(item.node)) use(argument, -1);
    }
  }

  // The items in order, and after the last use of each value what lets it go.
  void Write(std::span<const std::size_t> place) {
    const std::vector<std::size_t> last = LastUses();
    std::vector<std::vector<Node>> after(items_.size());
    const auto let_go = [&](ValueId id, std::size_t at, Node node) {
      const std::array args{Argument::OfValue(id)};
      node.op = p_.AddOpName(kDropMark);
      node.arguments = p_.AddArguments(args);
      node.outputs = {0, 0};
      after[at].push_back(node);
    };
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!p_.is_drop(items_[i].node)) continue;
      const ValueId id = p_.args(items_[i].node)[0].value;
      const auto instead = instead_.find(id);
      if (instead != instead_.end()) let_go(instead->second, i, items_[i].node);
      if (instead != instead_.end() && instead->second == SourceOf(id)) continue;
      if (exists_[id]) let_go(id, std::max(i, last[id]), items_[i].node);
    }
    for (const ValueId id : made_) {
      const bool kept =
          std::ranges::any_of(instead_, [&](const auto& x) { return x.second == id; });
      if (exists_[id] && !kept) let_go(id, last[id], items_[last[id]].node);
    }
    std::vector<NodeId> begin;  // of what each item became
    std::vector<Node>& nodes = p_.main().nodes;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      begin.push_back(static_cast<NodeId>(nodes.size()));
      if (!items_[i].gone && !p_.is_drop(items_[i].node)) nodes.push_back(items_[i].node);
      nodes.insert(nodes.end(), after[i].begin(), after[i].end());
    }
    begin.push_back(static_cast<NodeId>(nodes.size()));
    p_.whole_calls.clear();  // whose steps take other dtypes now than their arguments have
    if (p_.repeat.count == 0) return;
    const NodeId end = begin[place[p_.repeat.first + p_.repeat.count]];
    p_.repeat.first = begin[place[p_.repeat.first]];
    p_.repeat.count = end - p_.repeat.first;
  }

  // The item that reads a value last, or makes it where none does. Fills `exists_`.
  std::vector<std::size_t> LastUses() {
    std::vector<std::size_t> last(p_.values.size(), 0);
    exists_.assign(p_.values.size(), false);
    for (const ValueId id : p_.main().inputs) exists_[id] = true;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.gone || p_.is_drop(item.node)) continue;
      for (const ValueId id : p_.results(item.node)) {
        if (id == kNoId) continue;
        exists_[id] = true;
        last[id] = i;
      }
      for (const Argument& argument : p_.args(item.node)) {
        VisitValues(p_, argument, [&](ValueId id) { last[id] = i; });
      }
    }
    return last;
  }

  void NoteUnlisted() {
    if (unlisted_.empty()) return;
    std::vector<std::pair<std::string, int>> most(unlisted_.begin(), unlisted_.end());
    std::ranges::stable_sort(most, std::greater(), [](const auto& one) { return one.second; });
    const std::string names = Listed(most.size(), kListed, [&](std::size_t i) {
      return fmt::format("{} ({}×)", most[i].first, most[i].second);
    });
    p_.notes.push_back(p_.strings.Intern(
        fmt::format("the policy {} has no rule for, and leaves in their dtypes: {}",
                    NameOf(CastPolicy::kRaf), names)));
  }

  Program p_;
  std::vector<const OpDef*> rows_;  // by OpId
  const DType low_, results_;
  const Target& target_;
  const std::vector<NamedCast> overrides_;
  std::vector<DType> before_;      // by value: without casts
  std::vector<bool> overwritten_;  // by storage of the program as it came: at some time
  std::vector<ValueId> source_;    // by value: what it is a cast of; kNoId for all others
  std::map<std::pair<ValueId, DType>, ValueId> kept_;  // casts that kernels share
  std::vector<Item> items_;
  std::vector<ValueId> made_;            // by casts of this pass
  std::map<ValueId, ValueId> instead_;   // of a result: what the caller gets
  std::map<std::string, int> unlisted_;  // calls of operators without a rule
  std::vector<int> uses_;                // by value
  std::vector<bool> exists_;             // by value
  int casts_ = 0;
};

}  // namespace

std::string_view NameOf(CastPolicy policy) {
  switch (policy) {
    case CastPolicy::kTorch:
      return "torch";
    case CastPolicy::kRaf:
      return "raf";
  }
  __builtin_unreachable();
}

std::optional<CastPolicy> CastPolicyNamed(std::string_view name) {
  for (const CastPolicy policy : {CastPolicy::kTorch, CastPolicy::kRaf}) {
    if (NameOf(policy) == name) return policy;
  }
  return std::nullopt;
}

Result<Program> CastKernels(Program kernels, const AmpOptions& options, const Target& target) {
  SY_RETURN_IF_ERROR(CheckAmp(options));
  if (!options.dtype) return kernels;
  std::vector<NamedCast> overrides;
  for (const CastOverride& cast : options.casts) {
    SY_ASSIGN_OR_RETURN(NamedCast named, FindNamed(kernels, cast));
    overrides.push_back(std::move(named));
  }
  return Caster(std::move(kernels), options, target, std::move(overrides)).Run();
}

}  // namespace steelyard
