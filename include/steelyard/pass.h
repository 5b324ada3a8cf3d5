// SPDX-License-Identifier: Apache-2.0
//
// Passes: functions from a program to a program. They are rows of a table; the runner is the only
// one that calls them. It takes their times and, where asked, verifies what each gave.
//
//   PassOptions options{.bind = {.batch = 32}, .train = {.optimizer = "adamw"}};
//   Result<Lowered> lowered = Lower(std::move(program), options);
//   std::size_t kernels = lowered->kernels.main().nodes.size();
//
// A pass that an option asks for and the program does not allow returns an error that names the
// pass, the node and the shapes. None changes what it did not take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// Sizes of an input the user names: `--input input_ids=32x128`.
struct InputShape {
  std::string name;
  std::vector<std::int64_t> sizes;
};

// The size that a symbol stands for: `--size u0=128`. A `*` in the name stands for any letters; the
// size is then that of every symbol which no input's shape determines.
struct SymbolSize {
  std::string name;
  std::int64_t size = 0;
};

struct BindOptions {
  std::vector<InputShape> inputs = {};
  std::vector<SymbolSize> sizes = {};
  // The symbolic dimension that is first (batch) or second (seq) of the inputs.
  std::optional<std::int64_t> batch = {};
  std::optional<std::int64_t> seq = {};
};

// An option of an optimizer, as its row's signature names it: "momentum", "0.9".
struct OptimizerOption {
  std::string name;
  std::string value;
};

// Parameters that are stepped in a way of their own. A pattern is a parameter's name or that of a
// module around it, in which * stands for any letters and ? for one: "*.bias", "bert.embeddings".
struct ParameterGroup {
  std::string pattern;
  std::string optimizer = {};                 // a name of `Optimizers`; empty: the step's
  std::vector<OptimizerOption> options = {};  // these instead of the step's
};

// fully_shard(mp_policy=MixedPrecisionPolicy(...)), of all units. Nothing: no cast.
struct ShardPrecision {
  std::optional<DType> param = {};   // parameters are gathered in it, and computed with
  std::optional<DType> reduce = {};  // gradients are summed in it; nothing: the parameters' own
  std::optional<DType> output = {};  // what the model gives
  bool cast_inputs = true;           // what modules are called with, to that of parameters
};

// Layers that processes share: parallelize_module(model, mesh, {pattern: style}).
struct LayerPlan {
  std::string pattern;  // of modules, "layers.*.q_proj"; or "auto": transformers' plan of the model
  std::string style;    // "colwise", "RowwiseParallel(output_layouts=Shard(1))"; of "auto" nothing
};

// What makes one step of several processes.
struct ParallelOptions {
  std::string wrapper = {};  // a name of `Wrappers`; empty: a loop over all gradients
  int bucket_mib = 0;        // DistributedDataParallel(bucket_cap_mb=...); 0: 1 and then 25
  static constexpr int kMostBucketMib = 1 << 20;
  bool bucket_views = false;  // gradient_as_bucket_view=True
  bool find_unused = false;   // find_unused_parameters=True
  bool static_graph = false;  // static_graph=True
  // Of fully_shard: patterns of the modules that it is applied to, besides the model; without any
  // the members of the model's lists of like modules.
  std::vector<std::string> units = {};
  bool keep_gathered = false;  // reshard_after_forward=False
  ShardPrecision precision = {};
  // Of parallelize_module: the first that matches a module is its style.
  std::vector<LayerPlan> plan = {};
  // Of ZeroRedundancyOptimizer.
  bool parameter_views = false;  // parameters_as_bucket_view=True
  // Which process is told, of those that differ; without it the first of those that step most
  // elements, or have the largest parts.
  std::optional<int> rank = {};
  // Of DeepSpeed's JSON: those that change what a step allocates, by the names that they have
  // there.
  std::vector<OptimizerOption> arguments = {};
};

// The training step that is weighed.
struct TrainOptions {
  std::string optimizer = {};  // a name of `Optimizers`
  std::vector<OptimizerOption> options = {};
  std::vector<ParameterGroup> groups = {};  // the first whose pattern matches takes a parameter
  std::vector<std::string> freeze = {};     // patterns of parameters that are not trained
  std::string loss = {};  // a name of `Losses`; empty: the program returns its loss
  // Which of what it returns that is, from 0 on; -1: what the file calls "loss", or the first
  // floating-point tensor of one element.
  int loss_output = -1;
  int accumulate = 1;   // micro-steps, whose gradients are summed
  bool unroll = false;  // all of them are told apart; else equal ones are weighed as one
  std::optional<double> clip_norm = {};   // gradients are clipped by their norm before the step
  std::optional<double> clip_value = {};  // or one by one
  bool keep_gradients = false;            // zero_grad overwrites gradients with zeros
  bool first_step = false;                // the very first one, which makes the optimizer's state
  // Counted from 1: numbers of the optimizer that change from step to step are its. Without one
  // they are of a step in the middle of training.
  std::optional<int> step = {};
  std::vector<std::string> recompute = {};  // patterns of modules that are checkpointed
  bool recompute_reentrant = false;         // with use_reentrant=True
  std::vector<std::string> inplace = {};    // patterns of modules whose activations overwrite
  static constexpr int kMostLossChunks = 65'536;
  int fused_loss = 0;  // chunks of tokens whose scores and loss are computed apart; 0: all at once
  int ranks = 1;       // processes that run the step, each on its own inputs, and average gradients
  ParallelOptions parallel = {};  // how they do
  // Instead of a step: what `deepspeed.initialize` does, of a model that is whole on the device.
  bool makes_engine = false;
};

// The mode of the model: as the file has it, or as module.train() and module.eval() set it.
enum class ModelMode : std::uint8_t { kExported, kTrain, kEval };

// What autocast's lists do not say: "aten::softmax", an operator with all its overloads, has its
// operands cast to this dtype; of modules that a pattern names, "encoder.layer.*", the operators
// do whose operands are cast to the low dtype elsewhere.
struct CastOverride {
  std::string of;
  DType dtype = DType::kFloat32;
};

// Who decides what is cast. torch: the model and the loss run in a region of torch.autocast, as the
// target's device has it. raf: the compiler RAF casts operands of all kernels of the step, those of
// the backward pass and the optimizer too, by rules of its own (ops/raf_policy).
enum class CastPolicy : std::uint8_t { kTorch, kRaf };
std::string_view NameOf(CastPolicy policy);  // "torch", "raf"
std::optional<CastPolicy> CastPolicyNamed(std::string_view name);

// Mixed precision.
struct AmpOptions {
  std::optional<DType> dtype = {};  // bfloat16 or float16; nothing: none
  CastPolicy policy = CastPolicy::kTorch;
  std::vector<CastOverride> casts = {};  // the first that speaks of a call decides
  // Under raf: what becomes of results in the low dtype; nothing: they stay in it.
  std::optional<DType> results = {};
};

struct PassOptions {
  BindOptions bind = {};
  ModelMode mode = ModelMode::kExported;
  bool as_module = false;       // as the module runs, not as it was traced (weigh.h)
  bool hold_variables = false;  // tensors live as long as its variables hold them (weigh.h)
  TrainOptions train = {};
  bool takes_apart = false;  // optimizers step each tensor by itself, as a compiler runs them
  AmpOptions amp = {};
  Target target = {};
  bool verify = false;  // check the program's rules after every pass; weighings of debug builds do
};

// A loss that a step may append, and an optimizer that it may end with.
struct LossInfo {
  std::string_view name;
  std::string_view summary;
};
struct OptimizerInfo {
  std::string_view name;
  std::string_view class_name;  // in Python
  std::string_view op;          // its row
  std::string_view summary;
  int rank = 0;                  // of all parameters that it takes; 0: any
  std::string_view others = {};  // the optimizer of those that it does not take
  // Bytes of state for each parameter in the table that people know (Hugging Face, "Model memory
  // anatomy"); 0: it is not in that table.
  int textbook_state = 0;
  bool is_lean = false;     // it keeps less than AdamW does, which advice makes use of
  bool takes_parts = true;  // each element by itself: a part of a parameter as it takes the whole
};

// One pass: a row of `Passes`.
struct PassInfo {
  // A verb, as `--print-after` takes it, and a sentence.
  std::string_view name;
  std::string_view summary;
  // Whether a weighing with these options runs it.
  bool (*applies)(const PassOptions& options);
  // Rewrites the program. Null in the row of the pass that makes another program instead: the
  // kernels, told of beside what they were made from. Passes that stand behind it rewrite those.
  Result<Program> (*run)(Program program, const PassOptions& options);
  Result<Program> (*lower)(const Program& program, const PassOptions& options) = nullptr;
};

// A program when all passes have run.
struct Lowered {
  Program imported;              // as the file has it, with its sizes bound and its step appended
  Program kernels;               // what the runtime runs
  std::vector<StageTime> times;  // of each pass that has run, in order
};

// What a model may be wrapped in, to be trained by several processes.
struct WrapperInfo {
  std::string_view name;
  std::string_view summary;
  bool shards = false;      // each process keeps a part of every parameter, and gathers the whole
  bool partitions = false;  // each steps some of the parameters, and sends these to the others
  int zero_stage = 0;       // of DeepSpeed, whose engine runs the step
  bool shares_layers = false;  // each has a part of some layers' weights, and computes with it
};

std::span<const LossInfo> Losses();
std::span<const WrapperInfo> Wrappers();
// Whether its wrapper does. False where there is none.
bool Shards(const ParallelOptions& options);
// The same of the parameters that are stepped.
bool Partitions(const ParallelOptions& options);
// The stage of DeepSpeed's ZeRO; 0 without it. In the last one each process keeps a part of every
// parameter, and modules gather the whole.
int ZeroStage(const ParallelOptions& options);
inline constexpr int kGatheringStage = 3;
// The same of what layers compute.
bool SharesLayers(const ParallelOptions& options);
std::span<const OptimizerInfo> Optimizers();
// The options of an optimizer with their defaults: all that change what a step costs among them.
std::vector<OptimizerOption> OptionsOf(const OptimizerInfo& optimizer);

// Every pass, in the order in which a weighing runs them.
std::span<const PassInfo> Passes();
// The row of that name, or null.
const PassInfo* FindPass(std::string_view name);
// The names of those that a weighing with these options runs, in order.
std::vector<std::string_view> PassesFor(const PassOptions& options);

// Runs the named passes in order; the result of the last one counts. An error is that of a pass, or
// of verification after it, which names the pass; or that there is no pass of such a name.
Result<Program> RunPasses(Program program, std::span<const std::string_view> names,
                          const PassOptions& options);

// Runs all passes that these options ask for.
Result<Lowered> Lower(Program program, const PassOptions& options);

}  // namespace steelyard
