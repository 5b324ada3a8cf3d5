// SPDX-License-Identifier: Apache-2.0
//
// Reading model files. Whatever the format, the outcome is a `Program`: the graph as the file has
// it, symbolic sizes included, with nothing bound, inferred or decomposed yet. Weights are never
// read, so that a file of twenty gigabytes opens as fast as the description in it.
//
//   Result<Program> program = ImportFile("bert.pt2", {});
//   if (!program) return Report(Describe(program.error()));
//   for (const Node& node : program->main().nodes) ...
//
// Files are not trusted: one that is cut, forged or absurd gives an error, never a crash, and costs
// memory and time in proportion to its size. Nothing in a file is ever executed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steelyard/builder.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// What is known of a module besides what an exported file says.
struct ModuleFacts {
  // Where a parameter or buffer lies. Those of one place and layout are one tensor.
  struct Stored {
    std::string name, place;
  };
  // What nothing in Python holds any more once a node has run: nodes in the order of the file, and
  // values by their names.
  struct LetGo {
    std::uint32_t node = 0;
    std::vector<std::string> values;
  };
  // What the module still holds of its last call when it is called, until `let_go` names it.
  struct Kept {
    std::string name;
    std::int64_t bytes = 0;
  };
  // From before a node on a value requires a gradient, of which its operators do not tell.
  struct Requires {
    std::uint32_t before = 0;
    std::string value;
  };
  std::vector<Stored> stored = {};
  std::optional<std::vector<LetGo>> let_go = {};  // in the order of nodes; none: not known
  std::vector<Kept> kept = {};
  std::vector<std::string> keeps = {};  // values that it holds when it has returned
  // What functions that torch.utils.checkpoint runs are given, whatever they use of it: by the last
  // node of each, in their order.
  std::vector<LetGo> given = {};
  std::vector<Requires> requires_gradient = {};  // in the order of nodes
  // What symbols of sizes that only the data tell were for the example inputs: "u0", 47.
  std::vector<std::pair<std::string, std::int64_t>> sizes = {};
};

struct ImportOptions {
  // Name of the importer to use, whatever the file looks like. Empty: found by the file's first
  // bytes, and by its extension where those do not tell.
  std::string from = {};

  // What a model is built with that a file describes without its graph (`Importer::builds`).
  // Refused for others, whose graph is of one dtype and attention. Of the parameters and
  // activations; none: what the config says, else float32.
  std::optional<DType> dtype = {};
  // The implementation of attention, as transformers names it: "sdpa", "eager" or "flash". Empty:
  // sdpa.
  std::string attention = {};
  // Takes labels and returns the loss first, where the model has one.
  bool labelled = false;
  // In training mode: dropout runs.
  bool training = false;
  // What is built is a call that generates text, as transformers runs it eagerly. Only of models
  // that are built, and of the types that keep keys and values.
  std::optional<CacheStep> cache = {};
  // The question is about a run, which weights alone do not answer: a folder with a config.json
  // that cannot be built is refused, where otherwise the weights in it are read.
  bool runs = false;
  // Quantised weights lie beside the config: the model is built although it says that they are,
  // and a fact "quantisation" of the program says so.
  bool quantised = false;
  // An exported program is weighed as the module that it was exported from: it holds what the
  // variables of the module's functions hold, as far as the file's stack traces name them.
  bool as_module = false;
  // Where the module itself is at hand.
  const ModuleFacts* module = nullptr;
};

// Returns the model in the file or the folder at `path`. The error's place begins with the file's
// name and then says which node, key or line of it; its hint says what would help. A folder with a
// config.json and weights is the model that the config describes, with quantised weights as they
// are stored; where that is none which is built, it is its weights. So it is with a file of weights
// whose metadata describe the model (`Importer::config`), unless `from` names its importer, which
// gives the weights alone. A note of the program says which.
Result<Program> ImportFile(const std::string& path, const ImportOptions& options);

// A file format that models can be read from: one row of `Importers`.
struct Importer {
  // As `--from` takes it.
  std::string_view name;
  // With the dot, in lower case.
  std::span<const std::string_view> extensions;
  // Whether a file that begins with `head` may be of this format. `head` is up to `kHeadBytes`
  // long. Formats do not overlap: at most one row says yes.
  bool (*sniff)(std::string_view head);
  // Reads the file at `path`, which is a non-empty regular file, or the folder of which
  // `takes_folder` said yes. The place of an error begins with `path`.
  Result<Program> (*read)(const std::string& path, const ImportOptions& options);
  // One sentence: what the format is and who writes it.
  std::string_view summary;
  // The file describes a model without its graph: it is built, as the options say.
  bool builds = false;
  // Whether a folder that holds files of these names, which are sorted, is a model of this format;
  // of several importers that say yes the first reads it. Null: the format has no folders.
  bool (*takes_folder)(std::span<const std::string> names) = nullptr;
  // The config.json that the metadata of a file of weights stand for, which `read` gave `weights`
  // of. Null: the format has no such metadata.
  Result<std::string> (*config)(const std::string& path, const Program& weights) = nullptr;
};

// How much of a file `sniff` sees: more than any format needs to be told by its magic number.
inline constexpr std::size_t kHeadBytes = 512;

// All importers, in the order in which they are tried.
std::span<const Importer> Importers();

}  // namespace steelyard
