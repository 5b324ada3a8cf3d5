// SPDX-License-Identifier: Apache-2.0
//
// Decides what `steelyard weigh` can be asked, and how words become options: their form is judged
// here, by the flag's name, what they mean for a model by the library. A flag that asks for
// something there is a table of chooses that table in CSV, and for a report that tells each event,
// equal micro-steps are weighed one by one.

#include "cli/weigh_command.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "cli/progress.h"
#include "cli/report_output.h"
#include "steelyard/error.h"
#include "steelyard/import.h"
#include "steelyard/pass.h"
#include "steelyard/units.h"
#include "steelyard/weigh.h"
#include "support/choices.h"

namespace steelyard::cli {
namespace {

Result<std::int64_t> ReadSize(std::string_view text) {
  std::int64_t size = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, size);
  if (problem != std::errc() || stopped != end || size < 0) {
    return Unexpected(UsageError(fmt::format("\"{}\" is not a size", text)));
  }
  return size;
}

// Bytes; nothing of an empty text.
Result<std::optional<std::int64_t>> ReadMemory(std::string_view text, std::string_view flag) {
  if (text.empty()) return std::optional<std::int64_t>();
  const std::string_view hint = "Write it as 80GB, 79.6GiB or 512B.";
  const std::optional<std::int64_t> bytes = ParseBytes(text);
  if (!bytes) {
    return Unexpected(UsageError(fmt::format("\"{}\" is not a size of memory", text),
                                 std::string(flag), std::string(hint)));
  }
  if (std::isdigit(static_cast<unsigned char>(text.back())) != 0) {
    return Unexpected(
        UsageError(fmt::format("\"{}\" has no unit", text), std::string(flag), std::string(hint)));
  }
  return bytes;
}

}  // namespace

Result<InputShape> ReadInputShape(std::string_view text) {
  const std::string_view form = "Write it as --input input_ids=2x128.";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return Unexpected(UsageError(fmt::format("\"{}\" is not a name and its sizes", text), "--input",
                                 std::string(form)));
  }
  InputShape shape{.name = std::string(text.substr(0, equals)), .sizes = {}};
  std::string_view rest = text.substr(equals + 1);
  while (true) {
    const std::size_t cross = rest.find_first_of("x,");
    const Result<std::int64_t> size = ReadSize(rest.substr(0, cross));
    if (!size) {
      return Unexpected(UsageError(fmt::format("{}: {}", text, size.error().message), "--input",
                                   std::string(form)));
    }
    shape.sizes.push_back(*size);
    if (cross == std::string_view::npos) return shape;
    rest.remove_prefix(cross + 1);
  }
}

Result<SymbolSize> ReadSymbolSize(std::string_view text) {
  const std::string_view form = "Write it as --size u0=128.";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Unexpected(UsageError(fmt::format("\"{}\" is not a symbol and its size", text), "--size",
                                 std::string(form)));
  }
  const Result<std::int64_t> size = ReadSize(text.substr(equals + 1));
  if (!size) {
    return Unexpected(
        UsageError(fmt::format("{}: {}", text, size.error().message), "--size", std::string(form)));
  }
  return SymbolSize{.name = std::string(text.substr(0, equals)), .size = *size};
}

Result<CastOverride> ReadCast(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const std::string_view name = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const std::optional<DType> dtype = DTypeNamed(name);
  if (equals == 0 || !dtype || !IsFloating(*dtype)) {
    return Unexpected(UsageError(fmt::format("\"{}\" is not an operator and a dtype", text),
                                 "--cast", "Write it as --cast aten::softmax=float32."));
  }
  return CastOverride{.of = std::string(text.substr(0, equals)), .dtype = *dtype};
}

void WeighCommand::AddModelFlags(std::vector<Flag>* flags) {
  flags->push_back(
      {.name = "MODEL",
       .help = "a model that torch.export.save wrote (.pt2) or ONNX, a config.json of "
               "transformers, weights (.safetensors, .gguf), or a folder with a config or weights",
       .field = &model_,
       .need = Need::kRequired});
  const auto section = [&](std::string_view heading, auto add) {
    const std::size_t first = flags->size();
    add();
    PutUnder(heading, first, flags);
  };
  section("Sizes", [&] { AddSizeFlags(flags); });
  section("A training step", [&] { train_.Add(flags); });
  section(kOfTexts, [&] { generate_.Add(flags); });
  section("How it runs", [&] {
    AddRunFlags(flags);
    AddDeviceFlags(flags);
  });
  section("How it is counted", [&] { AddCountFlags(flags); });
  section("How the file is read", [&] { AddImportFlags(flags); });
}

// In which sizes it is weighed.
void WeighCommand::AddSizeFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(),
                {{.name = "--input",
                  .arg = "NAME=2x128",
                  .help = "sizes of an input; once for each",
                  .field = &inputs_},
                 {.name = "--size",
                  .arg = "SYMBOL=N,...",
                  .help = "a size that only the data tell, such as how many elements "
                          "nonzero finds; \"u*\" stands for every one of them",
                  .field = &sizes_,
                  .takes_list = true},
                 {.name = "--batch",
                  .arg = "N",
                  .help = "the first size of the inputs, where the model leaves it open",
                  .field = &batch_},
                 {.name = "--seq",
                  .arg = "N",
                  .help = "the second, such as the length of texts",
                  .field = &seq_},
                 {.name = "--fit",
                  .arg = "80GB",
                  .help = "the largest batch, or --seq where the batch is given, or else the "
                          "first other size that is open, such as a height, whose peak is not "
                          "above this (80GiB counts by 1024), or that fits the --device with "
                          "all that its process may take: device",
                  .field = &fit_}});
}

void WeighCommand::AddRunFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(), {{.name = "--mode",
                                .arg = "MODE",
                                .help = "how dropout and batch normalization run",
                                .field = &mode_,
                                .choices = {"exported", "train", "eval"}},
                               {.name = "--runtime",
                                .arg = "NAME",
                                .help = "how it runs",
                                .field = &runtime_,
                                .choices = NamesOf(Runtimes())},
                               {.name = "--schedule",
                                .arg = "ORDER",
                                .help = "the order of the graph runtime's kernels",
                                .field = &schedule_,
                                .choices = NamesOf(Schedules())},
                               {.name = "--budget",
                                .arg = "40GB",
                                .help = "the graph runtime computes tensors again rather than "
                                        "hold more",
                                .field = &budget_},
                               {.name = "--amp",
                                .arg = "DTYPE",
                                .help = "run the model and the loss under torch.autocast",
                                .field = &amp_,
                                .choices = {"bf16", "fp16"}},
                               {.name = "--amp-policy",
                                .arg = "NAME",
                                .help = "whose rules say what is cast; raf's are of a compiler "
                                        "that casts the whole step",
                                .field = &amp_policy_,
                                .choices = {"torch", "raf"}},
                               {.name = "--cast",
                                .arg = "OP=DTYPE,...",
                                .help = "what autocast does with an operator, as "
                                        "'aten::softmax=float32', or in modules, as "
                                        "'encoder.layer.*=float32'; repeatable",
                                .field = &casts_,
                                .takes_list = true}});
}

void WeighCommand::AddDeviceFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(), {{.name = "--device",
                                .arg = "NAME",
                                .help = "where it runs; cpu is one thread with AVX-512",
                                .field = &device_,
                                .choices = TargetNames()},
                               {.name = "--devices",
                                .arg = "all",
                                .help = "which of these devices it fits, as h100,l4, or all; "
                                        "repeatable",
                                .field = &devices_,
                                .takes_list = true},
                               {.name = "--alloc-conf",
                                .arg = "CONF",
                                .help = "how CUDA's allocator is set up, as PYTORCH_ALLOC_CONF "
                                        "says it, and others to compare, or recommend; repeatable",
                                .field = &alloc_conf_},
                               {.name = "--segments",
                                .help = "draw the segments of CUDA's allocator where they are "
                                        "fullest, and what is used of them over the step; with "
                                        "--detailed all of them",
                                .field = &segments_},
                               {.name = "--no-cudnn-attention",
                                .help = "attention on CUDA does not run in cuDNN, as after "
                                        "torch.backends.cuda.enable_cudnn_sdp(False)",
                                .field = &no_cudnn_attention_},
                               {.name = "--deterministic",
                                .help = "as after torch.use_deterministic_algorithms(True)",
                                .field = &deterministic_},
                               {.name = "--torch",
                                .arg = "RELEASE",
                                .help = "whose code of CUDA runs; that of a cpu is known of the "
                                        "newest alone",
                                .field = &torch_,
                                .choices = TorchReleases()},
                               {.name = "--as",
                                .arg = "PROGRAM",
                                .help = "which program is weighed: the file's, or what the module "
                                        "does that it was exported from",
                                .field = &program_,
                                .choices = {"exported", "module"}}});
}

void WeighCommand::AddCountFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(), {{.name = "--count",
                                .arg = "CONVENTION",
                                .help = "how work is counted",
                                .field = &count_,
                                .choices = NamesOf(CountingConventions())},
                               {.name = "--strict",
                                .help = "refuse a model with operators that are not modelled",
                                .field = &strict_}});
}

// How the file is read, and what is built of one that describes a model without its graph.
void WeighCommand::AddImportFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(),
                {{.name = "--from",
                  .arg = "IMPORTER",
                  .help = "read the file as this, whatever it looks like",
                  .field = &from_,
                  .choices = NamesOf(Importers())},
                 {.name = "--dtype",
                  .arg = "DTYPE",
                  .help = "dtype of a model that is built from a config.json",
                  .field = &dtype_,
                  .choices = {"float32", "bfloat16", "float16", "float64"}},
                 {.name = "--attention",
                  .arg = "NAME",
                  .help = "attention of a model that is built from a config.json",
                  .field = &attention_,
                  .choices = {"sdpa", "eager", "flash"}},
                 {.name = "--use-cache",
                  .help = "such a model keeps and returns keys and values of its tokens",
                  .field = &use_cache_}});
}

// What is shown, and where.
void WeighCommand::AddReportFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(),
                {{.name = "--depth",
                  .arg = "N",
                  .help = "levels of the module tree to show",
                  .field = &report_.depth},
                 {.name = "--top",
                  .arg = "N",
                  .help = "operators to show, and classes at each depth",
                  .field = &report_.top},
                 {.name = "--classes",
                  .help = "sum up the modules of each class, depth by depth",
                  .field = &report_.classes},
                 {.name = "--detailed",
                  .help = "show repeated modules one by one, and more of what is held at the peak",
                  .field = &report_.detailed},
                 {.name = "--events",
                  .help = "list every allocation and free, in order",
                  .field = &report_.events},
                 {.name = "--timings",
                  .help = "tell how long reading, each pass and the rest took",
                  .field = &report_.timings},
                 {.name = "--progress",
                  .help = "tell how far the graph runtime is, also where no terminal listens",
                  .field = &progress_},
                 {.name = "--at",
                  .arg = "OP",
                  .help = "what is held at this operator or call instead of at the peak",
                  .field = &at_},
                 {.name = "--advise",
                  .help = "weigh the training step with changes that may lower its peak, too",
                  .field = &advise_},
                 {.name = "--print-after",
                  .arg = "PASS",
                  .help = "print the program as it is after a pass, and no report",
                  .field = &print_after_,
                  .choices = NamesOf(Passes())}});
  output_.AddFlags(flags);
}

WeighCommand::WeighCommand() : output_(NamesOf(ReportFormats()), NamesOf(ReportTables())) {}

std::vector<Flag> WeighCommand::Flags() {
  std::vector<Flag> flags;
  AddModelFlags(&flags);
  const std::size_t first = flags.size();
  AddReportFlags(&flags);
  PutUnder("The report", first, &flags);
  return flags;
}

Result<WeighOptions> WeighCommand::Options(bool names_precisions) const {
  WeighOptions options{.path = model_,
                       .from = from_,
                       .dtype = DTypeNamed(dtype_),
                       .attention = attention_,
                       .use_cache = use_cache_,
                       .amp = {.dtype = amp_ == "fp16" ? DType::kFloat16 : DTypeShortNamed(amp_)},
                       .runtime = runtime_,
                       .schedule = schedule_,
                       .count = count_,
                       .at = at_,
                       .strict = strict_,
                       .advise = advise_};
  SY_ASSIGN_OR_RETURN(options.train, train_.Options(given()));
  SY_ASSIGN_OR_RETURN(options.generate, generate_.Options(given()));
  if (progress_ && runtime_ != "graph") {
    return Unexpected(UsageError("only the graph runtime tells how far it is", "--progress",
                                 "Add --runtime graph."));
  }
  options.progress = StandardErrorProgress(progress_);
  options.as_module = program_ == "module";
  if (const std::optional<Target> target = TargetNamed(device_)) options.target = *target;
  options.target.cudnn_attention = !no_cudnn_attention_;
  options.target.deterministic = deterministic_;
  options.target.torch_minor = TorchMinorOf(torch_).value_or(Target().torch_minor);
  if (mode_ == "train") options.mode = ModelMode::kTrain;
  if (mode_ == "eval") options.mode = ModelMode::kEval;
  for (const std::string& cast : casts_) {
    SY_ASSIGN_OR_RETURN(CastOverride override, ReadCast(cast));
    options.amp.casts.push_back(std::move(override));
  }
  options.amp.policy = CastPolicyNamed(amp_policy_).value_or(CastPolicy::kTorch);
  const bool has_casts = !casts_.empty() || options.amp.policy != CastPolicy::kTorch;
  if (amp_.empty() && !names_precisions && has_casts) {
    return Unexpected(UsageError("nothing is cast without autocast",
                                 casts_.empty() ? "--amp-policy" : "--cast",
                                 "Switch it on with --amp bf16."));
  }
  options.bind.batch = batch_;
  options.bind.seq = seq_;
  for (const std::string& input : inputs_) {
    SY_ASSIGN_OR_RETURN(InputShape shape, ReadInputShape(input));
    options.bind.inputs.push_back(std::move(shape));
  }
  for (const std::string& size : sizes_) {
    SY_ASSIGN_OR_RETURN(SymbolSize symbol, ReadSymbolSize(size));
    options.bind.sizes.push_back(std::move(symbol));
  }
  options.devices = devices_;
  options.alloc_conf = alloc_conf_;
  options.segments = segments_;
  SY_ASSIGN_OR_RETURN(options.fit, Limit(options.target));
  SY_ASSIGN_OR_RETURN(options.budget, ReadMemory(budget_, "--budget"));
  return options;
}

// What `--fit` may take: so many bytes, or all that the device has.
Result<std::optional<std::int64_t>> WeighCommand::Limit(const Target& target) const {
  if (fit_ != "device") return ReadMemory(fit_, "--fit");
  if (target.memory > 0) return std::optional(target.memory);
  return Unexpected(UsageError("the memory of a cpu is not known", "--fit device",
                               "Name a CUDA device with --device, or a size: --fit 80GB."));
}

// A flag that asks for something of which there is a table means that table where there is but one.
Result<std::string> WeighCommand::TableFor(std::string_view format) const {
  if (TablesHeldBy(format) != TablesHeld::kOne || output_.names_table()) return output_.table();
  std::vector<std::string> tables;
  if (report_.events) tables.emplace_back("events");
  if (report_.classes) tables.emplace_back("classes");
  if (!at_.empty()) tables.emplace_back("held");
  if (segments_) tables.emplace_back("segments");
  if (tables.size() > 1) {
    return Unexpected(
        UsageError("a CSV file holds one table", "--format csv",
                   fmt::format("Choose it with --table: {}.", fmt::join(tables, ", "))));
  }
  return tables.empty() ? output_.table() : tables.front();
}

Status WeighCommand::PrintProgram(const WeighOptions& options) const {
  constexpr std::array<std::string_view, 4> kOfReports = {"--format", "--table", "--fit",
                                                          "--advise"};
  if (const std::string_view flag = FirstGiven(kOfReports); !flag.empty()) {
    return Unexpected(UsageError("--print-after prints a program and no report", std::string(flag),
                                 "Leave one of them out."));
  }
  SY_ASSIGN_OR_RETURN(const std::string program, PrintAfter(options, print_after_));
  return output_.Write(program);
}

Status WeighCommand::Run() {
  SY_ASSIGN_OR_RETURN(WeighOptions options, Options());
  if (!print_after_.empty()) return PrintProgram(options);
  SY_ASSIGN_OR_RETURN(const std::string format, output_.Format());
  SY_ASSIGN_OR_RETURN(report_.table, TableFor(format));
  options.train.unroll = TellsEachStep(format, report_);
  options.segments |= report_.table == "segments" || report_.table == "levels";
  SY_ASSIGN_OR_RETURN(const Weighing weighing, Weigh(options));
  SY_ASSIGN_OR_RETURN(const std::string text,
                      WriteReport(weighing, format, report_, output_.Look()));
  return output_.Write(text);
}

}  // namespace steelyard::cli
