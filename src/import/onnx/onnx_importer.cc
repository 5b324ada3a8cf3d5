// SPDX-License-Identifier: Apache-2.0
//
// From the file to the program: which versions are read, and what is said of files that are none.
#include "import/onnx/onnx_importer.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "import/memory_map.h"
#include "import/names.h"
#include "import/onnx/graph_importer.h"
#include "import/onnx/proto.h"

namespace steelyard {
namespace {

using namespace onnx;  // NOLINT(google-build-using-namespace)

// Operators before it broadcast and shape in ways of their own.
constexpr std::int64_t kOldestOpset = 7;
// The newest that rows were written from; later ones are read by the same rows.
constexpr std::int64_t kNewestOpset = 26;

// Nothing where the model uses none of ONNX's operators, but others'.
std::optional<std::int64_t> OpsetOf(const ModelProto& model) {
  for (const auto& [domain, version] : model.opsets) {
    if (domain.empty() || domain == "ai.onnx") return version;
  }
  return std::nullopt;
}

// Throws a Refusal where the model cannot be read.
void CheckVersions(const ModelProto& model) {
  if (!model.graph) {
    throw Refusal{InvalidInput("the file holds no ONNX graph", {},
                               "Was the file written completely? Export the model again.")};
  }
  const std::optional<std::int64_t> opset = OpsetOf(model);
  if (opset && *opset < kOldestOpset) {
    throw Refusal{Unsupported("it uses version " + std::to_string(*opset) +
                                  " of ONNX's operators; 7 is the oldest that is read",
                              {}, "onnx.version_converter writes it in a later one.")};
  }
}

Result<Program> ReadModel(std::string_view bytes, const std::string& path) {
  const ModelProto model(bytes);
  CheckVersions(model);
  const GraphProto graph(*model.graph);
  const std::string class_name = ModelClass(graph);
  Workshop workshop(class_name, std::filesystem::path(path).parent_path());
  Builder& builder = workshop.builder;
  const std::int64_t opset = OpsetOf(model).value_or(0);
  if (!model.producer.empty()) {
    builder.Producer(std::string(model.producer) + " " + std::string(model.producer_version) +
                     (opset > 0 ? " (opset " + std::to_string(opset) + ")" : ""));
  }
  if (opset > kNewestOpset) {
    builder.Note("the file uses version " + std::to_string(opset) +
                 " of ONNX's operators; they are read as those of version 26");
  }
  GraphImporter(model, workshop).Run(graph);
  Result<Program> program = std::move(builder).Build();
  if (program && class_name.empty()) program->name = kNoString;  // the file's name, then
  return program;
}

Result<Program> ReadOnnx(const std::string& path, const ImportOptions& options) {
  (void)options;  // a file says all that there is to say
  const auto within = [&](Error error) { return Unexpected(Within(path, std::move(error))); };
  Result<MemoryMap> file = MemoryMap::Open(path);
  if (!file) return within(std::move(file).error());
  try {
    Result<Program> program = ReadModel(file->bytes(), path);
    if (!program) return within(std::move(program).error());
    return WithNamesInUtf8(std::move(program), path);
  } catch (const Refusal& refusal) {
    return within(refusal.error);
  }
}

constexpr std::string_view kExtensions[] = {".onnx"};

}  // namespace

const Importer kOnnxImporter = {
    .name = "onnx",
    .extensions = kExtensions,
    // A protobuf message whose first field is `ir_version` (1, a small number) and whose second is
    // a text or the graph.
    .sniff =
        [](std::string_view head) {
          constexpr std::string_view kNext = "\x12\x1a\x22\x2a\x32\x3a\x42";
          return head.size() >= 3 && head[0] == '\x08' && head[1] > 0 && head[1] < 32 &&
                 kNext.find(head[2]) != std::string_view::npos;
        },
    .read = ReadOnnx,
    .summary = "ONNX models, whatever wrote them (operator sets 7 and later)",
};

}  // namespace steelyard
