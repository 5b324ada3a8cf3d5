// SPDX-License-Identifier: Apache-2.0
#include "ir/text_call.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ir/text_scanner.h"
#include "ir/text_value_reader.h"
#include "ir/text_words.h"

namespace steelyard {
namespace {

constexpr std::string_view kForm =
    "A call looks like aten::sum.dim_IntList(f32[2,3]{1,2}, [0], keepdim=True).";

bool ReadCall(TextScanner& scan, Program& program, std::vector<Argument>& arguments) {
  scan.NextStatement();
  const std::string_view op = scan.OpName();
  if (!IsPlainOpName(op)) {
    return scan.Fail("expected an operator, " + scan.Found(), std::string(kForm));
  }
  program.name = program.strings.Intern(op);
  if (!scan.Expect("(", "the operator's name")) return false;
  TextValueReader values(scan, program);
  values.AllowTensorArguments();
  if (!values.Arguments(')', arguments)) return false;
  if (!scan.NextStatement()) return true;
  return scan.Fail("expected one call, " + scan.Found(), std::string(kForm));
}

}  // namespace

Result<Program> ProgramOfCall(std::string_view call) {
  Program program;
  TextScanner scan(call, "call");
  std::vector<Argument> arguments;
  if (!ReadCall(scan, program, arguments)) return Unexpected(scan.error());
  std::array<ValueId, kMaxCallOutputs> results{};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const StringId name = program.strings.Intern("y" + std::to_string(i));
    results[i] = program.AddTensor(name, DType::kFloat32, {}, {});
    program.values[results[i]].has_layout = false;
    program.main().outputs.push_back(Argument::OfValue(results[i]));
  }
  Node node;
  node.op = program.AddOpName(program.text(program.name));
  node.arguments = program.AddArguments(arguments);
  node.outputs = program.AddOutputs(results);
  program.main().nodes.push_back(node);
  return program;
}

}  // namespace steelyard
