// SPDX-License-Identifier: Apache-2.0
//
// Groups are found by numbers: names and texts of inputs are compared once for each call that is
// another, not for each span.
#include "record/key_averages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace steelyard {
namespace {

// Seconds; a record that says more is damaged.
constexpr double kLongest = 1e9;
constexpr std::string_view kStep = "ProfilerStep#";

// "[[2, 3], []]": a list of tensors stands as [], as in PyTorch's tables.
std::string TextOfSizes(const std::vector<RecordedInput>& inputs) {
  std::string text = "[";
  for (const RecordedInput& input : inputs) {
    if (text.size() > 1) text += ", ";
    text += input.sizes.starts_with("[[") ? "[]" : input.sizes;
  }
  return text + "]";
}

// Ids of texts.
class Texts {
 public:
  std::uint32_t Of(std::string text) {
    const auto [found, is_new] =
        ids_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(found->first);
    return found->second;
  }
  const std::string& operator[](std::uint32_t id) const { return texts_[id]; }

 private:
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_;
};

// What the program did is told with and without its own names.
bool IsTold(const Span& span, bool functions) {
  if (span.kind == SpanKind::kModule) return false;
  return functions || span.kind != SpanKind::kFunction;
}

class Averager {
 public:
  Averager(const Spans& spans, const std::vector<std::int64_t>& flops,
           const KeyAverageOptions& options)
      : spans_(spans), flops_(flops), options_(options), stacks_(spans), told_(spans.spans.size()) {
    for (const std::string& name : spans.names) {
      names_.push_back(texts_.Of(name.starts_with(kStep) ? "ProfilerStep*" : name));
    }
  }

  std::vector<KeyAverage> Average() && {
    FindToldChildren();
    FindDevice();
    SumInside();
    for (std::uint32_t s = 0; s < spans_.spans.size(); ++s) Add(s);
    AddMemoryOutside();
    AddDevice();
    return std::move(rows_);
  }

 private:
  // What counts inside another span: what is told and nearest to it. Functions of Python and
  // modules are looked through, so that time is not theirs unless they are asked for.
  struct Told {
    std::uint32_t parent = SY_NO_ID;
    std::uint32_t children = 0;
    std::uint64_t inner = 0;
    std::int64_t bytes = 0;                   // of all that is in it
    std::int64_t own_bytes = 0;               // and in nothing told inside it
    std::int64_t device = 0, own_device = 0;  // nanoseconds, as bytes
  };

  void FindToldChildren() {
    for (std::uint32_t s = 0; s < spans_.spans.size(); ++s) {
      const Span& span = spans_.spans[s];
      std::uint32_t parent = span.parent;
      if (parent != SY_NO_ID && !IsTold(spans_.spans[parent], options_.functions)) {
        parent = told_[parent].parent;
      }
      told_[s].parent = parent;
      told_[s].own_bytes += span.bytes;
      const bool told = IsTold(span, options_.functions);
      if (!told && parent != SY_NO_ID) told_[parent].own_bytes += span.bytes;
      if (!told || parent == SY_NO_ID) continue;
      ++told_[parent].children;
      told_[parent].inner += span.end - span.begin;
    }
  }

  void FindDevice() {
    for (const DeviceSpan& device : spans_.device) {
      std::uint32_t span = device.span;
      if (span != SY_NO_ID && !IsTold(spans_.spans[span], options_.functions)) {
        span = told_[span].parent;
      }
      if (span != SY_NO_ID) told_[span].own_device += Nanoseconds(device.end - device.begin);
    }
  }

  void SumInside() {
    for (std::size_t s = told_.size(); s-- > 0;) {
      told_[s].bytes += told_[s].own_bytes;
      told_[s].device += told_[s].own_device;
      const bool told = IsTold(spans_.spans[s], options_.functions);
      if (!told || told_[s].parent == SY_NO_ID) continue;
      told_[told_[s].parent].bytes += told_[s].bytes;
      told_[told_[s].parent].device += told_[s].device;
    }
  }

  // PyTorch's tables leave out a span that is all there is in one of its name.
  bool IsRepeated(std::uint32_t s) const {
    const std::uint32_t parent = told_[s].parent;
    return parent != SY_NO_ID && told_[parent].children == 1 &&
           spans_.spans[parent].name == spans_.spans[s].name;
  }

  void Add(std::uint32_t s) {
    const Span& span = spans_.spans[s];
    if (!IsTold(span, options_.functions)) return;
    if (IsRepeated(s)) {
      // What it did itself its outer namesake did.
      if (const auto found = row_of_.find(told_[s].parent); found != row_of_.end()) {
        KeyAverage& row = rows_[found->second];
        AddOwn(row, s);
        row_of_[s] = found->second;
      }
      return;
    }
    const std::size_t at = RowOf(s);
    KeyAverage& row = rows_[at];
    ++row.count;
    row.nanoseconds += Nanoseconds(span.end - span.begin);
    row.bytes += told_[s].bytes;
    row.device_nanoseconds += told_[s].device;
    AddOwn(row, s);
    // The only child may be left out, and then belongs here.
    if (told_[s].children == 1) row_of_[s] = at;
  }

  void AddOwn(KeyAverage& row, std::uint32_t s) const {
    const Span& span = spans_.spans[s];
    const std::uint64_t ticks = span.end - span.begin;
    row.own_nanoseconds += Nanoseconds(ticks) - Nanoseconds(std::min(ticks, told_[s].inner));
    row.own_bytes += told_[s].own_bytes;
    row.own_device_nanoseconds += told_[s].own_device;
    if (!flops_.empty()) row.flops += flops_[s];
  }

  using Key = std::tuple<std::uint32_t, SpanKind, std::uint32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t>;
  struct HashKey {
    std::size_t operator()(const Key& key) const {
      const auto& [name, kind, inputs, stack, module, overload] = key;
      std::uint64_t hash = name;
      for (const std::uint64_t part :
           {static_cast<std::uint64_t>(kind), std::uint64_t{inputs}, std::uint64_t{stack},
            std::uint64_t{module}, std::uint64_t{overload}}) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32u;
      }
      return hash;
    }
  };

  std::size_t RowOf(std::uint32_t s) {
    const Span& span = spans_.spans[s];
    // The program's own stretches are no operators, and all else is one kind.
    const SpanKind kind = span.kind == SpanKind::kRange || span.kind == SpanKind::kFunction
                              ? span.kind
                              : SpanKind::kOp;
    const std::uint32_t stack = options_.stack_depth > 0 ? StackOf(s) : 0;
    const std::uint32_t module = options_.by_module ? span.module : 0;
    const Key key{names_[span.name], kind, InputsOf(span), stack, module, OverloadOf(span)};
    const auto [found, is_new] = index_.try_emplace(key, rows_.size());
    if (is_new) {
      KeyAverage& row = rows_.emplace_back();
      row.name = texts_[names_[span.name]];
      row.kind = span.kind;
      row.outermost = told_[s].parent == SY_NO_ID;
      row.inputs = texts_[std::get<2>(key)];
      row.overload = texts_[std::get<5>(key)];
      if (options_.stack_depth > 0) row.stack = stack_lists_[stack];
      if (options_.by_module) row.module = ModuleName(span.module);
    }
    return found->second;
  }

  std::uint32_t InputsOf(const Span& span) {
    if (!options_.by_inputs || span.inputs == 0) return texts_.Of({});
    const auto [found, is_new] = inputs_.try_emplace(span.inputs, 0);
    if (is_new) {
      const auto known = spans_.recording.inputs.find(span.inputs);
      found->second = texts_.Of(
          known == spans_.recording.inputs.end() ? std::string() : TextOfSizes(known->second));
    }
    return found->second;
  }

  std::uint32_t OverloadOf(const Span& span) {
    if (!options_.by_overload || span.call == 0) return texts_.Of({});
    const auto [found, is_new] = overloads_.try_emplace(span.call, 0);
    if (is_new) found->second = texts_.Of(std::string(OverloadOfSpan(spans_, span)));
    return found->second;
  }

  std::uint32_t StackOf(std::uint32_t s) {
    std::vector<std::uint32_t> names =
        stacks_.Of(s, static_cast<std::size_t>(options_.stack_depth));
    const auto [found, is_new] =
        stack_ids_.try_emplace(names, static_cast<std::uint32_t>(stack_lists_.size()));
    if (is_new) {
      std::vector<std::string>& list = stack_lists_.emplace_back();
      for (const std::uint32_t name : names) list.push_back(spans_.names[name]);
    }
    return found->second;
  }

  std::string ModuleName(std::uint32_t module) const {
    if (module >= spans_.recording.modules.size()) return {};
    const RecordedModule& of = spans_.recording.modules[module];
    return of.path.empty() ? of.class_name : of.path;
  }

  void AddMemoryOutside() {
    KeyAverage row;
    row.name = "[memory]";
    row.outermost = true;
    for (const MemoryChange& change : spans_.memory) {
      if (change.span != SY_NO_ID) continue;
      ++row.count;
      row.bytes += change.bytes;
      row.own_bytes += change.bytes;
    }
    if (row.count > 0) rows_.push_back(std::move(row));
  }

  // What devices ran stands in rows of its own, too, as in PyTorch's tables.
  void AddDevice() {
    std::unordered_map<std::uint32_t, std::size_t> rows;  // by name
    for (const DeviceSpan& device : spans_.device) {
      const auto [found, is_new] = rows.try_emplace(device.name, rows_.size());
      if (is_new) {
        KeyAverage& made = rows_.emplace_back();
        made.name = spans_.names[device.name];
        made.on_device = made.outermost = true;
      }
      KeyAverage& row = rows_[found->second];
      ++row.count;
      row.device_nanoseconds += Nanoseconds(device.end - device.begin);
      row.own_device_nanoseconds = row.device_nanoseconds;
    }
  }

  std::int64_t Nanoseconds(std::uint64_t ticks) const {
    return std::llround(std::min(spans_.recording.Seconds(ticks), kLongest) * 1e9);
  }

  const Spans& spans_;
  const std::vector<std::int64_t>& flops_;
  const KeyAverageOptions& options_;
  Stacks stacks_;
  std::vector<Told> told_;
  Texts texts_;
  std::vector<std::uint32_t> names_;  // by name of a span
  std::unordered_map<std::uint64_t, std::uint32_t> inputs_, overloads_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> stack_ids_;
  std::vector<std::vector<std::string>> stack_lists_;
  std::unordered_map<Key, std::size_t, HashKey> index_;
  std::unordered_map<std::uint32_t, std::size_t> row_of_;  // by span
  std::vector<KeyAverage> rows_;
};

}  // namespace

std::vector<std::int64_t> OwnFlops(const Spans& spans, const FlopsOfCall& flops) {
  if (!flops) return {};
  std::unordered_map<std::uint64_t, std::optional<std::int64_t>> known;
  std::vector<std::int64_t> own(spans.spans.size(), 0);
  std::vector<std::int64_t> inside(spans.spans.size(), 0);  // of what a span calls
  for (std::size_t s = spans.spans.size(); s-- > 0;) {
    const Span& span = spans.spans[s];
    std::int64_t all = inside[s];
    if (span.kind == SpanKind::kOp && !span.failed) {
      const auto [found, is_new] = known.try_emplace(span.call);
      if (is_new) {
        const auto call = spans.recording.calls.find(span.call);
        if (call != spans.recording.calls.end()) found->second = flops(call->second);
      }
      all = std::max(all, found->second.value_or(0));
    }
    own[s] = all - inside[s];
    if (span.parent != SY_NO_ID) inside[span.parent] += all;
  }
  return own;
}

std::vector<std::int64_t> BytesInside(const Spans& spans) {
  std::vector<std::int64_t> bytes(spans.spans.size(), 0);
  for (std::size_t s = spans.spans.size(); s-- > 0;) {
    const Span& span = spans.spans[s];
    bytes[s] += span.bytes;
    if (span.parent != SY_NO_ID) bytes[span.parent] += bytes[s];
  }
  return bytes;
}

std::string_view OverloadOfSpan(const Spans& spans, const Span& span) {
  const auto call = spans.recording.calls.find(span.call);
  return call == spans.recording.calls.end() ? std::string_view()
                                             : NameOfCall(call->second).overload;
}

std::vector<KeyAverage> KeyAverages(const Spans& spans, const std::vector<std::int64_t>& own_flops,
                                    const KeyAverageOptions& options) {
  return Averager(spans, own_flops, options).Average();
}

Stacks::Stacks(const Spans& spans) : spans_(spans), makers_(spans.threads.size()) {
  for (std::uint32_t s = 0; s < spans.spans.size(); ++s) {
    const Span& span = spans.spans[s];
    if (span.kind != SpanKind::kOp || span.sequence == SY_NO_SEQUENCE) continue;
    auto& made = makers_[span.thread];
    // Of several operators that say so the last one makes it.
    if (!made.empty() && made.back().first == span.sequence) {
      made.back().second = s;
    } else {
      made.emplace_back(span.sequence, s);
    }
  }
  for (auto& made : makers_)
    std::ranges::stable_sort(made, {}, &std::pair<std::uint64_t, std::uint32_t>::first);
}

std::uint32_t Stacks::MakerOf(const Span& node) const {
  if (node.sequence == SY_NO_SEQUENCE || node.kind != SpanKind::kNode) return SY_NO_ID;
  for (std::size_t t = 0; t < spans_.threads.size(); ++t) {
    if (spans_.threads[t] != node.forward_thread) continue;
    const auto& made = makers_[t];
    const auto after = std::ranges::upper_bound(made, node.sequence, {},
                                                &std::pair<std::uint64_t, std::uint32_t>::first);
    if (after == made.begin() || std::prev(after)->first != node.sequence) continue;
    // Before the node, or the record is damaged.
    const std::uint32_t maker = std::prev(after)->second;
    if (spans_.spans[maker].begin < node.begin) return maker;
  }
  return SY_NO_ID;
}

std::vector<std::uint32_t> Stacks::Of(std::uint32_t span, std::size_t most) const {
  std::vector<std::uint32_t> names;
  for (std::uint32_t at = span; at != SY_NO_ID && names.size() < most;) {
    const Span& here = spans_.spans[at];
    if (at != span && (here.kind == SpanKind::kFunction || here.kind == SpanKind::kModule)) {
      names.push_back(here.name);
    }
    const std::uint32_t maker = MakerOf(here);
    at = maker != SY_NO_ID ? maker : here.parent;
  }
  return names;
}

}  // namespace steelyard
