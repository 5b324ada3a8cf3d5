// SPDX-License-Identifier: Apache-2.0
//
// llama.cpp's names of weights, in the words of transformers: "blk.0.attn_q.weight" is
// "model.layers.0.self_attn.q_proj.weight".
#pragma once

#include "steelyard/program.h"

namespace steelyard {

// Gives each quantised parameter of `weights`, a program without a graph, that is called as
// llama.cpp calls it the name of the parameter of `model` that it stands for. Others keep theirs.
// Experts that are kept in two tensors become one.
void NameAsIn(const Program& model, Program* weights);

}  // namespace steelyard
