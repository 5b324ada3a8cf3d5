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
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "call_text.h"
#include "cpu_tap.h"
#include "record/format.h"
#include "record_writer.h"

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
  if (buffer.described.Add(hash)) {
    WriteEntry(buffer,
               {.size = 0, .kind = SY_NAME, .id = id, .numbers = {}, .text_size = 0, .spare = 0},
               name);
  }
  return id;
}

// The node that runs, if it is one that adds to a parameter's gradient. These have no number.
const AccumulateGrad* Accumulating(const RecordFunction& function) {
  if (function.seqNr() >= 0) return nullptr;
  return dynamic_cast<const AccumulateGrad*>(torch::autograd::get_current_node().get());
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
    event.key = reinterpret_cast<std::uint64_t>(storage->data());
    event.amount = storage->nbytes();
  }
  Write(*buffer, event);
}

// --- Operators ----------------------------------------------------------------------------------

// Ranges of the engine around nodes, of which the nodes themselves tell.
bool IsRange(const char* name) { return std::strncmp(name, "autograd::", 10) == 0; }

std::unique_ptr<at::ObserverContext> BeginOp(const RecordFunction& function) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr || function.isAsync() || IsRange(function.name())) return nullptr;
  const std::uint64_t call = HashCall(function);
  if (buffer->described.Add(call)) {
    const CallText text = TextOfCall(function);
    WriteEntry(*buffer,
               {.size = 0,
                .kind = SY_CALL,
                .id = call,
                .numbers = {text.complete ? 1u : 0u, 0, 0, 0},
                .text_size = 0,
                .spare = 0},
               text.text);
  }
  Write(*buffer, At(SY_OP_ENTER, call));
  return nullptr;
}

void EndOp(const RecordFunction& function, at::ObserverContext*) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr || function.isAsync() || IsRange(function.name())) return;
  Write(*buffer, At(SY_OP_LEAVE));
}

// --- The session --------------------------------------------------------------------------------

// Python holds its lock wherever these are used.
struct Session {
  std::optional<at::CallbackHandle> nodes, ops;
  bool ops_heard = false;
  std::uint32_t every = 1;
  std::unordered_map<const void*, std::uint32_t> modules;
};
Session& session() {
  static auto* const the_session = new Session;
  return *the_session;
}
thread_local constinit std::uint32_t module_depth = 0;
thread_local constinit std::uint64_t depth_of_session = 0;

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

bool Start(const SyWatchOptions* options, const char** problem) {
  if (writing.load() != 0) return *problem = "this process is being watched already", false;
  if (!OpenRecord(*options, TORCH_VERSION, problem)) return false;
  Session& now = session();
  now.modules.clear();
  now.every = std::max(options->every, 1u);
  if (!BeginTap()) {
    CloseRecord();
    DiscardRecord();
    return *problem = "the memory of this process is another allocator's", false;
  }
  now.nodes = at::addGlobalCallback(
      at::RecordFunctionCallback(BeginNode, EndNode).scopes({RecordScope::BACKWARD_FUNCTION}));
  if (options->level == SY_OPS) {
    now.ops = at::addGlobalCallback(at::RecordFunctionCallback(BeginOp, EndOp)
                                        .needsInputs(true)
                                        .scopes({RecordScope::FUNCTION}));
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
  now.modules.clear();
}

bool Running() { return writing.load() != 0; }

void AddEntry(const SyEntry* entry, const char* text) {
  if (ThreadBuffer* const buffer = Here()) WriteEntry(*buffer, *entry, {text, entry->text_size});
}

void AddModule(const void* module, std::uint32_t id) { session().modules[module] = id; }
void ForgetModule(const void* module) { session().modules.erase(module); }

std::uint32_t& DepthHere(const ThreadBuffer& buffer) {
  if (depth_of_session != buffer.session) {
    depth_of_session = buffer.session;
    module_depth = 0;
  }
  return module_depth;
}

bool Enter(const void* module) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return true;
  const auto found = session().modules.find(module);
  if (found == session().modules.end()) return false;
  Write(*buffer, At(SY_MODULE_ENTER, at::sequence_number::peek(), 0, found->second));
  return DepthHere(*buffer)++ > 0;
}

bool Leave(const void* module) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return true;
  const auto found = session().modules.find(module);
  if (found == session().modules.end()) return true;
  Write(*buffer, At(SY_MODULE_LEAVE, at::sequence_number::peek(), 0, found->second));
  std::uint32_t& depth = DepthHere(*buffer);
  if (depth > 0) --depth;
  return depth > 0;
}

void WriteSpan(SyEventKind kind, std::uint32_t id) {
  if (ThreadBuffer* const buffer = Here()) Write(*buffer, At(kind, 0, 0, id));
}
void EnterOptimizer(std::uint32_t id) { WriteSpan(SY_OPTIMIZER_ENTER, id); }
void LeaveOptimizer(std::uint32_t id) { WriteSpan(SY_OPTIMIZER_LEAVE, id); }

void EndStep(std::uint32_t number) {
  WriteSpan(SY_STEP, number);
  SetClock();
  const std::uint32_t every = session().every;
  if (every > 1) HearOps((number + 1) % every == 1 % every);
}

void Mark(void* storage, std::uint64_t address, std::uint64_t bytes, std::uint8_t category,
          std::uint32_t tensor) {
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return;
  HearOf(storage);
  SyEvent event = At(SY_MARK, address, bytes, tensor);
  event.flags = category;
  Write(*buffer, event);
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
                               .mark = Mark};

}  // namespace
}  // namespace steelyard::engine

extern "C" __attribute__((visibility("default"))) const SyObserver* steelyard_observer() {
  return &steelyard::engine::kObserver;
}
