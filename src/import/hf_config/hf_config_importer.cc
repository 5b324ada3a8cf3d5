// SPDX-License-Identifier: Apache-2.0
//
// The architecture is a row of src/models; this file chooses the row, the head and the options.
#include "import/hf_config/hf_config_importer.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "import/hf_config/json_settings.h"
#include "ir/facts.h"
#include "models/model.h"
#include "steelyard/builder.h"
#include "support/choices.h"

namespace steelyard {
namespace {

using models::Architecture;
using models::Settings;

constexpr std::string_view kExtensions[] = {".json"};
constexpr std::string_view kConfigName = "config.json";
constexpr std::string_view kQuantisation = "quantization_config";
// Keys that transformers writes. They are sorted, so that the type may stand far down the file.
constexpr std::string_view kTellingKeys[] = {"\"architectures\"", "\"model_type\""};

Error UnknownType(const std::string& type) {
  std::vector<std::string_view> types;
  for (const Architecture* one : models::Architectures()) types.push_back(one->type);
  std::ranges::sort(types);
  // Of a model of texts and images the part that reads texts has a type of its own: "gemma3_text".
  const auto part = std::ranges::find(types, type + "_text");
  const std::string_view meant = part != types.end() ? *part : NearestWord(type, types);
  return Unsupported(
      "models of type \"" + type + "\" are not built from their configs", "model_type",
      fmt::format("{}Known are {}. Any other, exported in Python: ep = torch.export.export(model, "
                  "(), inputs, strict=False); torch.export.save(ep, \"model.pt2\").",
                  meant.empty() ? "" : fmt::format("Did you mean {}? ", meant),
                  fmt::join(types, ", ")));
}

// What makes a model return more than its file says elsewhere.
void RefuseFurtherOutputs(const Settings& config) {
  for (const std::string_view key : {"output_hidden_states", "output_attentions"}) {
    if (!config.Flag(key, false)) continue;
    config.Refuse(key, "outputs of every layer are not built",
                  "Set it to false, or export the model with torch.export.");
  }
}

Error NoGeneration(const Architecture& architecture) {
  std::vector<std::string_view> types;
  for (const Architecture* one : models::Architectures()) {
    if (one->generates) types.push_back(one->type);
  }
  std::ranges::sort(types);
  return Unsupported(
      "generation is not built of models of type \"" + std::string(architecture.type) + "\"",
      "model_type", fmt::format("It is built of {}.", fmt::join(types, ", ")));
}

// The head is what a class's name says behind the architecture: "ForCausalLM" of LlamaForCausalLM.
Result<std::string> HeadOf(const Settings& config, const Architecture& architecture) {
  const std::vector<std::string> classes = config.Texts("architectures");
  if (classes.empty()) return std::string(architecture.heads.front());
  std::string_view name = classes.front();
  if (name.starts_with(architecture.prefix)) name.remove_prefix(architecture.prefix.size());
  if (std::ranges::find(architecture.heads, name) == architecture.heads.end()) {
    std::string known;
    for (const std::string_view head : architecture.heads) {
      known.append(known.empty() ? "" : ", ").append(architecture.prefix).append(head);
    }
    const std::string what = name.empty() ? "the first one is no name of a class"
                                          : "there is no " + classes.front() + " of this type";
    return Unexpected(Unsupported(what, "architectures", "Known are " + known + "."));
  }
  return std::string(name);
}

Result<DType> DTypeOf(const Settings& config, const ImportOptions& options) {
  if (options.dtype) return *options.dtype;
  if (config.Has(kQuantisation)) {
    const bool trains = options.training || options.labelled;
    if (trains || !options.quantised) {
      return Unexpected(Unsupported(
          trains ? "its weights are quantised, and such are not trained"
                 : "its weights are quantised, and how they are stored is not known without them",
          std::string(kQuantisation), "Weigh it as if they were not: --dtype bfloat16."));
    }
  }
  for (const std::string_view key : {"dtype", "torch_dtype"}) {
    if (!config.Has(key)) continue;
    const std::string name = config.Text(key);
    const std::optional<DType> dtype = DTypeNamed(name);
    if (dtype && IsFloating(*dtype)) return *dtype;
    config.Refuse(key, "\"" + name + "\" is no floating-point dtype");
  }
  return DType::kFloat32;
}

// What transformers returns is a dictionary, which lets go of its first entry first.
void ReleaseInOrder(Program& program) {
  if (program.main().outputs.size() < 2) return;
  program.released.resize(program.main().outputs.size());
  std::iota(program.released.begin(), program.released.end(), 0);
}

// Flash attention is built of some models, and of a text that is read at once.
Status RefuseFlash(const ImportOptions& options, const Architecture& architecture) {
  if (!architecture.flash) {
    return Unexpected(UsageError(
        "flash attention is not built of models of type \"" + std::string(architecture.type) + "\"",
        "--attention", "Leave it away."));
  }
  if (!options.cache) return {};
  return Unexpected(UsageError("calls that keep keys and values are not built with flash attention",
                               "--attention", "Leave it away: they take sdpa."));
}

Status RefuseWideFlash(models::Attention attention, DType dtype) {
  const bool half = dtype == DType::kBFloat16 || dtype == DType::kFloat16;
  if (attention != models::Attention::kFlash || half) return {};
  return Unexpected(
      UsageError(fmt::format("flash attention takes bfloat16 and float16, and the model is of {}",
                             NameOf(dtype)),
                 "--attention", "Pass --dtype bfloat16."));
}

Result<models::Attention> AttentionOf(const ImportOptions& options,
                                      const Architecture& architecture) {
  const std::optional<models::Attention> named = models::AttentionNamed(options.attention);
  if (!named) {
    return Unexpected(
        UsageError("there is no attention \"" + options.attention + "\"", "--attention",
                   fmt::format("It is {}.", fmt::join(NamesOf(models::Attentions()), " or "))));
  }
  if (*named == models::Attention::kFlash) {
    SY_RETURN_IF_ERROR(RefuseFlash(options, architecture));
  }
  const std::optional<models::Attention> only = architecture.only_attention;
  const bool flash = *named == models::Attention::kFlash;
  if (!only || flash || *only == *named) return *named;
  if (options.attention.empty()) return *only;
  return Unexpected(UsageError("transformers has no such attention of this model", "--attention",
                               "It has its eager one."));
}

Result<const Architecture*> ArchitectureOf(const Settings& config) {
  if (!config.Has("model_type")) {
    return Unexpected(Unsupported(
        "the config does not say it", "model_type",
        "It should be the config.json that transformers writes with save_pretrained()."));
  }
  const std::string type = config.Text("model_type");
  SY_RETURN_IF_ERROR(config.status());
  const Architecture* architecture = models::FindArchitecture(type);
  if (architecture == nullptr) return Unexpected(UnknownType(type));
  return architecture;
}

Result<Program> BuildModel(const Settings& config, const ImportOptions& options) {
  SY_ASSIGN_OR_RETURN(const Architecture* architecture, ArchitectureOf(config));
  SY_ASSIGN_OR_RETURN(const models::Attention attention, AttentionOf(options, *architecture));
  SY_ASSIGN_OR_RETURN(std::string head, HeadOf(config, *architecture));
  SY_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(config, options));
  SY_RETURN_IF_ERROR(RefuseWideFlash(attention, dtype));
  const models::ModelOptions chosen{.head = std::move(head),
                                    .dtype = dtype,
                                    .attention = attention,
                                    .training = options.training,
                                    .labelled = options.labelled,
                                    .cache = options.cache,
                                    .holds_variables = options.as_module};
  const std::string name = std::string(architecture->prefix) + chosen.head;
  Builder builder(name, name);
  RefuseFurtherOutputs(config);
  models::Net net{.b = builder, .config = config, .options = chosen};
  architecture->build(net);
  SY_RETURN_IF_ERROR(config.status());
  SY_ASSIGN_OR_RETURN(Program program, std::move(builder).Build());
  if (options.cache && program.cache_layers.empty()) {
    return Unexpected(NoGeneration(*architecture));
  }
  ReleaseInOrder(program);
  program.facts.push_back(
      {.name = program.strings.Intern(kBuiltFrom), .text = program.strings.Intern("config.json")});
  if (options.quantised && config.Has(kQuantisation)) {
    program.facts.push_back(
        {.name = program.strings.Intern("quantisation"),
         .text = program.strings.Intern(config.Within(kQuantisation).Text("quant_method", ""))});
    SY_RETURN_IF_ERROR(config.status());
  }
  return program;
}

Result<Program> Built(const models::Setting& root, const std::string& path,
                      const ImportOptions& options) {
  Result<Program> program = BuildModel(Settings(root), options);
  if (program || program.error().code == ErrorCode::kUsage) return program;
  return Unexpected(Within(path, std::move(program).error()));
}

// A folder of the Hub stands for its config.
Result<Program> ReadConfig(const std::string& named, const ImportOptions& options) {
  std::error_code code;
  const bool folder = std::filesystem::is_directory(named, code);
  const std::string path = folder ? (std::filesystem::path(named) / kConfigName).string() : named;
  SY_ASSIGN_OR_RETURN(const models::Setting root, ReadSettings(path));
  return Built(root, path, options);
}

}  // namespace

Result<Program> BuildOfConfig(const std::string& text, const std::string& path,
                              const ImportOptions& options) {
  SY_ASSIGN_OR_RETURN(const models::Setting root, SettingsIn(text, path));
  return Built(root, path, options);
}

const Importer kHfConfigImporter = {
    .name = "config",
    .extensions = kExtensions,
    .sniff =
        [](std::string_view head) {
          return head.starts_with('{') && std::ranges::any_of(kTellingKeys, [&](auto key) {
                   return head.find(key) != std::string_view::npos;
                 });
        },
    .read = ReadConfig,
    .summary = "config.json of transformers: the model is built from it, without PyTorch",
    .builds = true,
    .takes_folder =
        [](std::span<const std::string> names) {
          return std::ranges::find(names, kConfigName) != names.end();
        },
};

}  // namespace steelyard
