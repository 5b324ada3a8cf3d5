// SPDX-License-Identifier: Apache-2.0
#include "ops/dispatch/program_rows.h"

namespace steelyard {

std::vector<const OpDef*> RowsOf(const Program& program) {
  std::vector<const OpDef*> rows;
  rows.reserve(program.op_names.size());
  for (OpId op = 0; op < program.op_names.size(); ++op) {
    rows.push_back(FindOp(OpName::FromRuntime(program.op_name(op))));
  }
  return rows;
}

}  // namespace steelyard
