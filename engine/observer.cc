// SPDX-License-Identifier: Apache-2.0
//
// Watches a PyTorch program while it runs: calls of modules, of which Python's hooks tell, nodes of
// autograd and operators, of which PyTorch's RecordFunction tells, and memory. It only writes down
// what happens (src/record/format.h); what it means is found out later, without PyTorch.
//
// Which module a node of the backward pass belongs to follows from sequence numbers: each node gets
// the next of its thread, and where a module begins and ends the next number is written down.
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/node.h>
#include <torch/headeronly/version.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "call_text.h"
#include "cpu_tap.h"
#include "cuda_tap.h"
#include "input_list.h"
#include "module_ids.h"
#include "record/format.h"
#include "record_writer.h"
#include "support/hash.h"

namespace steelyard::engine {
namespace {

using at::RecordFunction;
using at::RecordScope;
using torch::autograd::AccumulateGrad;

SyEvent At(SyEventKind kind, std::uint64_t key = 0, std::uint64_t amount = 0,
           std::uint32_t id = 0) {
  return {.time = Ticks(),
          .key = key,
          .amount = amount,
          .id = id,
          .kind = static_cast<std::uint8_t>(kind),
          .flags = 0,
          .thread = 0};
}

// --- Nodes of autograd --------------------------------------------------------------------------

std::uint32_t NameOf(ThreadBuffer& buffer, const char* name) {
  const std::uint64_t hash = HashText(name);
  const auto id = static_cast<std::uint32_t>(hash >> 32u);
  // The program may call a stretch of its own as an operator is called.
  if (buffer.named.Add(hash)) {
    WriteEntry(buffer,
               {.size = 0, .kind = SY_NAME, .id = id, .numbers = {}, .text_size = 0, .spare = 0},
               name);
  }
  return id;
}

// The node that runs, if it is one that adds to a parameter's gradient. These have no number.
const AccumulateGrad* Accumulating(const RecordFunction& function) {
  if (function.seqNr() >= 0) return nullptr;
  const auto held = torch::autograd::get_current_node();  // counted, of releases' own kinds
  const torch::autograd::Node* const node = held.get();
  // Nothing derives from it, and a cast that may fail takes ten times as long.
  if (node == nullptr || typeid(*node) != typeid(AccumulateGrad)) return nullptr;
  return static_cast<const AccumulateGrad*>(node);
}

std::unique_ptr<at::ObserverContext> BeginNode(const RecordFunction& function) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return nullptr;
  if (const AccumulateGrad* const node = Accumulating(function)) {
    const auto* const parameter = node->variable.unsafeGetTensorImpl();
    buffer->gradient = node;
    Write(*buffer, At(SY_ACCUMULATE_ENTER, reinterpret_cast<std::uint64_t>(parameter)));
    return nullptr;
  }
  SyEvent event = At(SY_NODE_ENTER, static_cast<std::uint64_t>(function.seqNr()),
                     at::sequence_number::peek(), NameOf(*buffer, function.name()));
  event.thread = static_cast<std::uint16_t>(function.forwardThreadId());
  Write(*buffer, event);
  return nullptr;
}

void EndNode(const RecordFunction& function, at::ObserverContext*) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return;
  if (function.seqNr() >= 0 || buffer->gradient == nullptr) {
    return Write(*buffer, At(SY_NODE_LEAVE));
  }
  SyEvent event = At(SY_ACCUMULATE_LEAVE);
  const auto* const node = static_cast<const AccumulateGrad*>(buffer->gradient);
  buffer->gradient = nullptr;
  const at::Tensor& gradient = node->variable.grad();
  if (gradient.defined() && gradient.unsafeGetTensorImpl()->has_storage()) {
    const c10::StorageImpl* const storage =
        gradient.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
    const c10::Device device = storage->device();
    event.key = reinterpret_cast<std::uint64_t>(storage->data());
    event.amount = device.is_cpu() || device.is_cuda() ? storage->nbytes() : 0;
    event.thread = device.is_cuda() ? static_cast<std::uint16_t>(device.index() + 1) : SY_HOST;
  }
  Write(*buffer, event);
}

// --- Operators ----------------------------------------------------------------------------------

// Asked of each operator, whose names begin otherwise: letter by letter, and no call.
bool BeginsWith(const char* name, const char* prefix) {
  while (*prefix != '\0' && *name == *prefix) ++name, ++prefix;
  return *prefix == '\0';
}

// Ranges of the engine around nodes, of which the nodes themselves tell.
bool IsRange(const char* name) { return BeginsWith(name, "autograd::"); }

// Says once what a call is.
void Describe(ThreadBuffer& buffer, std::uint64_t call, const CallText& text) {
  WriteEntry(buffer,
             {.size = 0,
              .kind = SY_CALL,
              .id = call,
              .numbers = {text.complete ? 1u : 0u, 0, 0, 0},
              .text_size = 0,
              .spare = 0},
             text.text);
}

std::unique_ptr<at::ObserverContext> BeginOp(const RecordFunction& function) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr || function.isAsync() || IsRange(function.name())) return nullptr;
  const std::uint64_t call = HashCall(function).call;
  if (buffer->described.Add(call)) Describe(*buffer, call, TextOfCall(function));
  Write(*buffer, At(SY_OP_ENTER, call));
  return nullptr;
}

// One that ends by an exception, such as that with which a checkpoint stops when it has recomputed
// all that it needs, has not done its work.
void WriteOpLeave(ThreadBuffer& buffer) {
  SyEvent event = At(SY_OP_LEAVE);
  event.flags = std::uncaught_exceptions() > 0 ? SY_THROWN : 0;
  Write(buffer, event);
}

void EndOp(const RecordFunction& function, at::ObserverContext*) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr || function.isAsync() || IsRange(function.name())) return;
  WriteOpLeave(*buffer);
}

// --- What a profile has besides ------------------------------------------------------------------

// Says once what inputs are.
void DescribeInputs(ThreadBuffer& buffer, std::uint64_t inputs, const RecordFunction& function) {
  WriteEntry(
      buffer,
      {.size = 0, .kind = SY_INPUT_LIST, .id = inputs, .numbers = {}, .text_size = 0, .spare = 0},
      TextOfInputs(function));
}

// What a node or a stretch of the program's is given. Its number is no operator's, of which its
// name may be, for that has an entry of its own.
void WriteInputs(ThreadBuffer& buffer, const RecordFunction& function) {
  const std::uint64_t inputs = ~HashCall(function).inputs;
  if (buffer.described.Add(inputs)) DescribeInputs(buffer, inputs, function);
  Write(buffer, At(SY_INPUTS, inputs));
}

std::unique_ptr<at::ObserverContext> BeginNodeWithInputs(const RecordFunction& function) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return nullptr;
  BeginNode(function);
  WriteInputs(*buffer, function);
  return nullptr;
}

void WriteRange(ThreadBuffer& buffer, SyEventKind kind, SyRange range,
                const RecordFunction& function) {
  SyEvent event = At(kind, 0, 0, NameOf(buffer, function.name()));
  event.flags = static_cast<std::uint8_t>(range);
  Write(buffer, event);
}

// Operators with which the program's own ranges begin and end: in these lies where they do.
bool IsMarker(const char* name) { return BeginsWith(name, "profiler::_record_function"); }

template <bool kInputs>
std::unique_ptr<at::ObserverContext> BeginProfiled(const RecordFunction& function) {
  ThreadBuffer* const buffer = Here();
  const char* const name = function.name();
  if (buffer == nullptr || function.isAsync() || IsMarker(name)) return nullptr;
  if (function.scope() == RecordScope::USER_SCOPE) {
    WriteRange(*buffer, SY_RANGE_ENTER, SY_USER_RANGE, function);
    if (kInputs && !function.inputs().empty()) WriteInputs(*buffer, function);
    return nullptr;
  }
  if (IsRange(name)) {
    WriteRange(*buffer, SY_RANGE_ENTER, SY_ENGINE_RANGE, function);
    return nullptr;
  }
  const CallHash hash = kInputs ? HashCall(function) : CallHash{HashOperator(function)};
  if (buffer->described.Add(hash.call)) {
    Describe(*buffer, hash.call,
             kInputs ? TextOfCall(function) : CallText{TextOfOperator(function)});
    if (kInputs && hash.inputs == hash.call) DescribeInputs(*buffer, hash.call, function);
  }
  Write(*buffer, At(SY_OP_ENTER, hash.call, static_cast<std::uint64_t>(function.seqNr() + 1)));
  if (kInputs && hash.inputs != hash.call) {
    if (buffer->described.Add(hash.inputs)) DescribeInputs(*buffer, hash.inputs, function);
    Write(*buffer, At(SY_INPUTS, hash.inputs));
  }
  return nullptr;
}

void EndProfiled(const RecordFunction& function, at::ObserverContext*) {
  ThreadBuffer* const buffer = Here();
  const char* const name = function.name();
  if (buffer == nullptr || function.isAsync() || IsMarker(name)) return;
  if (function.scope() == RecordScope::USER_SCOPE) {
    return WriteRange(*buffer, SY_RANGE_LEAVE, SY_USER_RANGE, function);
  }
  if (IsRange(name)) return WriteRange(*buffer, SY_RANGE_LEAVE, SY_ENGINE_RANGE, function);
  WriteOpLeave(*buffer);
}

at::RecordFunctionCallback NodesHeard(const SyWatchOptions& options) {
  const bool inputs = options.level == SY_PROFILE && (options.parts & SY_PART_INPUTS) != 0;
  return at::RecordFunctionCallback(inputs ? BeginNodeWithInputs : BeginNode, EndNode)
      .needsInputs(inputs)
      .scopes({RecordScope::BACKWARD_FUNCTION});
}

at::RecordFunctionCallback OpsHeard(const SyWatchOptions& options) {
  if (options.level == SY_OPS) {
    return at::RecordFunctionCallback(BeginOp, EndOp)
        .needsInputs(true)
        .scopes({RecordScope::FUNCTION});
  }
  const bool inputs = (options.parts & SY_PART_INPUTS) != 0;
  return at::RecordFunctionCallback(inputs ? BeginProfiled<true> : BeginProfiled<false>,
                                    EndProfiled)
      .needsInputs(inputs)
      .scopes({RecordScope::FUNCTION, RecordScope::USER_SCOPE});
}

// --- The session --------------------------------------------------------------------------------

// Python holds its lock wherever these are used.
struct Session {
  std::optional<at::CallbackHandle> nodes, ops;
  bool ops_heard = false;
  std::uint32_t every = 1;
  ModuleIds modules;
};
Session& session() {
  static auto* const the_session = new Session;
  return *the_session;
}

void HearOps(bool heard) {
  Session& now = session();
  if (!now.ops || heard == now.ops_heard) return;
  now.ops_heard = heard;
  if (heard) {
    at::reenableCallback(*now.ops);
  } else {
    at::disableCallback(*now.ops);
  }
  if (ThreadBuffer* const buffer = Here()) {
    Write(*buffer, At(heard ? SY_OPS_BEGIN : SY_OPS_END));
  }
}

// Of a profile: its operators, nodes and stretches. What has begun is heard to its end.
void HearCalls(bool heard) {
  Session& now = session();
  if (!now.ops || !now.nodes || heard == now.ops_heard) return;
  if (heard) {
    at::reenableCallback(*now.nodes);
  } else {
    at::disableCallback(*now.nodes);
  }
  HearOps(heard);
}

bool Start(const SyWatchOptions* options, const char** problem) {
  if (writing.load() != 0) return *problem = "this process is being watched already", false;
  if (!OpenRecord(*options, TORCH_VERSION, problem)) return false;
  Session& now = session();
  now.modules.Clear();
  now.every = std::max(options->every, 1u);
  const bool memory = options->level != SY_PROFILE || (options->parts & SY_PART_MEMORY) != 0;
  if (memory && !BeginTap()) {
    CloseRecord();
    DiscardRecord();
    return *problem = "the memory of this process is another allocator's", false;
  }
  now.nodes = at::addGlobalCallback(NodesHeard(*options));
  if (options->level != SY_LIGHT) {
    now.ops = at::addGlobalCallback(OpsHeard(*options));
    now.ops_heard = true;
    if (ThreadBuffer* const buffer = Here()) Write(*buffer, At(SY_OPS_BEGIN));
  }
  return true;
}

void Stop() {
  Session& now = session();
  EndTap();
  CloseRecord();
  if (now.nodes) at::removeCallback(*now.nodes);
  if (now.ops) at::removeCallback(*now.ops);
  now.nodes.reset();
  now.ops.reset();
  now.modules.Clear();
}

bool Running() { return writing.load() != 0; }

void AddEntry(const SyEntry* entry, const char* text) {
  if (ThreadBuffer* const buffer = Here()) WriteEntry(*buffer, *entry, {text, entry->text_size});
}

void AddModule(const void* module, std::uint32_t id) { session().modules.Set(module, id); }
void ForgetModule(const void* module) { session().modules.Set(module, SY_NO_ID); }

// What a node of autograd calls, such as a checkpoint's recomputation, is no call of the program's.
bool InNode() { return torch::autograd::get_current_node() != nullptr; }

void WriteModule(ThreadBuffer& buffer, SyEventKind kind, std::uint32_t module) {
  Write(buffer, At(kind, at::sequence_number::peek(), 0, module));
}

// Python's hooks hear of the end of a call that an Exception ends, but not of one that a
// KeyboardInterrupt does. Each call of a module has an interpreter loop of its own, deeper in the
// stack than that of what is around it: one whose stack has gone is over.
void EndWhatIsOver(ThreadBuffer& buffer, const char* stack) {
  // Less than a loop takes, and more than the ways differ by which one loop calls this.
  constexpr std::ptrdiff_t kOneLoop = 128;
  while (!buffer.open.empty() && stack > buffer.open.back().stack - kOneLoop) {
    WriteModule(buffer, SY_MODULE_LEAVE, buffer.open.back().module);
    buffer.open.pop_back();
  }
}

// Whether the call is inside of another.
bool Enter(const void* module) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return true;
  const std::uint32_t id = session().modules.Of(module);
  if (id == SY_NO_ID) return false;
  const auto* const stack = static_cast<const char*>(__builtin_frame_address(0));
  EndWhatIsOver(*buffer, stack);
  WriteModule(*buffer, SY_MODULE_ENTER, id);
  buffer->open.push_back({stack, id});
  return buffer->open.size() > 1 || InNode();
}

bool Leave(const void* module) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return true;
  const std::uint32_t id = session().modules.Of(module);
  if (id == SY_NO_ID) return true;
  std::vector<OpenCall>& open = buffer->open;
  std::size_t keep = open.size();
  while (keep > 0 && open[keep - 1].module != id) --keep;
  WriteModule(*buffer, SY_MODULE_LEAVE, id);
  if (keep > 0) open.resize(keep - 1);
  return !open.empty() || InNode();
}

void WriteSpan(SyEventKind kind, std::uint32_t id) {
  if (ThreadBuffer* const buffer = Here()) Write(*buffer, At(kind, 0, 0, id));
}
void EnterOptimizer(std::uint32_t id) { WriteSpan(SY_OPTIMIZER_ENTER, id); }
void LeaveOptimizer(std::uint32_t id) { WriteSpan(SY_OPTIMIZER_LEAVE, id); }

void WriteNamed(SyEventKind kind, std::uint32_t name, SyRange range) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return;
  SyEvent event = At(kind, 0, 0, name);
  event.flags = static_cast<std::uint8_t>(range);
  Write(*buffer, event);
}
void EnterRange(std::uint32_t name, SyRange kind) { WriteNamed(SY_RANGE_ENTER, name, kind); }
void LeaveRange(std::uint32_t name, SyRange kind) { WriteNamed(SY_RANGE_LEAVE, name, kind); }

void EndStep(std::uint32_t number) {
  WriteSpan(SY_STEP, number);
  SetClock();
  const std::uint32_t every = session().every;
  if (every > 1) HearOps((number + 1) % every == 1 % every);
}

void Mark(void* storage, std::uint64_t address, std::uint64_t bytes, std::uint8_t category,
          std::uint32_t tensor, bool lasts, std::uint16_t device) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return;
  HearOf(storage);
  SyEvent event = At(SY_MARK, address, bytes, tensor);
  event.flags = category;
  event.thread = device;
  lasts ? WriteKept(*buffer, event) : Write(*buffer, event);
}

constexpr SyObserver kObserver{.abi = SY_OBSERVER_ABI,
                               .torch = TORCH_VERSION,
                               .start = Start,
                               .stop = Stop,
                               .running = Running,
                               .read = ReadRecord,
                               .discard = DiscardRecord,
                               .add_entry = AddEntry,
                               .add_module = AddModule,
                               .forget_module = ForgetModule,
                               .enter = Enter,
                               .leave = Leave,
                               .enter_optimizer = EnterOptimizer,
                               .leave_optimizer = LeaveOptimizer,
                               .end_step = EndStep,
                               .enter_range = EnterRange,
                               .leave_range = LeaveRange,
                               .mark = Mark,
                               .hear_cuda = BeginCudaTap,
                               .hear_calls = HearCalls};

}  // namespace
}  // namespace steelyard::engine

extern "C" __attribute__((visibility("default"))) const SyObserver* steelyard_observer() {
  return &steelyard::engine::kObserver;
}
