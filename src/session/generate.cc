// SPDX-License-Identifier: Apache-2.0
//
// generate() of transformers calls the model with the prompt, which gives the first new token, and
// then with each new token but the last. So N new tokens take N calls, and the cache holds all
// tokens but the last.
#include "session/generate.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analyze/parameters.h"
#include "ir/cache_layer.h"
#include "session/analyses.h"
#include "session/device_memory.h"
#include "session/fit.h"
#include "support/choices.h"

namespace steelyard {
namespace {

// No text is longer; it keeps the arithmetic within bounds.
constexpr std::int64_t kMostTokens = std::int64_t{1} << 31;
constexpr std::int64_t kMostBeams = 4096;

Error NoSense(std::string message, std::string flag, std::string hint) {
  return UsageError(std::move(message), std::move(flag), std::move(hint));
}

Status CheckSizes(const GenerateOptions& generate) {
  const auto within = [](std::int64_t value, std::int64_t most) {
    return value >= 1 && value <= most;
  };
  if (!within(generate.prompt, kMostTokens) || !within(generate.tokens, kMostTokens)) {
    return Unexpected(NoSense("a prompt and what is written have from 1 to 2^31 tokens",
                              "--generate", "Write them as --generate 512+128."));
  }
  if (!within(generate.beams, kMostBeams)) {
    return Unexpected(NoSense(fmt::format("there are from 1 to {} beams", kMostBeams), "--beams",
                              "Four are usual."));
  }
  if (!within(generate.block, kMostTokens)) {
    return Unexpected(
        NoSense("a block has from 1 to 2^31 tokens", "--block-size", "vLLM's have 16."));
  }
  if (generate.shared_prefix < 0 || generate.shared_prefix > generate.prompt) {
    return Unexpected(NoSense("what prompts begin with is no longer than they are",
                              "--shared-prefix",
                              fmt::format("The prompt has {} tokens.", generate.prompt)));
  }
  return {};
}

CacheStep PromptStep(const GenerateOptions& generate) {
  return {.tokens = generate.prompt, .reorders = generate.beams > 1};
}

CacheStep StepAfter(const GenerateOptions& generate, std::int64_t past) {
  return {.past = past,
          .tokens = 1,
          .after_prompt = past == generate.prompt,
          .reorders = generate.beams > 1};
}

// Weighs the calls, one after the other, of as many sequences as the options say.
class Calls {
 public:
  Calls(const WeighOptions& options, const ImportOptions& import, const WeighOne& weigh)
      : options_(options),
        generate_(*options.generate),
        import_(import),
        weigh_(weigh),
        store_(*FindCacheStore(generate_.store)),
        numbers_(FindCacheNumbers(generate_.numbers)) {}

  // The call of so many prompts that the report is of: the last or, where all shall fit, the one
  // that needs most, which decides it.
  Result<Weighing> Weigh(const BindOptions& sizes) {
    BindOptions bind = sizes;
    const std::int64_t prompts = sizes.batch.value_or(1);
    bind.batch = prompts * generate_.beams;
    told_ = std::make_unique<Generation>();
    Weighing explained;
    SY_RETURN_IF_ERROR(Add("prompt", PromptStep(generate_), bind, &explained));
    if (generate_.tokens > 1) {
      const std::int64_t final = generate_.prompt + generate_.tokens - 2;
      SY_RETURN_IF_ERROR(Add("first", StepAfter(generate_, generate_.prompt), bind, &explained));
      if (final > generate_.prompt) {
        SY_RETURN_IF_ERROR(Add("last", StepAfter(generate_, final), bind, &explained));
      }
    }
    if (!options_.at.empty()) {
      SY_ASSIGN_OR_RETURN(explained, WeighCall(explained_, bind, options_.at));
    }
    SY_RETURN_IF_ERROR(CountAll());
    for (const GenerationCall& call : told_->calls) {
      told_->peak = std::max(told_->peak, call.peak);
    }
    explained.totals.peak_bytes = std::max(explained.totals.peak_bytes, told_->peak);
    explained.generation = std::move(told_);
    return explained;
  }

  CacheUse End(std::int64_t sequences) const {
    const std::int64_t seen = generate_.prompt + generate_.tokens - 1;
    const std::int64_t given = generate_.tokens > 1 ? 1 : generate_.prompt;
    return Use(sequences, seen - given, given);
  }

 private:
  CacheUse Use(std::int64_t sequences, std::int64_t past, std::int64_t tokens) const {
    return {.sequences = sequences,
            .prompt = generate_.prompt,
            .past = past,
            .tokens = tokens,
            .most = generate_.prompt + generate_.tokens - 1,
            .block = generate_.block,
            .shared = generate_.shared_prefix,
            .reorders = generate_.beams > 1,
            .dtype = dtype_,
            .numbers = numbers_};
  }

  // Weighs one more call, which takes the place of `explained` where the report is to be of it.
  Status Add(std::string_view name, const CacheStep& step, const BindOptions& bind,
             Weighing* explained) {
    SY_ASSIGN_OR_RETURN(Weighing call, WeighCall(step, bind, {}));
    if (told_->calls.empty()) DescribeCalls(call, *bind.batch);
    AddCall(call, name, step.past, step.tokens);
    const bool decides = told_->calls.size() == 1 || !options_.fit || !Weighs() ||
                         NeededBytes(call) >= NeededBytes(*explained);
    if (decides) {
      *explained = std::move(call);
      explained_ = step;
      told_->explained = told_->calls.size() - 1;
    }
    return {};
  }

  // With the moment `at`, of which only the call that the report is of need know.
  Result<Weighing> WeighCall(const CacheStep& step, const BindOptions& bind,
                             const std::string& at) {
    ImportOptions import = import_;
    import.cache = step;
    SY_ASSIGN_OR_RETURN(Program program, ImportFile(options_.path, import));
    WeighOptions options = options_;
    options.bind = bind;
    options.at = at;
    return weigh_(std::move(program), options);
  }

  // What does not change from call to call.
  void DescribeCalls(const Weighing& weighing, std::int64_t sequences) {
    const Program& program = weighing.kernels;
    Generation& told = *told_;
    for (const Value& value : program.values) {
      if (value.role == Role::kCache) dtype_ = value.dtype;
    }
    const ParameterReport& parameters = weighing.analyses->parameters;
    told.prompt = generate_.prompt;
    told.tokens = generate_.tokens;
    told.beams = generate_.beams;
    told.sequences = sequences;
    told.store = store_.name;
    if (numbers_ != nullptr) told.numbers = numbers_->name;
    told.dtype = dtype_;
    if (store_.takes_blocks) told.block = generate_.block;
    told.shared_prefix = generate_.shared_prefix;
    told.weights = parameters.parameters.bytes + parameters.buffers.bytes;
    told.layers = GroupLayers(weighing.imported.cache_layers);
  }

  void AddCall(const Weighing& weighing, std::string_view name, std::int64_t past,
               std::int64_t tokens) {
    const WorkReport& work = weighing.analyses->work;
    told_->calls.push_back({.name = name,
                            .past = past,
                            .tokens = tokens,
                            .peak = Weighs() ? weighing.totals.peak_bytes : 0,
                            .flops = 2 * work.of(Phase::kForward).macs,
                            .weights_read = WeightsRead(weighing.kernels, work)});
  }

  // Whether the programs are those of such a cache.
  bool Weighs() const { return &store_ == &CacheStoreRows().front() && numbers_ == nullptr; }

  // QuantizedCache of transformers raises for them; engines with blocks do not.
  Status CheckWindows() const {
    if (numbers_ == nullptr || !numbers_->transformers || store_.takes_blocks) return {};
    for (const CacheGroup& group : told_->layers) {
      if (group.layer.window == 0) continue;
      return Unexpected(NoSense(
          fmt::format("layers of this model look through a window, and transformers keeps no {} "
                      "of such",
                      numbers_->name),
          "--cache-dtype", "Leave it away, or say --cache paged."));
    }
    return {};
  }

  Status CountAll() {
    Generation& told = *told_;
    SY_RETURN_IF_ERROR(CheckWindows());
    for (GenerationCall& call : told.calls) {
      const CacheUse use = Use(told.sequences, call.past, call.tokens);
      SY_ASSIGN_OR_RETURN(const CacheBytes after, BytesOf(told.layers, store_, use));
      call.cache = after.all.value();
      CheckedInt read = 0;
      CheckedInt written = 0;
      for (const CacheGroup& group : told.layers) {
        const CheckedInt token =
            BytesPerToken(group.layer, dtype_, numbers_) * group.layers * told.sequences;
        read += token * TokensHeld(group.layer, call.past);
        written += token * call.tokens;
      }
      call.cache_read = read.value();
      call.cache_written = written.value();
      Time(generate_.operations, generate_.bandwidth, &call);
    }
    told.seconds = TimeOfAll(told);
    const CacheUse end = End(told.sequences);
    SY_RETURN_IF_ERROR(CountCache(store_, end, &told));
    if (!options_.fit) return {};
    const std::int64_t room = std::max<std::int64_t>(*options_.fit - told.weights, 0);
    told.fit = GenerationFit{.limit = *options_.fit,
                             .tokens = TokensWithin(room, told, store_, end),
                             .sequences = SequencesWithin(room, told, store_, end)};
    return {};
  }

  const WeighOptions& options_;
  const GenerateOptions& generate_;
  const ImportOptions& import_;
  const WeighOne& weigh_;
  const CacheStoreRow& store_;
  const CacheNumberRow* numbers_;
  DType dtype_ = DType::kFloat32;
  std::unique_ptr<Generation> told_;
  CacheStep explained_;  // what the report is of
};

}  // namespace

CacheStep LastCall(const GenerateOptions& generate) {
  if (generate.tokens == 1) return PromptStep(generate);
  return StepAfter(generate, generate.prompt + generate.tokens - 2);
}

Status CheckGeneration(const WeighOptions& options) {
  const GenerateOptions& generate = *options.generate;
  const CacheStoreRow* store = FindCacheStore(generate.store);
  if (store == nullptr) {
    return Unexpected(NoSuch("store of caches", generate.store, NamesOf(CacheStoreRows())));
  }
  if (!generate.numbers.empty() && FindCacheNumbers(generate.numbers) == nullptr) {
    return Unexpected(NoSuch("number of caches", generate.numbers, NamesOf(CacheNumberRows())));
  }
  if (!generate.numbers.empty() && !store->takes_numbers) {
    return Unexpected(NoSense(fmt::format("a {} cache is kept in the model's dtype", store->name),
                              "--cache-dtype", "Leave it away, or say --cache paged."));
  }
  if (generate.shared_prefix > 0 && !store->takes_blocks) {
    return Unexpected(
        NoSense(fmt::format("a {} cache has no blocks that can be shared", store->name),
                "--shared-prefix", "Say --cache paged."));
  }
  if (!options.train.optimizer.empty()) {
    return Unexpected(
        NoSense("a training step writes no text", "--generate", "Leave --train away."));
  }
  if (SharesLayers(options.train.parallel)) {
    return Unexpected(Unsupported("text that several processes write is not modelled",
                                  "--generate, --parallel", "Leave one away."));
  }
  if (options.advise) {
    return Unexpected(NoSense("only a training step is advised on", "--advise", "Leave it away."));
  }
  if (options.runtime != WeighOptions().runtime) {
    return Unexpected(NoSense("text is written eagerly", "--runtime", "Leave it away."));
  }
  if (!options.devices.empty()) {
    return Unexpected(NoSense("text is written on one device at a time", "--devices",
                              "Name it with --device, one after the other."));
  }
  if (options.mode != ModelMode::kExported) {
    return Unexpected(NoSense("text is written in evaluation mode", "--mode", "Leave it away."));
  }
  if (options.as_module) {
    return Unexpected(
        NoSense("a model that writes text is built as its module runs", "--as", "Leave it away."));
  }
  if (options.bind.seq) {
    return Unexpected(NoSense("the prompt says how long the input is", "--seq",
                              "Leave it away; --generate 512+128 has a prompt of 512."));
  }
  return CheckSizes(generate);
}

Result<Weighing> WeighGeneration(const WeighOptions& options, const ImportOptions& import,
                                 const WeighOne& weigh) {
  SY_RETURN_IF_ERROR(CheckGeneration(options));
  Calls calls(options, import, weigh);
  const WeighSizes at = [&](const BindOptions& sizes) { return calls.Weigh(sizes); };
  const bool weighed =
      options.generate->store == CacheStoreRows().front().name && options.generate->numbers.empty();
  if (!options.fit || options.bind.batch || !weighed) return at(options.bind);
  const OpenSize open{.batch = true, .least = 1, .most = kMostTokens, .step = 1};
  return WeighLargest(open, options.bind, *options.fit, at);
}

}  // namespace steelyard
