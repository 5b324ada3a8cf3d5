// SPDX-License-Identifier: Apache-2.0
//
// Goes through the events of all threads in the order of their times, with a stack of what is open
// in each: calls of modules, nodes, the optimizer, operators. A stretch of time counts for what is
// innermost, operators aside, so that all parts of a step sum to what it took. What was entered and
// never left (an exception, the end of the record) ends with what it is in.
#include "record/replay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "record/memory_log.h"
#include "record/sequence_ranges.h"

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

// More than any process has; a damaged record may speak of others.
constexpr std::uint16_t kMostDevices = 128;
// Steps that call other operators than those before, each kept.
constexpr std::size_t kMostKinds = 64;

// The times at which steps end, and how that is known.
struct Boundaries {
  StepBoundary kind = StepBoundary::kNone;
  std::vector<std::uint64_t> times;
};

// Where a thread calls models: each call is a step or, where there is a backward pass, all calls up
// to it.
class ModelCalls {
 public:
  void Add(const SyEvent& event) {
    if (event.kind == SY_NODE_ENTER) {
      went_back_ = trained_ = true;
      ++nodes_;
    }
    if (event.kind == SY_NODE_LEAVE && nodes_ > 0) --nodes_;
    if (nodes_ > 0) return;  // what is computed again is no call of the program's
    if (event.kind == SY_MODULE_ENTER) {
      if (open_.empty() && went_back_) {
        went_back_ = false;
        begins_.push_back(event.time - 1);
      }
      open_.push_back(event.id);
    }
    if (event.kind != SY_MODULE_LEAVE) return;
    const auto left = std::ranges::find(open_, event.id);  // and what an exception has left in it
    if (left == open_.end()) return;
    open_.erase(left, open_.end());
    if (open_.empty()) ends_.push_back(event.time);
  }
  std::vector<std::uint64_t> Times() const {
    if (!trained_) return ends_;
    std::vector<std::uint64_t> times = begins_;
    times.push_back(UINT64_MAX);  // the last one lasts to the end
    return times;
  }

 private:
  std::vector<std::uint32_t> open_;  // modules
  int nodes_ = 0;                    // that run
  bool went_back_ = false, trained_ = false;
  std::vector<std::uint64_t> begins_, ends_;
};

Boundaries FindBoundaries(const Recording& recording) {
  std::map<StepBoundary, std::vector<std::uint64_t>> found;
  for (const Recording::Thread& thread : recording.threads) {
    ModelCalls calls;
    for (const SyEvent& event : thread.events) {
      if (event.kind == SY_STEP) found[StepBoundary::kGiven].push_back(event.time);
      if (event.kind == SY_OPTIMIZER_LEAVE) found[StepBoundary::kOptimizer].push_back(event.time);
      calls.Add(event);
    }
    // Of several threads the one that calls most often is the program's.
    std::vector<std::uint64_t>& most = found[StepBoundary::kModel];
    if (std::vector<std::uint64_t> times = calls.Times(); times.size() > most.size()) {
      most = std::move(times);
    }
  }
  for (auto& [kind, times] : found) {
    if (times.empty()) continue;
    std::ranges::sort(times);
    return {kind, std::move(times)};
  }
  return {};
}

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
      : takes_(takes), boundaries_(FindBoundaries(recording)) {
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
    return memory_[Told()].History();
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
      time_ = event.time;
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
        return MemoryOf(event).Free(event.key, PlaceOf(thread));
      case SY_RESERVE:
        // What was there before is said by each who listens.
        if (event.key != 0 || reserved_before_.insert(event.thread).second) {
          MemoryOf(event).Reserve(static_cast<std::int64_t>(event.amount));
        }
        return;
      case SY_UNRESERVE:
        return MemoryOf(event).Reserve(-static_cast<std::int64_t>(event.amount));
      case SY_MARK:
        return Mark(thread, event);
      case SY_OPS_BEGIN:
        ops_ = true;
        if (calls_.empty() && now_.forward == 0 && thread.stack.empty()) whole_ops_ = true;
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
      for (MemoryLog& log : memory_) log.TakeForInputs();
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
      KeepAllOf(Phase::kRecompute);
    }
  }

  void EnterNode(ThreadState& thread, const SyEvent& event) {
    if (IsOutermost(thread) && !thread.in_backward) {
      thread.in_backward = true;
      thread.backward_begin = event.time;
      KeepAllOf(Phase::kForward);
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
      MemoryOf(event).Mark(event.key, {.bytes = static_cast<std::int64_t>(event.amount),
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
      Count(frame, calls_).count += 1;
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
    if (frame.counts && --Count(frame, calls_).count == 0) {
      calls_.erase({frame.call, frame.module, frame.phase});
    }
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

  using CallKey = std::tuple<std::uint64_t, std::uint32_t, Phase>;
  using CallCounts = std::map<CallKey, WatchedCall>;
  static WatchedCall& Count(const Frame& frame, CallCounts& counts) {
    WatchedCall& call = counts[{frame.call, frame.module, frame.phase}];
    call.call = frame.call;
    call.module = frame.module;
    call.phase = frame.phase;
    return call;
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
    AddTo(kernels_, {.name = kernel.name,
                     .kind = static_cast<SyKernelKind>(kernel.kind),
                     .count = 1,
                     .seconds = seconds,
                     .bytes = static_cast<double>(kernel.bytes)});
    if (kernel.device < kMostDevices) busy_[kernel.device].emplace_back(kernel.begin, kernel.end);
  }

  using KernelsByName = std::map<std::uint32_t, WatchedKernel>;
  static void AddTo(KernelsByName& kernels, const WatchedKernel& kernel) {
    const auto [found, is_new] = kernels.try_emplace(kernel.name, kernel);
    if (!is_new) found->second += kernel;
  }

  ThreadState* ThreadOf(const SyKernel& kernel) {
    const auto asked = std::ranges::find(threads_, kernel.thread, &ThreadState::system);
    if (asked != threads_.end()) return &*asked;
    return threads_.size() == 1 ? &threads_.front() : nullptr;
  }

  // In which a device ran something, in whatever stream; the longest of all devices.
  std::uint64_t TakeBusy() {
    std::uint64_t most = 0;
    for (auto& [device, stretches] : busy_) {
      std::ranges::sort(stretches);
      std::uint64_t sum = 0, until = 0;
      for (const auto& [begin, end] : stretches) {
        if (end > until) sum += end - std::max(begin, until);
        until = std::max(until, end);
      }
      most = std::max(most, sum);
    }
    busy_.clear();
    return most;
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
    if (frame.counts) {
      const auto found = calls_.find({frame.call, frame.module, frame.phase});
      if (found == calls_.end()) return;
      found->second.seconds += seconds;
      found->second.device_seconds += result_.recording.Seconds(frame.device);
      return;
    }
    if (frame.counted) {
      const bool inside = !thread.stack.empty() && thread.stack.back().kind == Open::kOp;
      if (inside) thread.stack.back().device += frame.device;
      return;
    }
    // What has asked a device itself computes, whatever is inside it.
    if (frame.explained && frame.device == 0) return;
    Explain(thread);
    WatchedCall& call = Count(frame, unknown_);
    ++call.count;
    call.seconds += seconds;
    call.device_seconds += result_.recording.Seconds(frame.device);
  }

  void Allocate(ThreadState& thread, const SyEvent& event) {
    if (!thread.stack.empty()) thread.stack.back().allocated = thread.stack.back().itself = true;
    MemoryOf(event).Allocate(event.key, static_cast<std::int64_t>(event.amount), PlaceOf(thread),
                             PhaseOf(thread));
  }

  void Mark(const ThreadState& thread, const SyEvent& event) {
    const auto category =
        event.flags < kCategoryCount ? static_cast<Category>(event.flags) : Category::kTemporaries;
    MemoryOf(event).Mark(event.key, {.bytes = static_cast<std::int64_t>(event.amount),
                                     .category = category,
                                     .tensor = event.id,
                                     .place = PlaceOf(thread)});
  }

  // The log of the memory that it is about, with all steps that have ended.
  MemoryLog& MemoryOf(const SyEvent& event) {
    const std::size_t device = event.thread > kMostDevices ? SY_HOST : event.thread;
    while (memory_.size() <= device) {
      MemoryLog& log = memory_.emplace_back();
      for (std::size_t step = 0; step < step_; ++step) log.EndStep();
    }
    memory_[device].SetTime(time_);
    return memory_[device];
  }

  void KeepAllOf(Phase phase) {
    for (MemoryLog& log : memory_) log.KeepAllOf(phase);
  }

  // Whose memory is told of: the device's whose peak is highest, or the host's without any.
  std::size_t Told() const {
    std::size_t told = SY_HOST;
    std::int64_t highest = -1;
    for (std::size_t device = SY_HOST + 1; device < memory_.size(); ++device) {
      if (memory_[device].is_empty()) continue;
      const std::vector<std::int64_t> peaks = memory_[device].Peaks();
      const std::int64_t peak = peaks.empty() ? 0 : std::ranges::max(peaks);
      if (peak > highest) {
        told = device;
        highest = peak;
      }
    }
    return told;
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
    now_.device = result_.recording.Seconds(TakeBusy());
    for (MemoryLog& log : memory_) log.EndStep();
    result_.steps.push_back(now_);
    now_ = {};
    ++step_;
    // The first ones warm up, unless there are no others.
    if (step_ <= result_.recording.warmup + 1) {
      result_.first_counted = step_ - 1;
      result_.modules = std::move(current_);
      counted_kernels_ = std::move(kernels_);
    } else {
      for (std::size_t m = 0; m < current_.size(); ++m) {
        for (std::size_t p = 0; p < kWatchedPhases; ++p) {
          result_.modules[m].seconds[p] += current_[m].seconds[p];
          result_.modules[m].device_seconds[p] += current_[m].device_seconds[p];
        }
        result_.modules[m].calls += current_[m].calls;
      }
      for (const auto& [name, kernel] : kernels_) AddTo(counted_kernels_, kernel);
    }
    kernels_.clear();
    current_.assign(result_.modules.size(), {});
    KeepCalls();
  }

  // Of steps that call the same the last is kept, and how many they were.
  void KeepCalls() {
    if (whole_ops_) {
      const auto same = [&](const KindOfStep& kind) { return AreAlike(kind.calls, calls_); };
      auto kind = std::ranges::find_if(kinds_, same);
      if (kind == kinds_.end()) {
        // The rarest and oldest gives way.
        if (kinds_.size() == kMostKinds) {
          kinds_.erase(std::ranges::min_element(kinds_, {}, &KindOfStep::steps));
        }
        kind = kinds_.emplace(kinds_.end());
      }
      kind->steps += step_ > result_.recording.warmup ? 1 : 0;
      kind->last = step_ - 1;
      kind->calls = std::move(calls_);
      kind->unknown = std::move(unknown_);
    }
    calls_.clear();
    unknown_.clear();
    whole_ops_ = ops_;
  }

  static bool AreAlike(const CallCounts& a, const CallCounts& b) {
    return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
      return one.first == other.first && one.second.count == other.second.count;
    });
  }

  // What is told of is what most steps call: neither a validation between them nor a last batch
  // that is smaller stands for a step. Where each step is another, it is one that takes about as
  // long as most.
  void TellCommonest() {
    const double usual = UsualSeconds();
    const auto rank = [&](const KindOfStep& kind) {
      const double seconds =
          kind.last < result_.steps.size() ? result_.steps[kind.last].seconds : 0;
      return std::tuple(kind.steps, -std::abs(seconds - usual), kind.last);
    };
    const auto most = std::ranges::max_element(kinds_, {}, rank);
    if (most == kinds_.end()) return;
    for (const auto& [key, call] : most->calls) result_.calls.push_back(call);
    for (const auto& [key, call] : most->unknown) result_.unknown.push_back(call);
    result_.step_of_calls = most->last;
  }

  // The median of the steps that count.
  double UsualSeconds() const {
    std::vector<double> seconds;
    for (std::size_t i = result_.recording.warmup; i < result_.steps.size(); ++i) {
      seconds.push_back(result_.steps[i].seconds);
    }
    if (seconds.empty()) return 0;
    const auto middle = seconds.begin() + std::ssize(seconds) / 2;
    std::ranges::nth_element(seconds, middle);
    return *middle;
  }

  void Finish() {
    const std::uint64_t end = std::max(LastTime(), result_.recording.last_tick);
    for (ThreadState& thread : threads_) {
      while (!thread.stack.empty()) Pop(thread, end);
      EndBackward(thread);
    }
    // A record without a whole step is told as one.
    if (step_ < boundaries_.times.size() || result_.steps.empty()) EndStep(end);
    TellCommonest();
    for (const auto& [name, kernel] : counted_kernels_) result_.kernels.push_back(kernel);
    std::ranges::stable_sort(result_.kernels, std::greater(), &WatchedKernel::seconds);
    result_.memory_told = Told();
    const MemoryLog& memory = memory_[result_.memory_told];
    const std::vector<std::int64_t> peaks = memory.Peaks();
    for (std::size_t i = 0; i < peaks.size(); ++i) result_.steps[i].peak = peaks[i];
    // The last of those that hold most.
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      if (peaks[i] >= peaks[result_.step_of_memory]) result_.step_of_memory = i;
    }
    if (result_.memory_told != SY_HOST) {
      result_.reserved_peak = memory.reserved_peaks()[result_.step_of_memory];
    }
    memory.Tell(result_.step_of_memory, result_);
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
  Boundaries boundaries_;
  Watched result_;
  std::uint32_t outside_ = 0;
  std::vector<ThreadState> threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> tensor_at_;  // by its address
  SequenceRanges ranges_;
  std::uint64_t time_ = 0;                   // of the event that is played
  std::vector<MemoryLog> memory_{1};         // the host's, and those of devices
  std::set<std::uint16_t> reserved_before_;  // whose memory of before has been told of
  std::map<std::tuple<std::uint64_t, std::uint32_t, Phase>, std::uint32_t> place_of_;
  std::uint32_t parameter_ = SY_NO_ID;  // whose gradient was last added to
  bool called_any_ = false;             // module
  std::size_t step_ = 0;
  std::uint64_t step_begin_ = 0;
  WatchedStep now_;
  std::vector<WatchedModule> current_;  // of this step
  std::size_t launched_ = 0;            // kernels that the program has asked for
  KernelsByName kernels_, counted_kernels_;
  std::map<std::uint16_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> busy_;  // by device
  std::unordered_map<std::uint64_t, CallIs> taken_;
  CallCounts calls_, unknown_;
  struct KindOfStep {
    std::size_t steps = 0;  // that count
    std::size_t last = 0;
    CallCounts calls, unknown;
  };
  std::vector<KindOfStep> kinds_;  // the oldest first
  bool ops_ = false;               // are recorded
  bool whole_ops_ = false;         // since the step began
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
