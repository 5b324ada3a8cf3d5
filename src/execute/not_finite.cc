// SPDX-License-Identifier: Apache-2.0
//
// Every storage that holds NaN or infinity has where these came from. What a kernel makes of
// operands that hold some is theirs; what it makes of others is its own. A kernel that writes all
// of a storage decides what it holds from then on; one that writes a part only adds to it.
#include "execute/not_finite.h"

#include <unordered_map>
#include <utility>

#include "execute/numbers.h"
#include "ir/visit_values.h"

namespace steelyard {
namespace {

// What a storage holds.
struct Held {
  NotFinite of = {};
  std::int64_t bytes = 0;
};

class Search {
 public:
  explicit Search(Execution& execution) : execution_(execution), kernels_(execution.kernels()) {
    for (const Resident& resident : execution.residents()) {
      const NotNumbers found = Look(resident.value);
      Held& held = HeldBy(resident.value);
      if (found.nan) held.of.nan = Origin{.tensor = resident.name};
      if (found.infinity) held.of.infinity = Origin{.tensor = resident.name};
    }
  }

  // After node `id` has run.
  void Visit(NodeId id) {
    const Node& node = kernels_.main().nodes[id];
    const WholeCall* whole = kernels_.whole_call(id);
    if (kernels_.is_drop(node) || (whole != nullptr && whole->first != id)) return;
    const Operands operands = OperandsOf(whole != nullptr ? whole->arguments : node.arguments);
    const Argument::Run results = whole != nullptr ? whole->outputs : node.outputs;
    for (std::uint32_t i = 0; i < results.count; ++i) {
      const ValueId result = kernels_.outputs[results.begin + i];
      if (result == kNoId || kernels_.values[result].kind != ValueKind::kTensor) continue;
      // What a tensor is made with, before anything is written to it, may be any bits.
      NotNumbers found = Look(result);
      if (!operands.any) found.nan = false;
      Put(id, result, found, operands.of);
    }
  }

  const NotFinite& Of(ValueId value) { return HeldBy(value).of; }

 private:
  struct Operands {
    NotFinite of = {};  // of the first that holds some
    bool any = false;
  };

  Operands OperandsOf(Argument::Run arguments) {
    Operands operands;
    const auto add = [&](ValueId id) {
      if (kernels_.values[id].kind != ValueKind::kTensor) return;
      operands.any = true;
      const NotFinite& held = HeldBy(id).of;
      if (held.nan && !operands.of.nan) operands.of = held;
      if (held.infinity && !operands.of.infinity) operands.of.infinity = held.infinity;
    };
    for (const Argument& argument : kernels_.list(arguments)) VisitValues(kernels_, argument, add);
    return operands;
  }

  void Put(NodeId id, ValueId result, const NotNumbers& found, const NotFinite& of_operands) {
    NotFinite of;
    // An infinity that operands held is told of a NaN that was made of it, too.
    if (found.nan) {
      of = of_operands;
      if (!of.nan) of.nan = Origin{.kernel = id};
    }
    if (found.infinity && !of.infinity) {
      of.infinity = of_operands.infinity ? of_operands.infinity : Origin{.kernel = id};
    }
    Held& held = HeldBy(result);
    const bool writes_all = BytesOf(result) >= held.bytes;
    if (writes_all || (of.nan && !held.of.nan)) held.of = of;
    if (of.infinity && !held.of.infinity) held.of.infinity = of.infinity;
  }

  Held& HeldBy(ValueId value) {
    const auto [entry, is_new] = by_storage_.try_emplace(kernels_.values[value].storage);
    if (is_new) entry->second.bytes = BytesOf(value);
    return entry->second;
  }

  std::int64_t BytesOf(ValueId value) const {
    return StorageBytes(kernels_.values[value].dtype, kernels_.sizes(value),
                        kernels_.strides(value));
  }

  // Neither of what is not there, or no number.
  NotNumbers Look(ValueId value) {
    const Result<SyElements> elements = execution_.Read(value);
    return elements ? FindNotNumbers(*elements) : NotNumbers();
  }

  Execution& execution_;
  const Program& kernels_;
  std::unordered_map<std::uint32_t, Held> by_storage_;
};

}  // namespace

Result<NotFinite> FindNotFinite(Execution& execution, ValueId loss, NodeId before,
                                const SyRecord& record) {
  execution.Clear();
  Search search(execution);
  Status run;
  for (NodeId id = 0; id < before && run; ++id) {
    run = execution.Run(id, id + 1, record);
    if (run) search.Visit(id);
  }
  execution.Clear();
  if (!run) return Unexpected(std::move(run).error());
  return search.Of(loss);
}

}  // namespace steelyard
