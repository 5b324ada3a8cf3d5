// SPDX-License-Identifier: Apache-2.0
//
// Threads are read one by one, each with a stack of what is open; only memory and which module made
// a node join them: those are looked at when all have been read.
#include "record/spans.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "record/sequence_ranges.h"

namespace steelyard {
namespace {

class Names {
 public:
  explicit Names(Spans& result) : result_(result) {}

  std::uint32_t OfCall(std::uint64_t call) {
    const auto [found, is_new] = by_call_.try_emplace(call, 0);
    if (is_new) {
      const auto described = result_.recording.calls.find(call);
      const bool known = described != result_.recording.calls.end();
      found->second = Intern(known ? std::string(NameOfCall(described->second).name) : "(unknown)");
    }
    return found->second;
  }
  std::uint32_t OfText(std::uint32_t id) {
    const auto [found, is_new] = by_text_.try_emplace(id, 0);
    if (is_new) {
      const auto described = result_.recording.names.find(id);
      found->second =
          Intern(described == result_.recording.names.end() ? "(unknown)" : described->second);
    }
    return found->second;
  }
  std::uint32_t OfModule(std::uint32_t module) {
    const auto [found, is_new] = by_module_.try_emplace(module, 0);
    if (is_new) {
      const RecordedModule& of = result_.recording.modules[module];
      found->second = Intern("nn.Module: " + (of.path.empty() ? "" : of.path + " ") + "(" +
                             of.class_name + ")");
    }
    return found->second;
  }
  std::uint32_t Intern(std::string text) {
    const auto [found, is_new] =
        ids_.try_emplace(text, static_cast<std::uint32_t>(result_.names.size()));
    if (is_new) result_.names.push_back(std::move(text));
    return found->second;
  }

 private:
  Spans& result_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_call_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_text_, by_module_;
};

class Finder {
 public:
  explicit Finder(Recording recording) : names_(result_) {
    result_.recording = std::move(recording);
    accumulating_ = names_.Intern("torch::autograd::AccumulateGrad");
  }

  Spans Find() && {
    std::vector<Recording::Thread> threads = std::move(result_.recording.threads);
    result_.recording.threads.clear();
    std::size_t events = 0;
    for (const Recording::Thread& thread : threads) events += thread.events.size();
    result_.spans.reserve(events / 2 + 1);
    result_.events = events;
    for (const Recording::Thread& thread : threads) {
      first_span_.push_back(static_cast<std::uint32_t>(result_.spans.size()));
      system_.push_back(thread.system);
      Read(thread);
    }
    first_span_.push_back(static_cast<std::uint32_t>(result_.spans.size()));
    FindModulesOfNodes();
    Balance();
    for (const SyKernel& kernel : result_.recording.kernels) AddKernel(kernel);
    std::ranges::stable_sort(result_.device, {}, &DeviceSpan::begin);
    return std::move(result_);
  }

 private:
  void Read(const Recording::Thread& thread) {
    thread_ = static_cast<std::uint16_t>(result_.threads.size());
    result_.threads.push_back(thread.id);
    now_ = 0;
    for (const SyEvent& event : thread.events) {
      now_ = std::max(now_, event.time);
      Handle(event);
    }
    now_ = std::max(now_, result_.recording.last_tick);
    while (!open_.empty()) Close(now_);
  }

  void Handle(const SyEvent& event) {
    switch (static_cast<SyEventKind>(event.kind)) {
      case SY_MODULE_ENTER:
      case SY_MODULE_LEAVE:
        return Module(event);
      case SY_NODE_ENTER:
        Begin(SpanKind::kNode, names_.OfText(event.id));
        Number(event.key, event.thread);
        return;
      case SY_ACCUMULATE_ENTER:
        Begin(SpanKind::kNode, accumulating_);
        parameters_.emplace_back(open_.back(), event.key);
        return;
      case SY_NODE_LEAVE:
      case SY_ACCUMULATE_LEAVE:
        return End(SpanKind::kNode);
      case SY_INPUTS:
        if (!open_.empty()) result_.spans[open_.back()].inputs = event.key;
        return;
      case SY_OP_ENTER:
        Begin(SpanKind::kOp, names_.OfCall(event.key));
        result_.spans.back().call = result_.spans.back().inputs = event.key;
        if (event.amount > 0) result_.spans.back().sequence = event.amount - 1;
        return;
      case SY_OP_LEAVE:
        if (event.flags == SY_THROWN) TakeBack();
        return End(SpanKind::kOp);
      case SY_RANGE_ENTER:
        Begin(KindOf(event.flags), names_.OfText(event.id));
        return;
      case SY_RANGE_LEAVE:
        return End(KindOf(event.flags), names_.OfText(event.id));
      case SY_ALLOCATE:
      case SY_FREE:
        return Memory(event);
      case SY_OPTIMIZER_ENTER:
      case SY_OPTIMIZER_LEAVE:
        return Optimizer(event);
      case SY_MARK:
      case SY_STEP:
      case SY_OPS_BEGIN:
      case SY_OPS_END:
      case SY_RESERVE:
      case SY_UNRESERVE:
      case SY_TIME:
      case SY_NO_EVENT:
        return;
    }
  }

  static SpanKind KindOf(std::uint8_t range) {
    if (range == SY_ENGINE_RANGE) return SpanKind::kEngine;
    return range == SY_FUNCTION_RANGE ? SpanKind::kFunction : SpanKind::kRange;
  }

  void Begin(SpanKind kind, std::uint32_t name) {
    const std::uint32_t parent = open_.empty() ? SY_NO_ID : open_.back();
    Span span{.begin = now_, .name = name, .parent = parent, .thread = thread_, .kind = kind};
    if (parent != SY_NO_ID) {
      ++result_.spans[parent].children;
      span.module = result_.spans[parent].module;
    }
    open_.push_back(static_cast<std::uint32_t>(result_.spans.size()));
    result_.spans.push_back(span);
    allocated_.push_back(false);
  }

  // The node that has begun, and what PyTorch's engine does around it.
  void Number(std::uint64_t sequence, std::uint16_t thread) {
    Span& node = result_.spans.back();
    node.sequence = sequence;
    node.forward_thread = thread;
    if (node.parent == SY_NO_ID) return;
    Span& around = result_.spans[node.parent];
    if (around.kind != SpanKind::kEngine || around.sequence != SY_NO_SEQUENCE) return;
    around.sequence = sequence;
    around.forward_thread = thread;
  }

  // Ends the innermost of its kind and, if one is given, its name, with what is open inside it.
  void End(SpanKind kind, std::uint32_t name = SY_NO_ID) {
    std::size_t keep = open_.size();
    const auto fits = [&](const Span& span) {
      return span.kind == kind && (name == SY_NO_ID || span.name == name);
    };
    while (keep > 0 && !fits(result_.spans[open_[keep - 1]])) --keep;
    if (keep == 0) return;
    // What a function has begun for its caller, as `__enter__` does, goes on without it: where that
    // begins the function ends.
    std::vector<std::uint32_t> going_on;
    while (open_.size() >= keep) {
      const std::uint32_t span = open_.back();
      if (kind == SpanKind::kFunction && result_.spans[span].kind == SpanKind::kRange) {
        open_.pop_back();
        going_on.insert(going_on.begin(), span);
      } else {
        Close(going_on.empty() ? now_ : result_.spans[going_on.front()].begin);
      }
    }
    for (const std::uint32_t span : going_on) HandOver(span);
  }

  // The innermost operator has ended by an exception: before it computed, unless it has allocated
  // its result (record/replay.cc says when).
  void TakeBack() {
    for (const std::uint32_t open : std::views::reverse(open_)) {
      Span& span = result_.spans[open];
      if (span.kind != SpanKind::kOp) continue;
      span.failed = !allocated_[open];
      if (!span.failed && span.parent != SY_NO_ID) allocated_[span.parent] = true;
      return;
    }
  }

  // It is in what is open.
  void HandOver(std::uint32_t id) {
    Span& span = result_.spans[id];
    --result_.spans[span.parent].children;
    span.parent = open_.empty() ? SY_NO_ID : open_.back();
    if (span.parent != SY_NO_ID) ++result_.spans[span.parent].children;
    open_.push_back(id);
  }

  void Close(std::uint64_t end) {
    Span& span = result_.spans[open_.back()];
    open_.pop_back();
    span.end = end;
    if (span.parent != SY_NO_ID) result_.spans[span.parent].inner += span.end - span.begin;
  }

  void Module(const SyEvent& event) {
    if (event.id >= result_.recording.modules.size()) return;
    const std::uint32_t name = names_.OfModule(event.id);
    if (event.kind == SY_MODULE_ENTER) {
      Begin(SpanKind::kModule, name);
      result_.spans.back().module = event.id;
      ranges_.Begin(result_.threads[thread_], event.key, event.id);
      return;
    }
    End(SpanKind::kModule, name);
    const std::uint32_t around = open_.empty() ? SY_NO_ID : result_.spans[open_.back()].module;
    ranges_.Begin(result_.threads[thread_], event.key, around);
  }

  // As PyTorch names the range of its own, which stands in a record of ranges.
  void Optimizer(const SyEvent& event) {
    const std::vector<std::string>& optimizers = result_.recording.optimizers;
    if (result_.recording.has_ranges || event.id >= optimizers.size()) return;
    const std::uint32_t name = names_.Intern("Optimizer.step#" + optimizers[event.id] + ".step");
    event.kind == SY_OPTIMIZER_ENTER ? Begin(SpanKind::kRange, name) : End(SpanKind::kRange, name);
  }

  void Memory(const SyEvent& event) {
    if (event.kind == SY_ALLOCATE && !open_.empty()) {
      // What an operator is given by one that allocates alone, such as `empty`, is its own, too.
      const Span& span = result_.spans[open_.back()];
      allocated_[open_.back()] = true;
      if (span.kind == SpanKind::kOp && span.parent != SY_NO_ID) allocated_[span.parent] = true;
    }
    if (event.thread != SY_HOST) return;
    result_.memory.push_back(
        {.tick = now_,
         .address = event.key,
         .bytes = event.kind == SY_ALLOCATE ? static_cast<std::int64_t>(event.amount) : 0,
         .span = open_.empty() ? SY_NO_ID : open_.back(),
         .thread = thread_});
  }

  // A node is of the module that made it, and so is what it runs.
  void FindModulesOfNodes() {
    if (result_.recording.modules.empty()) return;
    std::unordered_map<std::uint64_t, std::uint32_t> module_of;  // by the parameter's address
    for (const RecordedTensor& tensor : result_.recording.tensors) {
      if (tensor.address != 0) module_of[tensor.address] = tensor.module;
    }
    for (const auto& [span, address] : parameters_) {
      const auto found = module_of.find(address);
      if (found != module_of.end()) result_.spans[span].module = found->second;
    }
    for (Span& span : result_.spans) {
      const bool has_own = span.kind == SpanKind::kModule ||
                           (span.kind == SpanKind::kNode && span.sequence == SY_NO_SEQUENCE);
      if (has_own) continue;
      if (span.parent != SY_NO_ID) span.module = result_.spans[span.parent].module;
      if (span.kind == SpanKind::kNode || span.kind == SpanKind::kEngine) {
        span.module = ranges_.Find(span.forward_thread, span.sequence).value_or(span.module);
      }
    }
  }

  // What was there, and how much at each moment. What is freed without having been seen is left
  // out.
  void Balance() {
    std::vector<MemoryChange>& changes = result_.memory;
    std::ranges::stable_sort(changes, {}, &MemoryChange::tick);
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
    std::unordered_map<std::uint64_t, std::int64_t> live;
    std::int64_t total = 0;
    for (MemoryChange& change : changes) {
      // No process holds so much: what a damaged record says is not to be summed.
      if (change.bytes < 0 || change.bytes > kMostBytes - total) change.bytes = 0;
      if (change.bytes > 0) {
        live[change.address] = change.bytes;
      } else if (const auto found = live.find(change.address); found != live.end()) {
        change.bytes = -found->second;
        live.erase(found);
      }
      total += change.bytes;
      change.total = total;
      if (change.span != SY_NO_ID) result_.spans[change.span].bytes += change.bytes;
    }
    std::erase_if(changes, [](const MemoryChange& change) { return change.bytes == 0; });
  }

  void AddKernel(const SyKernel& kernel) {
    DeviceSpan& span = result_.device.emplace_back();
    span.begin = kernel.begin;
    span.end = kernel.end;
    span.bytes = kernel.bytes;
    span.name = names_.OfText(kernel.name);
    span.stream = kernel.stream;
    span.device = kernel.device;
    span.kind = static_cast<SyKernelKind>(kernel.kind);
    const auto asked = std::ranges::find(system_, kernel.thread);
    const bool is_only = system_.size() == 1;
    if (kernel.asked == 0 || (asked == system_.end() && !is_only)) return;
    span.asked = kernel.asked;
    span.asked_end = kernel.asked_end;
    span.call = names_.OfText(kernel.call);
    const auto thread =
        is_only ? std::size_t{0} : static_cast<std::size_t>(asked - system_.begin());
    span.thread = static_cast<std::uint16_t>(thread);
    span.span = OpenAt(thread, AskedAt(kernel));
  }

  // The innermost span of the thread at that time.
  std::uint32_t OpenAt(std::size_t thread, std::uint64_t time) const {
    const auto of_thread =
        std::span(result_.spans)
            .subspan(first_span_[thread], first_span_[thread + 1] - first_span_[thread]);
    const auto after = std::ranges::upper_bound(of_thread, time, {}, &Span::begin);
    if (after == of_thread.begin()) return SY_NO_ID;
    auto at = first_span_[thread] + static_cast<std::uint32_t>(after - of_thread.begin()) - 1;
    while (at != SY_NO_ID && result_.spans[at].end < time) at = result_.spans[at].parent;
    return at;
  }

  Spans result_;
  Names names_;
  SequenceRanges ranges_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint32_t> first_span_;  // by thread, and behind the last one
  std::vector<std::uint64_t> system_;      // by thread: its number there
  std::vector<bool> allocated_;            // by span
  std::vector<std::pair<std::uint32_t, std::uint64_t>> parameters_;  // spans, whose gradient grows
  std::uint32_t accumulating_ = 0;
  std::uint64_t now_ = 0;
  std::uint16_t thread_ = 0;
};

}  // namespace

Spans FindSpans(Recording recording) { return Finder(std::move(recording)).Find(); }

}  // namespace steelyard
