// SPDX-License-Identifier: Apache-2.0
//
// From the archive to the program: which entry is the model, what else the archive tells, and what
// to say about zip files that are something else. Two layouts are known: since torch 2.8
// "<root>/models/<name>.json" with lists of weights in "<root>/data/weights", before it
// "serialized_exported_program.json" beside a state dict.
#include "import/pt2/pt2_importer.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/json.h"
#include "import/pt2/archive.h"
#include "import/pt2/model_reader.h"
#include "import/pt2/state_dict.h"
#include "import/pt2/weights.h"
#include "support/choices.h"

namespace steelyard {
namespace {

using pt2::Archive;
using pt2::StoredTensor;

constexpr char kHowToExport[] =
    "In Python, export the model it belongs to: ep = torch.export.export(model, (example_input,)); "
    "torch.export.save(ep, \"model.pt2\")";

using Entry = std::optional<std::size_t>;

// What of an archive is of interest.
struct Contents {
  std::vector<std::size_t> models;
  std::string_view root, model_name;  // of the first model: "bert/" and "model"
  Entry weights_config;
  Entry state_dict;
  bool has_weights = false;  // not empty, as they are in an export from the meta device
  bool has_pickle = false;
  bool has_code = false;
  bool has_compiled = false;
};

// The name of a model if `entry` is the description of one: "<root>/models/<name>.json".
std::optional<std::pair<std::string_view, std::string_view>> ModelOf(std::string_view entry) {
  constexpr std::string_view kFolder = "models/";
  constexpr std::string_view kExtension = ".json";
  const std::size_t folder = entry.find(kFolder);
  if (folder == std::string_view::npos || !entry.ends_with(kExtension)) return std::nullopt;
  const std::string_view root = entry.substr(0, folder);
  std::string_view name = entry.substr(folder + kFolder.size());
  if (name.size() < kExtension.size()) return std::nullopt;
  name.remove_suffix(kExtension.size());
  const bool is_root = root.empty() || root.find('/') == root.size() - 1;
  if (!is_root || name.find('/') != std::string_view::npos) return std::nullopt;
  return std::pair(root, name);
}

Contents Survey(const Archive& archive) {
  Contents out;
  const std::size_t count = archive.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = archive.name(i);
    if (const auto model = ModelOf(name)) {
      if (out.models.empty()) std::tie(out.root, out.model_name) = *model;
      out.models.push_back(i);
    }
    if (name.ends_with("serialized_exported_program.json")) out.models.push_back(i);
    if (name.ends_with("serialized_state_dict.pt")) out.state_dict = i;
    out.has_pickle = out.has_pickle || name.ends_with("data.pkl");
    out.has_code = out.has_code || name.ends_with("constants.pkl");
    out.has_compiled = out.has_compiled || name.find("data/aotinductor/") != name.npos;
  }
  if (out.model_name.empty()) return out;
  const std::string weights = std::string(out.root) + "data/weights/";
  const std::string config = weights + std::string(out.model_name) + "_weights_config.json";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = archive.name(i);
    if (!name.starts_with(weights)) continue;
    if (name == config) {
      out.weights_config = i;
    } else if (!out.has_weights && !name.ends_with(".json")) {
      out.has_weights = archive.bytes(i) > 0;
    }
  }
  return out;
}

// A zip archive without a model: what it is instead.
Error NoModel(const Archive& archive, const Contents& contents) {
  if (contents.has_code) {
    return Unsupported("it is a TorchScript archive (torch.jit.save), which holds code, no graph",
                       {}, kHowToExport);
  }
  if (contents.has_pickle) {
    return Unsupported(
        "it is a checkpoint (torch.save): a pickle of weights, which is not executed, and no graph",
        {}, kHowToExport);
  }
  if (contents.has_compiled) {
    return Unsupported("it is a compiled package (AOTInductor): machine code and no graph", {},
                       kHowToExport);
  }
  constexpr std::size_t kShown = 5;
  std::string message = "the zip archive holds no exported model; it is empty";
  if (archive.size() > 0) {
    message =
        "the zip archive holds no exported model but " +
        Listed(archive.size(), kShown, [&](std::size_t i) { return Quoted(archive.name(i)); });
  }
  return InvalidInput(std::move(message), {}, kHowToExport);
}

// Where the archive says that its tensors are stored; empty where it does not.
std::vector<StoredTensor> ReadStored(const Archive& archive, const Contents& contents) {
  if (contents.weights_config && contents.has_weights) {
    const Result<PaddedText> config = archive.Read(*contents.weights_config);
    if (config) return pt2::ReadWeightsConfig(*config);
  }
  if (!contents.state_dict) return {};
  // The pickle of a thousand tensors is 130 KB; nearly always the first attempt is enough.
  constexpr std::array<std::size_t, 3> kAttempts = {1U << 16U, 1U << 20U, 1U << 24U};
  for (const std::size_t limit : kAttempts) {
    const std::string beginning = archive.ReadBeginning(*contents.state_dict, limit);
    if (auto stored = pt2::ReadStateDict(beginning)) return *std::move(stored);
    if (beginning.size() < limit) break;
  }
  return {};
}

std::vector<StoredTensor> StoredAs(const ModuleFacts& module) {
  std::vector<StoredTensor> stored;
  for (const ModuleFacts::Stored& tensor : module.stored) {
    StoredTensor& out = stored.emplace_back();
    out.name = tensor.name;
    out.storage = tensor.place;
  }
  return stored;
}

void AddNote(Program& program, const std::string& note) {
  program.notes.push_back(program.strings.Intern(note));
}

// Torch 2.3 writes no tensor that requires a gradient. The state dict may tell which do.
void SetTrainable(Program& program, std::span<const StoredTensor> stored) {
  std::unordered_map<std::string_view, bool> trainable;
  for (const StoredTensor& tensor : stored) {
    if (tensor.requires_grad) trainable.emplace(tensor.name, *tensor.requires_grad);
  }
  bool assumed = false;
  for (const NamedTensor& parameter : program.parameters) {
    Value& value = program.values[parameter.value];
    const auto known = trainable.find(program.text(parameter.name));
    const bool is_known = known != trainable.end();
    assumed = assumed || !is_known;
    value.requires_grad =
        is_known ? known->second : IsFloating(value.dtype) || IsComplex(value.dtype);
  }
  if (assumed) AddNote(program, "the file does not say which parameters are trained: all are");
}

void SetExamples(Program& program, const ModuleFacts& module) {
  for (const auto& [name, size] : module.sizes) {
    const StringId id = program.strings.Find(name);
    const auto symbol = std::ranges::find(program.symbols, id, &Symbol::name);
    if (id != kNoString && symbol != program.symbols.end()) symbol->example = size;
  }
}

Result<Program> ReadArchive(const std::string& path, const ImportOptions& options) {
  SY_ASSIGN_OR_RETURN(const Archive archive, Archive::Open(path));
  const Contents contents = Survey(archive);
  if (contents.models.empty()) return Unexpected(NoModel(archive, contents));
  SY_ASSIGN_OR_RETURN(const PaddedText json, archive.Read(contents.models[0]));
  SY_ASSIGN_OR_RETURN(pt2::Model model, pt2::ReadModel(json, options.as_module, options.module));
  Program& program = model.program;
  const bool told = options.module != nullptr && !options.module->stored.empty();
  const std::vector<StoredTensor> stored =
      told ? StoredAs(*options.module) : ReadStored(archive, contents);
  if (model.schema <= pt2::kSchemaWithoutGradients) SetTrainable(program, stored);
  pt2::TieNames(program, stored);
  if (options.module != nullptr) SetExamples(program, *options.module);
  if (contents.models.size() > 1) {
    AddNote(program, "the archive holds " + std::to_string(contents.models.size()) +
                         " models; this is the first, " + Quoted(archive.name(contents.models[0])));
  }
  return std::move(program);
}

Result<Program> ReadPt2(const std::string& path, const ImportOptions& options) {
  Result<Program> program = ReadArchive(path, options);
  if (!program) return Unexpected(Within(path, std::move(program).error()));
  return program;
}

constexpr std::string_view kExtensions[] = {".pt2"};

}  // namespace

const Importer kPt2Importer = {
    .name = "pt2",
    .extensions = kExtensions,
    // The signature of a zip file's first entry, or of the end of an empty one.
    .sniff =
        [](std::string_view head) {
          return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
        },
    .read = ReadPt2,
    .summary = "PyTorch programs saved by torch.export.save (torch 2.3 and later)",
};

}  // namespace steelyard
