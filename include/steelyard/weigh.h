// SPDX-License-Identifier: Apache-2.0
//
// Weighing a model: what it costs, statically, in milliseconds. This is the one door to everything
// else: it reads the file, runs the passes, the simulated runtime and the analyses, and writes the
// report.
//
//   Result<Weighing> weighing = Weigh({.path = "bert.pt2", .bind = {.batch = 32}});
//   if (!weighing) return Report(Describe(weighing.error()));
//   std::int64_t bytes = weighing->totals.peak_bytes;
//   std::int64_t flops = weighing->totals.forward_flops;
//   Result<std::string> text = WriteReport(*weighing, "text", {});
//
// Nothing here prints, reads the environment or keeps state between calls; weighings of different
// models may run in different threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/pass.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"

namespace steelyard {

// Text that a model writes after a prompt, token by token.
struct GenerateOptions {
  // Tokens of each sequence: of its prompt, and those that it writes, at least one. The prompt's
  // call gives the first of these; each of the others is a call of its own.
  std::int64_t prompt = 0;
  std::int64_t tokens = 1;
  // Continuations that are kept of each sequence: beam search.
  std::int64_t beams = 1;
  // How the cache is stored: a name of `CacheStores`. The steps are weighed with the first of them.
  std::string store = "dynamic";
  // Its numbers, where they are not the model's: a name of `CacheNumbers`.
  std::string numbers = {};
  // Tokens of a block of a paged cache, and tokens that all prompts begin with and share.
  std::int64_t block = 16;
  std::int64_t shared_prefix = 0;
  // What the device moves and does in a second: bytes, and operations. 0: it is not asked for time.
  double bandwidth = 0;
  double operations = 0;
};

// What is weighed, and how it is counted.
struct WeighOptions {
  // The model's file.
  std::string path = {};

  // The importer that reads it, by its name. Empty: found from the file.
  std::string from = {};

  // How a model that a config.json describes is built: import.h.
  std::optional<DType> dtype = {};
  std::string attention = {};

  // The forward pass keeps keys and values of the tokens and returns them, as transformers runs it
  // with use_cache=True. Of models that are built from a config.json.
  bool use_cache = false;

  // Weighs the calls of a generation, and tells the last or, with `fit`, the one that needs most.
  std::optional<GenerateOptions> generate = {};

  // Sizes of the inputs. A symbolic size that nothing here decides takes the one that the file was
  // exported with, and the report says so.
  BindOptions bind = {};

  // The mode of the model, where it shall not be the one that it was exported in.
  ModelMode mode = ModelMode::kExported;

  // Weighs what the module does that was exported, not the file's program as it is: attention takes
  // no mask where the file's hides nothing or only what comes later, and tensors live as long as
  // the frames of Python hold them.
  bool as_module = false;

  // Of what `as_module` is, how long tensors live, and no more: the masks of a program that was
  // traced along the path that the module takes when it runs are the module's own. The program has
  // to be imported with `ImportOptions::as_module`.
  bool hold_variables = false;

  // The training step that is weighed; without an optimizer, one forward pass without gradients.
  TrainOptions train = {};

  // Mixed precision.
  AmpOptions amp = {};

  // Where the program is to run.
  Target target = {};

  // How it runs: a name of `Runtimes`.
  std::string runtime = "eager";

  // The order of the graph runtime's kernels: a name of `Schedules`.
  std::string schedule = "post-order";

  // Bytes, what is resident included: the graph runtime computes tensors again rather than hold
  // more.
  std::optional<std::int64_t> budget = {};

  // Called by the graph runtime at each tenth of its program, with what is done and what is all.
  std::function<void(int done, int total)> progress = {};

  // The convention in which work is counted: a name of `CountingConventions`.
  std::string count = "torch";

  // The moment of which the report tells the memory, instead of the peak: of all calls of the
  // operator of this name ("aten::softmax", "softmax") the one at which most is held, or else the
  // call of this name ("softmax_3").
  std::string at = {};

  // Refuses a program with operators that have no row in the operator table. Otherwise it is
  // weighed without them, and every total says that it is a lower bound.
  bool strict = false;

  // Bytes: weighs with the largest batch whose peak is not above this or, where the batch is given
  // or fixed, with the largest sequence. A size that `bind` gives is not searched.
  std::optional<std::int64_t> fit = {};

  // Weighs the training step with changes that may lower its peak, too.
  bool advise = false;

  // Weighs it for other devices too, to tell which it fits: names of `TargetNames`, or "all".
  std::vector<std::string> devices = {};

  // Keeps what CUDA's allocator holds over the step, and its segments where they are fullest.
  bool segments = false;

  // What PYTORCH_ALLOC_CONF says of CUDA's allocator: the first holds, the others are compared with
  // it; "recommend" stands for those that often help.
  std::vector<std::string> alloc_conf = {};
};

// The numbers that most callers want, of what was weighed: one forward pass without gradients or,
// where `WeighOptions::train` names an optimizer, one training step. Work is that of its forward
// part; memory that of the whole. Of a file of weights only parameters and buffers are told: the
// others are 0.
struct Totals {
  // Elements of all parameters, trained or not, and their bytes. Tied parameters once.
  std::int64_t parameter_count = 0;
  std::int64_t parameter_bytes = 0;

  // Bytes of the buffers, tensor constants included.
  std::int64_t buffer_bytes = 0;

  // Work of the forward pass and the loss; nothing of the backward pass and the optimizer.
  // Multiply-adds of contractions: matrix products, convolutions, attention.
  std::int64_t forward_macs = 0;
  // What `WeighOptions::count` counts, in its measure: "torch" counts 2 operations for each of
  // those multiply-adds, "deepspeed" multiply-adds.
  std::int64_t forward_flops = 0;
  // The arithmetic of every operator, in operations, whatever the convention.
  std::int64_t forward_flops_all = 0;

  // Bytes that are there before it runs: parameters, buffers, inputs and, of a training step that
  // is not the first, what the optimizer keeps.
  std::int64_t resident_bytes = 0;
  // Bytes: the highest total in any phase, what is resident included.
  std::int64_t peak_bytes = 0;

  // Calls of operators in the program as the file has it, with those that a training step adds;
  // and those of them that the operator table knows.
  std::int64_t operators = 0;
  std::int64_t modelled_operators = 0;
};

struct Analyses;    // What the report is made from, besides.
struct Generation;  // And of a generation.

// A weighed model. Movable; cheap to ask for any number of reports.
struct Weighing {
  Weighing();
  ~Weighing();
  Weighing(Weighing&&) noexcept;
  Weighing& operator=(Weighing&&) noexcept;

  WeighOptions options;
  Totals totals;
  Program imported;            // As the file has it, with its sizes bound.
  Program kernels;             // As the runtime runs it.
  Timeline timeline;           // Every allocation and free of what was weighed.
  double elapsed_seconds = 0;  // What weighing took.
  // Of it what reading, each pass, the simulated run and the analyses took; of a search or of
  // advice, those of the weighing that is told.
  std::vector<StageTime> times;
  std::optional<Fit> fit;                  // Of a search.
  std::optional<Baseline> baseline;        // Of mixed precision.
  std::vector<Advice> advice;              // The lowest peak first, where it was asked for.
  std::vector<DeviceFit> devices;          // Those that were asked for, in the order of their rows.
  std::vector<AllocatorTrial> allocators;  // Of several `alloc_conf`, the least reserved first.
  std::unique_ptr<const Analyses> analyses;
  std::unique_ptr<const Generation> generation;
};

// Weighs the model that `options` name. Returns the error of the file, of the sizes or of an
// operator that cannot take its operands; a usage error when there is no such convention, a
// not-found error when there is no such call; when `strict`, an unsupported error that lists the
// operators without a row. Time and memory grow with the file's description; no weights are read.
[[nodiscard]] Result<Weighing> Weigh(const WeighOptions& options);

// Weighs a program that is in memory, as a builder or an importer gives it. `options.path` is what
// the report and errors call it, and may be empty; what says how a file is read (`from`, `dtype`,
// `attention`, `use_cache`, `generate`) is a usage error.
[[nodiscard]] Result<Weighing> Weigh(Program program, const WeighOptions& options);

// Returns the program's text form as it is after a pass, one of `Passes`: what is weighed, or what
// stands in the way of it. A usage error when there is no such pass or these options do not run it.
[[nodiscard]] Result<std::string> PrintAfter(const WeighOptions& options, std::string_view pass);

// What of a weighing a report shows. The JSON has all of it, events excepted.
struct ReportOptions {
  // How many levels of the module tree are shown, and how many operators.
  int depth = 2;
  int top = 10;

  // Shows the modules of one class at one depth as one, for each of those levels.
  bool classes = false;

  // Shows repeated modules one by one, and more of the tensors at the peak.
  bool detailed = false;

  // Lists every allocation and free.
  bool events = false;

  // Tells how long each part of the weighing took.
  bool timings = false;

  // What CSV holds: a name of `ReportTables`. The data has it too, even where it otherwise has not.
  std::string table = "modules";
};

// Returns the report as a document with all its parts: data for programs, blocks for people, a
// trace for viewers.
[[nodiscard]] report::Document Describe(const Weighing& weighing, const ReportOptions& options);

// Returns the report in the format of that name, one of `ReportFormats`; a usage error that lists
// them when there is none such. Builds no more of the document than that format needs.
[[nodiscard]] Result<std::string> WriteReport(const Weighing& weighing, std::string_view format,
                                              const ReportOptions& options,
                                              const report::RenderOptions& render = {});

// Whether such a report tells each kernel or each event, so that a step of many micro-steps must be
// weighed with `TrainOptions::unroll` for it. WriteReport refuses it otherwise; Describe tells
// those of the micro-steps that were weighed.
[[nodiscard]] bool TellsEachStep(std::string_view format, const ReportOptions& options);

// A thing that is chosen by its name.
struct Choice {
  std::string_view name;
  std::string_view summary;
  // Of the files that hold it, with the dot; empty where there are none.
  std::string_view extension = {};
};

// Every format of reports, every table that CSV can hold, every counting convention, every runtime
// and every order that the graph runtime knows; how a cache can be stored, and in what numbers; the
// default first.
[[nodiscard]] std::vector<Choice> ReportFormats();
[[nodiscard]] std::vector<Choice> ReportTables();
[[nodiscard]] std::vector<Choice> CountingConventions();
[[nodiscard]] std::vector<Choice> Runtimes();
[[nodiscard]] std::vector<Choice> Schedules();
[[nodiscard]] std::vector<Choice> CacheStores();
[[nodiscard]] std::vector<Choice> CacheNumbers();

// The format of files that are named like `path`; empty where the name does not say it.
[[nodiscard]] std::string_view FormatOfFile(std::string_view path);

// How many tables a report in a format holds. Requires: it is one of `ReportFormats`.
[[nodiscard]] TablesHeld TablesHeldBy(std::string_view format);

// Two models side by side, or two reports, or one of each: what they cost and where that differs.
struct CompareOptions {
  // Two files: models, or reports that `steelyard weigh --format json` wrote.
  std::string a = {};
  std::string b = {};

  // How the models are weighed. Its path is not used; reports are taken as they are.
  WeighOptions weigh = {};

  // What of `weigh` was asked for, in the words of who asked: "--train". It cannot apply to a
  // report: it is refused where both are reports, and where one is the comparison says so.
  std::vector<std::string> asked = {};

  // How many levels of the module tree are shown, and how many modules and operators that differ.
  int depth = 2;
  int top = 10;
};

// Returns the comparison as a document: data with the arrays `totals`, `categories`, `modules` and
// `operators` (docs/comparison.schema.json), and blocks for people. The errors are those of
// `Weigh`, that a JSON file is no report or that a field of it is missing, wrong or impossible, and
// a usage error for options that apply to neither.
[[nodiscard]] Result<report::Document> Compare(const CompareOptions& options);

// The names of those arrays, each of which can be written as CSV.
[[nodiscard]] std::span<const std::string_view> ComparisonTables();

}  // namespace steelyard
