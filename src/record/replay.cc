// SPDX-License-Identifier: Apache-2.0
//
// Goes through the events of all threads in the order of their times, with a stack of what is open
// in each: calls of modules, nodes, the optimizer, operators. A stretch of time counts for what is
// innermost, operators aside, so that all parts of a step sum to what it took. What was entered and
// never left (an exception, the end of the record) ends with what it is in.
#include "record/replay.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include "record/kernel_times.h"
#include "record/memory_logs.h"
#include "record/sequence_ranges.h"
#include "record/step_boundaries.h"
#include "record/step_calls.h"

namespace steelyard {
namespace {

enum class Open : std::uint8_t { kModule, kNode, kOptimizer, kOp };

struct Frame {
  Open kind = Open::kModule;
  Phase phase = Phase::kForward;
  bool counted = false;    // an operator that is weighed, or inside one
  bool counts = false;     // an operator that is weighed, the outermost
  bool allocated = false;  // an operator, by itself or by one that it called
  bool itself = false;     // the former
  bool explained = false;  // an operator inside which something computes, or is told to be unknown
  std::uint32_t module = 0;  // `outside` where it is in none
  std::uint32_t name = 0;    // of a node
  std::uint64_t call = 0;    // of an operator
  std::uint64_t begin = 0;   // ticks
  std::uint64_t inner = 0;   // ticks of frames inside it that count for themselves
  std::uint64_t device = 0;  // of what an operator asked a device for
};

struct ThreadState {
  std::uint64_t id = 0;
  std::uint64_t system = 0;
  const std::vector<SyEvent>* events = nullptr;
  std::size_t next = 0;
  std::vector<Frame> stack;
  // Of the nodes that run one after the other, outside of all else.
  std::uint64_t backward_begin = 0, backward_end = 0;
  bool in_backward = false;

  bool done() const { return next == events->size(); }
  std::uint64_t time() const { return (*events)[next].time; }
};

// Whether operators were recorded before the first event that there is: of a record that has let
// its oldest events go, the one that says so may be among these.
bool BeginsWithOps(const Recording& recording) {
  bool any = false;
  const SyEvent* first = nullptr;  // that switches them on or off
  for (const Recording::Thread& thread : recording.threads) {
    for (const SyEvent& event : thread.events) {
      any = any || event.kind == SY_OP_ENTER;
      if (event.kind != SY_OPS_BEGIN && event.kind != SY_OPS_END) continue;
      if (first == nullptr || event.time < first->time) first = &event;
      break;
    }
  }
  return first != nullptr ? first->kind == SY_OPS_END : any;
}

class Player {
 public:
  Player(Recording recording, const TakesCall& takes)
      : takes_(takes), boundaries_(FindStepBoundaries(recording)) {
    result_.recording = std::move(recording);
    result_.boundary = boundaries_.kind;
    result_.modules.resize(result_.recording.modules.size() + 1);
    outside_ = static_cast<std::uint32_t>(result_.outside());
    current_ = result_.modules;
    for (const RecordedTensor& tensor : result_.recording.tensors) {
      if (tensor.address == 0) continue;
      const auto id = static_cast<std::uint32_t>(&tensor - result_.recording.tensors.data());
      tensor_at_[tensor.address] = id;
    }
    step_begin_ = result_.recording.first_tick;
    ops_ = BeginsWithOps(result_.recording);
  }

  Watched Play() && {
    PlayAll();
    return std::move(result_);
  }

  std::vector<MemoryMoment> PlayMemory() && {
    PlayAll();
    return memory_.History();
  }

 private:
  void PlayAll() {
    for (const Recording::Thread& thread : result_.recording.threads) {
      ThreadState& state = threads_.emplace_back();
      state.id = thread.id;
      state.system = thread.system;
      state.events = &thread.events;
      result_.events += thread.events.size();
    }
    while (ThreadState* const thread = Earliest()) {
      const SyEvent& event = (*thread->events)[thread->next++];
      LaunchUntil(event.time);
      EndStepsUntil(event.time);
      Handle(*thread, event);
    }
    LaunchUntil(UINT64_MAX);
    Finish();
  }

  void EndStepsUntil(std::uint64_t time) {
    while (step_ < boundaries_.times.size() && time > boundaries_.times[step_]) {
      EndStep(boundaries_.times[step_]);
    }
  }

  ThreadState* Earliest() {
    ThreadState* earliest = nullptr;
    for (ThreadState& thread : threads_) {
      if (thread.done()) continue;
      if (earliest == nullptr || thread.time() < earliest->time()) earliest = &thread;
    }
    return earliest;
  }

  void Handle(ThreadState& thread, const SyEvent& event) {
    switch (static_cast<SyEventKind>(event.kind)) {
      case SY_MODULE_ENTER:
        return EnterModule(thread, event);
      case SY_MODULE_LEAVE:
        return LeaveModule(thread, event);
      case SY_NODE_ENTER:
      case SY_ACCUMULATE_ENTER:
        return EnterNode(thread, event);
      case SY_NODE_LEAVE:
      case SY_ACCUMULATE_LEAVE:
        return LeaveNode(thread, event);
      case SY_OP_ENTER:
        return EnterOp(thread, event);
      case SY_OP_LEAVE:
        if (event.flags == SY_THROWN) TakeBack(thread);
        return Leave(thread, Open::kOp, event.time);
      case SY_OPTIMIZER_ENTER:
        if (thread.in_backward && thread.stack.empty()) {
          const std::uint64_t end = std::min(thread.backward_end, event.time);
          now_.to_optimizer += result_.recording.Seconds(event.time - end);
        }
        EndBackward(thread);
        thread.stack.push_back({.kind = Open::kOptimizer,
                                .phase = Phase::kOptimizer,
                                .module = outside_,
                                .begin = event.time});
        return;
      case SY_OPTIMIZER_LEAVE:
        if (IsOutermost(thread)) EndBackward(thread);
        return Leave(thread, Open::kOptimizer, event.time);
      case SY_ALLOCATE:
        return Allocate(thread, event);
      case SY_FREE:
        return memory_.Of(event).Free(event.key, PlaceOf(thread));
      case SY_RESERVE:
        return memory_.Reserve(event);
      case SY_UNRESERVE:
        return memory_.Of(event).Reserve(-static_cast<std::int64_t>(event.amount));
      case SY_MARK:
        return Mark(thread, event);
      case SY_OPS_BEGIN:
        ops_ = true;
        if (calls_.is_empty() && now_.forward == 0 && thread.stack.empty()) whole_ops_ = true;
        return;
      case SY_OPS_END:
        ops_ = whole_ops_ = false;
        return;
      case SY_STEP:
      case SY_RANGE_ENTER:
      case SY_RANGE_LEAVE:
      case SY_INPUTS:
      case SY_TIME:
      case SY_NO_EVENT:
        return;
    }
  }

  std::uint32_t ModuleOf(const ThreadState& thread) const {
    return thread.stack.empty() ? outside_ : thread.stack.back().module;
  }
  Phase PhaseOf(const ThreadState& thread) const {
    return thread.stack.empty() ? Phase::kForward : thread.stack.back().phase;
  }
  std::uint32_t Known(std::uint32_t module) const { return std::min(module, outside_); }

  // An optimizer may be given a function that computes the loss: its passes are as any.
  static bool IsOutermost(const ThreadState& thread) {
    return thread.stack.empty() || thread.stack.back().kind == Open::kOptimizer;
  }

  void EnterModule(ThreadState& thread, const SyEvent& event) {
    if (IsOutermost(thread)) EndBackward(thread);
    if (!std::exchange(called_any_, true)) {
      memory_.TakeForInputs();
    }
    const std::uint32_t module = Known(event.id);
    const Phase around = PhaseOf(thread);
    const bool again = around == Phase::kBackward || around == Phase::kRecompute;
    thread.stack.push_back({.kind = Open::kModule,
                            .phase = again ? Phase::kRecompute : Phase::kForward,
                            .module = module,
                            .begin = event.time});
    ranges_.Begin(thread.id, event.key, module);
    if (!again) ++current_[module].calls;
  }

  void LeaveModule(ThreadState& thread, const SyEvent& event) {
    const bool was_recomputing = PhaseOf(thread) == Phase::kRecompute;
    Leave(thread, Open::kModule, event.time, Known(event.id));
    ranges_.Begin(thread.id, event.key, ModuleOf(thread));
    if (was_recomputing && PhaseOf(thread) != Phase::kRecompute) {
      memory_.KeepAllOf(Phase::kRecompute);
    }
  }

  void EnterNode(ThreadState& thread, const SyEvent& event) {
    if (IsOutermost(thread) && !thread.in_backward) {
      thread.in_backward = true;
      thread.backward_begin = event.time;
      memory_.KeepAllOf(Phase::kForward);
    }
    std::uint32_t module = ModuleOf(thread);
    if (event.kind == SY_ACCUMULATE_ENTER) {
      const auto found = tensor_at_.find(event.key);
      parameter_ = found == tensor_at_.end() ? SY_NO_ID : found->second;
      if (parameter_ != SY_NO_ID) module = Known(result_.recording.tensors[parameter_].module);
    } else {
      module = ranges_.Find(event.thread, event.key).value_or(module);
      ranges_.Begin(thread.id, event.amount, module);  // what it makes in turn
    }
    thread.stack.push_back({.kind = Open::kNode,
                            .phase = Phase::kBackward,
                            .module = module,
                            .name = event.id,
                            .begin = event.time});
  }

  void LeaveNode(ThreadState& thread, const SyEvent& event) {
    if (event.kind == SY_ACCUMULATE_LEAVE && event.amount > 0) {
      memory_.Of(event).Mark(event.key, {.bytes = static_cast<std::int64_t>(event.amount),
                                         .category = Category::kGradients,
                                         .tensor = parameter_});
    }
    Leave(thread, Open::kNode, event.time);
    thread.backward_end = event.time;
  }

  void EnterOp(ThreadState& thread, const SyEvent& event) {
    Frame* const around = thread.stack.empty() ? nullptr : &thread.stack.back();
    const bool inside = around != nullptr && around->kind == Open::kOp;
    Frame frame{.kind = Open::kOp,
                .phase = PhaseOf(thread),
                .counted = inside && around->counted,
                .module = ModuleOf(thread),
                .call = event.key,
                .begin = event.time};
    const CallIs known = frame.counted ? CallIs::kUnknown : Takes(event.key);
    if (known != CallIs::kUnknown) {
      frame.counted = frame.counts = true;
      if (known == CallIs::kWorking) Explain(thread);
      // Of the calls inside it nothing is asked.
      calls_.Count(SiteOf(frame));
    }
    thread.stack.push_back(frame);
  }

  // The innermost operator has ended by an exception: before it computed, as one that saves its
  // operands where a checkpoint stops, unless it has allocated, as one that saves its result.
  void TakeBack(ThreadState& thread) {
    if (thread.stack.empty() || thread.stack.back().kind != Open::kOp) return;
    Frame& frame = thread.stack.back();
    if (frame.allocated) {
      if (thread.stack.size() > 1) thread.stack[thread.stack.size() - 2].allocated = true;
      return;
    }
    frame.explained = true;
    if (frame.counts) calls_.TakeBack(SiteOf(frame));
  }

  // What is open there has something inside it that is told of; and so has what is around that.
  static void Explain(ThreadState& thread) {
    for (Frame& frame : std::views::reverse(thread.stack)) {
      if (frame.explained) return;
      frame.explained = true;
    }
  }

  CallIs Takes(std::uint64_t call) {
    const auto [found, is_new] = taken_.try_emplace(call, CallIs::kUnknown);
    if (is_new) {
      const auto described = result_.recording.calls.find(call);
      if (described != result_.recording.calls.end()) found->second = takes_(described->second);
    }
    return found->second;
  }

  static StepCalls::Site SiteOf(const Frame& frame) {
    return {.call = frame.call, .module = frame.module, .phase = frame.phase};
  }

  // --- What devices run --------------------------------------------------------------------------

  // What the program asked for before that time.
  void LaunchUntil(std::uint64_t time) {
    const std::vector<SyKernel>& kernels = result_.recording.kernels;
    for (; launched_ < kernels.size() && AskedAt(kernels[launched_]) < time; ++launched_) {
      EndStepsUntil(AskedAt(kernels[launched_]));
      Launch(kernels[launched_]);
    }
  }

  void Launch(const SyKernel& kernel) {
    ThreadState* const thread = kernel.asked == 0 ? nullptr : ThreadOf(kernel);
    const std::uint64_t ticks = kernel.end - kernel.begin;
    const double seconds = result_.recording.Seconds(ticks);
    WatchedModule& module = current_[thread == nullptr ? outside_ : ModuleOf(*thread)];
    Of(module.device_seconds, thread == nullptr ? Phase::kForward : PhaseOf(*thread)) += seconds;
    if (thread != nullptr && !thread->stack.empty() && thread->stack.back().kind == Open::kOp) {
      thread->stack.back().device += ticks;
    }
    kernels_.Add(kernel, seconds);
  }

  ThreadState* ThreadOf(const SyKernel& kernel) {
    const auto asked = std::ranges::find(threads_, kernel.thread, &ThreadState::system);
    if (asked != threads_.end()) return &*asked;
    return threads_.size() == 1 ? &threads_.front() : nullptr;
  }

  // Ends the innermost frame of this kind, and what is open inside it. Nothing without one.
  void Leave(ThreadState& thread, Open kind, std::uint64_t time, std::uint32_t module = SY_NO_ID) {
    std::size_t keep = thread.stack.size();
    const auto fits = [&](const Frame& frame) {
      return frame.kind == kind && (module == SY_NO_ID || frame.module == module);
    };
    while (keep > 0 && !fits(thread.stack[keep - 1])) --keep;
    if (keep == 0) return;
    --keep;
    while (thread.stack.size() > keep) Pop(thread, time);
  }

  void Pop(ThreadState& thread, std::uint64_t time) {
    const Frame frame = thread.stack.back();
    thread.stack.pop_back();
    const std::uint64_t ticks = time - std::min(time, frame.begin);
    Frame* const around = thread.stack.empty() ? nullptr : &thread.stack.back();
    if (frame.kind == Open::kOp) {
      if (around != nullptr && frame.itself) around->allocated = true;
      // What counts for itself inside an operator (a node of a backward pass that it runs) does so
      // for what is around the operator, too.
      if (around != nullptr) around->inner += frame.inner;
      EndOp(thread, frame, ticks);
      return;
    }
    if (around != nullptr) around->inner += ticks;
    const double seconds = result_.recording.Seconds(ticks - std::min(ticks, frame.inner));
    Of(current_[frame.module].seconds, frame.phase) += seconds;
    if (!IsOutermost(thread)) return;
    if (frame.kind == Open::kModule) now_.forward += result_.recording.Seconds(ticks);
    if (frame.kind == Open::kOptimizer) now_.optimizer += seconds;
  }

  void EndOp(ThreadState& thread, const Frame& frame, std::uint64_t ticks) {
    const double seconds = result_.recording.Seconds(ticks);
    const double device = result_.recording.Seconds(frame.device);
    if (frame.counts) return calls_.AddTime(SiteOf(frame), seconds, device);
    if (frame.counted) {
      const bool inside = !thread.stack.empty() && thread.stack.back().kind == Open::kOp;
      if (inside) thread.stack.back().device += frame.device;
      return;
    }
    // What has asked a device itself computes, whatever is inside it.
    if (frame.explained && frame.device == 0) return;
    Explain(thread);
    calls_.CountUnknown(SiteOf(frame), seconds, device);
  }

  void Allocate(ThreadState& thread, const SyEvent& event) {
    if (!thread.stack.empty()) thread.stack.back().allocated = thread.stack.back().itself = true;
    memory_.Of(event).Allocate(event.key, static_cast<std::int64_t>(event.amount), PlaceOf(thread),
                               PhaseOf(thread));
  }

  void Mark(const ThreadState& thread, const SyEvent& event) {
    const auto category =
        event.flags < kCategoryCount ? static_cast<Category>(event.flags) : Category::kTemporaries;
    memory_.Of(event).Mark(event.key, {.bytes = static_cast<std::int64_t>(event.amount),
                                       .category = category,
                                       .tensor = event.id,
                                       .place = PlaceOf(thread)});
  }

  void EndBackward(ThreadState& thread) {
    if (!thread.in_backward) return;
    thread.in_backward = false;
    if (thread.backward_end <= thread.backward_begin) return;
    now_.backward += result_.recording.Seconds(thread.backward_end - thread.backward_begin);
  }

  std::uint32_t PlaceOf(const ThreadState& thread) {
    const Frame* const frame = thread.stack.empty() ? nullptr : &thread.stack.back();
    const std::uint64_t what = frame == nullptr             ? 0
                               : frame->kind == Open::kOp   ? frame->call
                               : frame->kind == Open::kNode ? frame->name
                                                            : 0;
    const std::tuple key{what, ModuleOf(thread), PhaseOf(thread)};
    const auto [found, is_new] =
        place_of_.try_emplace(key, static_cast<std::uint32_t>(result_.places.size()));
    if (is_new) {
      result_.places.push_back({.module = ModuleOf(thread),
                                .phase = PhaseOf(thread),
                                .what = frame == nullptr ? std::string() : NameOf(*frame)});
    }
    return found->second;
  }

  std::string NameOf(const Frame& frame) const {
    if (frame.kind == Open::kNode) {
      const auto found = result_.recording.names.find(frame.name);
      return found == result_.recording.names.end() ? "AccumulateGrad" : found->second;
    }
    if (frame.kind != Open::kOp) return {};
    const auto found = result_.recording.calls.find(frame.call);
    if (found == result_.recording.calls.end()) return {};
    return found->second.text.substr(0, found->second.text.find_first_of(".("));
  }

  void EndStep(std::uint64_t time) {
    for (ThreadState& thread : threads_) {
      if (thread.stack.empty()) EndBackward(thread);
    }
    now_.seconds = result_.recording.Seconds(time - std::min(time, step_begin_));
    step_begin_ = time;
    now_.device = result_.recording.Seconds(kernels_.TakeBusy());
    memory_.EndStep();
    result_.steps.push_back(now_);
    now_ = {};
    ++step_;
    // The first ones warm up, unless there are no others.
    const bool first = step_ <= result_.recording.warmup + 1;
    if (first) {
      result_.first_counted = step_ - 1;
      result_.modules = std::move(current_);
    } else {
      for (std::size_t m = 0; m < current_.size(); ++m) {
        for (std::size_t p = 0; p < kWatchedPhases; ++p) {
          result_.modules[m].seconds[p] += current_[m].seconds[p];
          result_.modules[m].device_seconds[p] += current_[m].device_seconds[p];
        }
        result_.modules[m].calls += current_[m].calls;
      }
    }
    kernels_.EndStep(first);
    current_.assign(result_.modules.size(), {});
    calls_.EndStep(step_ - 1, whole_ops_, step_ > result_.recording.warmup);
    whole_ops_ = ops_;
  }

  void Finish() {
    const std::uint64_t end = std::max(LastTime(), result_.recording.last_tick);
    for (ThreadState& thread : threads_) {
      while (!thread.stack.empty()) Pop(thread, end);
      EndBackward(thread);
    }
    // A record without a whole step is told as one.
    if (step_ < boundaries_.times.size() || result_.steps.empty()) EndStep(end);
    calls_.Tell(result_);
    result_.kernels = kernels_.Tell();
    memory_.Tell(result_);
    result_.recording.threads.clear();
  }

  std::uint64_t LastTime() const {
    std::uint64_t last = 0;
    for (const ThreadState& thread : threads_) {
      if (!thread.events->empty()) last = std::max(last, thread.events->back().time);
    }
    return last;
  }

  const TakesCall& takes_;
  StepBoundaries boundaries_;
  Watched result_;
  std::uint32_t outside_ = 0;
  std::vector<ThreadState> threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> tensor_at_;  // by its address
  SequenceRanges ranges_;
  MemoryLogs memory_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, Phase>, std::uint32_t> place_of_;
  std::uint32_t parameter_ = SY_NO_ID;  // whose gradient was last added to
  bool called_any_ = false;             // module
  std::size_t step_ = 0;
  std::uint64_t step_begin_ = 0;
  WatchedStep now_;
  std::vector<WatchedModule> current_;  // of this step
  std::size_t launched_ = 0;            // kernels that the program has asked for
  KernelTimes kernels_;
  std::unordered_map<std::uint64_t, CallIs> taken_;
  StepCalls calls_;
  bool ops_ = false;        // are recorded
  bool whole_ops_ = false;  // since the step began
};

}  // namespace

void MakeOneStep(Recording& recording) {
  std::uint64_t last = recording.last_tick;
  for (Recording::Thread& thread : recording.threads) {
    std::erase_if(thread.events, [](const SyEvent& event) { return event.kind == SY_STEP; });
    if (!thread.events.empty()) last = std::max(last, thread.events.back().time);
  }
  if (recording.threads.empty()) return;
  recording.threads.front().events.push_back(
      {.time = last, .key = 0, .amount = 0, .id = 0, .kind = SY_STEP, .flags = 0, .thread = 0});
}

Watched Replay(Recording recording, const TakesCall& takes) {
  return Player(std::move(recording), takes).Play();
}

std::vector<MemoryMoment> ReplayMemory(Recording recording) {
  const TakesCall nothing = [](const RecordedCall&) { return CallIs::kIdle; };
  return Player(std::move(recording), nothing).PlayMemory();
}

}  // namespace steelyard
