// SPDX-License-Identifier: Apache-2.0
//
// Decides what the written pages of docs/ contain. Flags, operators, choices and exit statuses come
// from what the program itself runs by, so that pages cannot fall behind it; what each kind of
// error means and the sentences between the tables stand here.

#include "cli/docs_pages.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/flag.h"
#include "cli/help.h"
#include "cli/message.h"
#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/pass.h"
#include "steelyard/weigh.h"

namespace steelyard::cli {
namespace {

constexpr std::string_view kGenerated = "<!-- Written by tools/gen_docs.py. -->\n";

// A cell must neither end nor be taken for a tag.
std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string ChoiceTable(std::string_view what, const std::vector<Choice>& choices) {
  std::string out = fmt::format("\n| {} | |\n| --- | --- |\n", what);
  for (const Choice& choice : choices) {
    out += fmt::format("| `{}` | {} |\n", choice.name, Cell(choice.summary));
  }
  return out;
}

// Every optimizer with its options, "momentum=0".
std::string OptimizerTable() {
  std::string out = "\n| `--train` | | options and their defaults |\n| --- | --- | --- |\n";
  for (const OptimizerInfo& optimizer : Optimizers()) {
    std::string options;
    for (const OptimizerOption& option : OptionsOf(optimizer)) {
      options += fmt::format("{}`{}={}`", options.empty() ? "" : ", ", option.name, option.value);
    }
    out += fmt::format("| `{}` | {} | {} |\n", optimizer.name, Cell(optimizer.summary), options);
  }
  return out;
}

std::string LossTable() {
  std::vector<Choice> losses;
  for (const LossInfo& loss : Losses()) losses.push_back({loss.name, loss.summary});
  return ChoiceTable("`--loss`", losses);
}

std::string CliPage() {
  std::string out = fmt::format("{}# The command line\n", kGenerated);
  for (const CommandInfo& info : Commands()) {
    if (info.audience != Audience::kUsers) continue;
    const std::unique_ptr<Command> command = info.make();
    const std::vector<Flag> flags = command->Flags();
    out += fmt::format("\n## `{}`\n\n`steelyard {}` {}. Example:\n\n```\n{}\n```\n",
                       UsageOf(info, flags), info.name, info.summary, info.example);
    out += "\n| option | meaning |\n| --- | --- |\n";
    std::string_view heading;
    for (const Flag& flag : flags) {
      if (flag.heading != heading) {
        heading = flag.heading;
        out += fmt::format("\n{}:\n\n| option | meaning |\n| --- | --- |\n", heading);
      }
      out += fmt::format("| `{}` | {} |\n", Cell(FlagText(flag)), Cell(FlagHelp(flag)));
    }
  }
  out += "\n## Training steps\n";
  out += OptimizerTable();
  out +=
      "\nAn option is given by `--optim-args NAME=X`; `--momentum`, `--nesterov`, "
      "`--weight-decay`, "
      "`--foreach` and `--fused` are shorter for the usual ones, and "
      "`betas=(0.9,0.95)` sets beta1 and beta2. What is no more than a number of the step, such as "
      "`lr`, changes nothing of what it costs. A pattern is the name of a "
      "parameter or of a module around it, in which `*` stands for any letters and `?` for one.\n";
  out += LossTable();
  out +=
      "\nThe target is made within the step, and goes when nothing of the step needs it any more; "
      "one that a data loader made before stays.\n";
  out += "\n## Formats and conventions\n";
  out += ChoiceTable("`--format`", ReportFormats());
  out += ChoiceTable("`--table`, of `--format csv`", ReportTables());
  out +=
      "\nWithout `--table` a CSV file holds what was asked for: `--events` the table `events`, "
      "`--classes` the table `classes`, `--at` the table `held`.\n";
  out += ChoiceTable("`--count`", CountingConventions());
  out +=
      "\nThe keys of the JSON report are those of [report.schema.json](report.schema.json), those "
      "of a comparison those of [comparison.schema.json](comparison.schema.json), those of a run "
      "those of [run.schema.json](run.schema.json).\n";
  return out;
}

std::string OpsPage() {
  const std::vector<KnownOp> ops = KnownOps();
  std::string out = fmt::format(
      "{}# Operators\n\nThe {} operators that are modelled, by family: PyTorch's own (aten::), "
      "those "
      "of its libraries and of RAF, and steps that Steelyard takes within them (steelyard::). A "
      "composite is weighed as the kernels it dispatches to.\n",
      kGenerated, ops.size());
  std::string_view family;
  for (const KnownOp& op : ops) {
    if (op.family != family) {
      family = op.family;
      out += fmt::format("\n## {}\n\n| operator | | example |\n| --- | --- | --- |\n", family);
    }
    out += fmt::format("| `{}`{} | {} | `{}` |\n", op.name, op.is_kernel ? "" : " (composite)",
                       Cell(op.summary), Cell(op.example));
  }
  return out;
}

struct ErrorKind {
  ErrorCode code;
  std::string_view meaning;
};
constexpr std::array kErrorKinds = {
    ErrorKind{ErrorCode::kInvalidInput,
              "the input contradicts its own format or the rules of its operators"},
    ErrorKind{ErrorCode::kUnsupported,
              "the input may be right, but Steelyard does not handle it yet"},
    ErrorKind{ErrorCode::kNotFound, "a file or a name that was asked for does not exist"},
    ErrorKind{ErrorCode::kUsage, "the question itself is wrong: an option, or its value"},
    ErrorKind{ErrorCode::kInternal, "a defect of Steelyard's own"},
};

std::string DiagnosticsPage() {
  std::string out = fmt::format(
      "{}# Messages\n\nWhat is refused is told in one line on standard error: the place, what is "
      "wrong with it, and what would help.\n\n```\n{}```\n\n"
      "| exit status | when |\n| --- | --- |\n| {} | the report was written |\n",
      kGenerated,
      ErrorLine(InvalidInput("inner dimensions differ: 768 vs 1024",
                             "bert.pt2: node \"linear_4\": aten::linear "
                             "(input=f32[4,128,768], weight=f32[512,1024])",
                             "Is the weight transposed?")),
      kDone);
  for (const ErrorKind& kind : kErrorKinds) {
    out += fmt::format("| {} | {} |\n", ExitStatusOf(kind.code), kind.meaning);
  }
  out +=
      "\nWhat is only assumed stands in the report itself, as a note, and under `notes` in the "
      "JSON. A model with operators that are not modelled is weighed without them; its totals "
      "then say \"at least\".\n";
  return out;
}

constexpr std::array kPages = {
    DocsPage{"cli", CliPage},
    DocsPage{"ops", OpsPage},
    DocsPage{"diagnostics", DiagnosticsPage},
};

}  // namespace

std::span<const DocsPage> DocsPages() { return kPages; }

}  // namespace steelyard::cli
