// SPDX-License-Identifier: Apache-2.0
#include "ops/gradients/recurrent.h"

namespace steelyard::gradients {

std::vector<Tensor> GruCell(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::_thnn_fused_gru_cell_backward", b.grad(), b.result(1), b.op().given(3));
}

std::vector<Tensor> LstmCell(Dispatcher& d, const Backward& b) {
  return d.CallMany("aten::_thnn_fused_lstm_cell_backward", b.grad(0), b.grad(1), b.saved(2),
                    b.result(1), b.result(2), b.op().given(3));
}

}  // namespace steelyard::gradients
