// SPDX-License-Identifier: Apache-2.0
//
// A format is told by the first bytes, in the order of the table: a report of Steelyard is JSON
// too, so it stands before any other JSON. A pickle is recognized and never opened, since reading
// one can run code.

#include "import/foreign.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace steelyard {
namespace {

constexpr char kExportHint[] =
    "In Python, load it, and export the model: ep = torch.export.export(model, (example_input,)); "
    "torch.export.save(ep, \"model.pt2\")";
constexpr char kPickleHint[] =
    "In Python, load it if you trust it, and export the model: ep = torch.export.export(model, "
    "(example_input,)); "
    "torch.export.save(ep, \"model.pt2\")";

constexpr char kCheckpointHint[] =
    "A pickle can run code and is never opened here. In Python, load the model if you trust it, "
    "and "
    "write model.save_pretrained(folder), or safetensors.torch.save_file(state, "
    "\"x.safetensors\").";

constexpr char kJsonHint[] =
    "A config.json says which model it is of: \"model_type\": \"llama\". Any other model is "
    "exported "
    "in Python: ep = torch.export.export(model, (example_input,)); torch.export.save(ep, "
    "\"model.pt2\")";

struct Format {
  bool (*sniff)(std::string_view head);
  std::string_view what;
  std::string_view hint;
  std::string_view verdict = ", which is known but not read";
};

// Protocols 2 to 5 begin with their number; 0 and 1 are no longer written by anyone.
bool IsPickle(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

// Flatbuffers: the format's name stands after the offset of the root.
bool HoldsAtFour(std::string_view head, std::string_view name) {
  return head.size() > 4 && head.substr(4).starts_with(name);
}

// What steelyard writes itself, of a model or of two.
bool IsReport(std::string_view head) {
  return IsJson(head) && head.find(R"("schema": "steelyard.)") != std::string_view::npos;
}

constexpr Format kFormats[] = {
    {IsPickle, "a Python pickle (an old torch.save)", kPickleHint,
     ", which can run code and is never opened"},
    {[](std::string_view head) { return head.starts_with("version https://git-lfs"); },
     "a Git LFS pointer", "Run git lfs pull, or download the file itself.",
     ": the file that it stands for is not here"},
    {IsReport, "a report of Steelyard", "To put two side by side: steelyard compare A B.",
     ", and no model"},
    {[](std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
     "an HDF5 file (Keras)", kExportHint},
    {[](std::string_view head) { return HoldsAtFour(head, "TFL3"); }, "a TensorFlow Lite model",
     kExportHint},
    {[](std::string_view head) { return HoldsAtFour(head, "ET"); }, "an ExecuTorch program (.pte)",
     kExportHint},
    {[](std::string_view head) {
       return head.starts_with(
           "\x7f"
           "ELF");
     },
     "a shared library", kExportHint},
    {[](std::string_view head) { return head.starts_with("\x1f\x8b"); }, "a gzip file",
     "Unpack it first."},
    {IsJson, "a JSON file", kJsonHint,
     ", but no config of transformers: it has no model_type and no architectures"},
};

}  // namespace

bool IsJson(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && head[start] == '{';
}

std::optional<Error> ForeignFormat(std::string_view head) {
  for (const Format& format : kFormats) {
    if (!format.sniff(head)) continue;
    return Unsupported("it is " + std::string(format.what).append(format.verdict), {},
                       std::string(format.hint));
  }
  return std::nullopt;
}

std::optional<Error> ForeignFolder(std::span<const std::string> names) {
  for (const std::string_view extension : {".bin", ".pt", ".pth", ".ckpt"}) {
    for (const std::string& name : names) {
      if (!name.ends_with(extension)) continue;
      return Unsupported("it holds the weights of PyTorch as pickles (" + name + ")", {},
                         kCheckpointHint);
    }
  }
  return std::nullopt;
}

}  // namespace steelyard
