// SPDX-License-Identifier: Apache-2.0
//
// Made by tools/gen_tp_plans.py of transformers 5.24.0: `base_model_tp_plan` of the
// configurations, `_tp_plan` of the classes.

#include "pass/transformers_plans.h"

#include <array>

namespace steelyard {
namespace {

constexpr std::string_view kPlan0 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan1 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_gate_proj=colwise"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan2 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan3 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan4 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan5 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_rowwise"
    ",model.layers.*.mlp.experts.down_proj=colwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan6 =
    "model.embed_tokens=embedding_rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan7 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.gate_proj=colwise,model.layers.*.self_attn.gate_bias=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.self_attn=local_params"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan8 =
    "transformer.embed_tokens=embedding_rowwise,transformer.wte=embedding_rowwise"
    ",transformer.h.*.attn.qkv_proj=colwise,transformer.h.*.attn.out_proj=rowwise"
    ",transformer.h.*.mlp.fc_in=colwise,transformer.h.*.mlp.fc_out=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan9 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan10 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan11 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.q_b_proj=colwise"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan12 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_b_proj=colwise"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan13 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.dt_proj=rowwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,model.layers.*.mlp.router_gate=colwise_gather_output"
    ",model.layers.*.mlp.down_embed=embedding_rowwise"
    ",model.layers.*.mlp.up_embed=embedding_rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan14 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan15 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_b_proj=colwise"
    ",model.layers.*.self_attn.k_rope_only_layernorm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.g_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan16 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan17 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan18 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan19 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise_gather_output"
    ",model.layers.*.self_attn.k_proj=colwise_gather_output"
    ",model.layers.*.self_attn.v_proj=colwise_gather_output"
    ",model.layers.*.self_attn.o_proj=rowwise_split_input"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan20 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_expert.gate_proj=colwise"
    ",model.layers.*.mlp.shared_expert.up_proj=colwise"
    ",model.layers.*.mlp.shared_expert.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan21 =
    "transformer.embed_tokens=embedding_rowwise,transformer.wte=embedding_rowwise"
    ",transformer.h.*.attn.q_proj=colwise,transformer.h.*.attn.k_proj=colwise"
    ",transformer.h.*.attn.v_proj=colwise,transformer.h.*.attn.out_proj=rowwise"
    ",transformer.h.*.mlp.fc_in=colwise,transformer.h.*.mlp.fc_out=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan22 =
    "gpt_neox.embed_tokens=embedding_rowwise,gpt_neox.embed_in=embedding_rowwise"
    ",gpt_neox.layers.*.attention.query_key_value=colwise"
    ",gpt_neox.layers.*.attention.dense=rowwise,gpt_neox.layers.*.mlp.dense_h_to_4h=colwise"
    ",gpt_neox.layers.*.mlp.dense_4h_to_h=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan23 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.v_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan24 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",model.layers.*.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.experts.down_proj=rowwise,model.layers.*.experts=moe_tp_experts"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan25 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.gate_up_proj=colwise_gather_output"
    ",model.layers.*.mlp.down_proj=rowwise_split_input,lm_head=colwise_gather_output";
constexpr std::string_view kPlan26 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_b_proj=colwise"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan27 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.block_sparse_moe.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.block_sparse_moe.experts.down_proj=rowwise"
    ",model.layers.*.block_sparse_moe.experts=moe_tp_experts,lm_head=colwise_gather_output";
constexpr std::string_view kPlan28 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.self_attn.sinks=colwise"
    ",model.layers.*.self_attn=local_params"
    ",model.layers.*.block_sparse_moe.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.block_sparse_moe.experts.down_proj=rowwise"
    ",model.layers.*.block_sparse_moe.experts=moe_tp_experts,lm_head=colwise_gather_output";
constexpr std::string_view kPlan29 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.self_attn.sinks=colwise"
    ",model.layers.*.self_attn=local_params,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan30 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan31 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_b_proj=colwise"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.self_attn.gate_proj=colwise,model.layers.*.self_attn.sinks=colwise"
    ",model.layers.*.self_attn=local_params"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan32 =
    "model.embed_tokens=embedding_rowwise,model.L_module.layers.*.self_attn.q_proj=colwise"
    ",model.H_module.layers.*.self_attn.q_proj=colwise"
    ",model.L_module.layers.*.self_attn.k_proj=colwise"
    ",model.H_module.layers.*.self_attn.k_proj=colwise"
    ",model.L_module.layers.*.self_attn.v_proj=colwise"
    ",model.H_module.layers.*.self_attn.v_proj=colwise"
    ",model.L_module.layers.*.self_attn.gate_proj=colwise"
    ",model.H_module.layers.*.self_attn.gate_proj=colwise"
    ",model.L_module.layers.*.self_attn.o_proj=rowwise"
    ",model.H_module.layers.*.self_attn.o_proj=rowwise"
    ",model.L_module.layers.*.mlp.gate_proj=colwise"
    ",model.H_module.layers.*.mlp.gate_proj=colwise,model.L_module.layers.*.mlp.up_proj=colwise"
    ",model.H_module.layers.*.mlp.up_proj=colwise,model.L_module.layers.*.mlp.down_proj=rowwise"
    ",model.H_module.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan33 =
    "model.embed_tokens=replicate,model.layers.*.mlp.experts.gate_up_proj=colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",lm_head=rowwise_split_input";
constexpr std::string_view kPlan34 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.mlp.experts.gate_up_proj=colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise"
    ",model.layers.*.mlp.shared_experts=all_reduce,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=rowwise_split_input";
constexpr std::string_view kPlan35 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.feed_forward.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.feed_forward.experts.down_proj=rowwise"
    ",model.layers.*.feed_forward.experts=moe_tp_experts,lm_head=colwise_gather_output";
constexpr std::string_view kPlan36 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan37 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.g_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_experts.gate_proj=colwise"
    ",model.layers.*.mlp.shared_experts.up_proj=colwise"
    ",model.layers.*.mlp.shared_experts.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan38 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise"
    ",model.layers.*.mlp.shared_expert.gate_proj=colwise"
    ",model.layers.*.mlp.shared_expert.up_proj=colwise"
    ",model.layers.*.mlp.shared_expert.down_proj=rowwise"
    ",model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.linear_attn.out_proj=colwise_gather_output,lm_head=colwise_gather_output";
constexpr std::string_view kPlan39 =
    "language_model.embed_tokens=embedding_rowwise"
    ",language_model.layers.*.self_attn.q_proj=colwise"
    ",language_model.layers.*.self_attn.k_proj=colwise"
    ",language_model.layers.*.self_attn.v_proj=colwise"
    ",language_model.layers.*.self_attn.o_proj=rowwise"
    ",language_model.layers.*.feed_forward.shared_expert.gate_proj=colwise"
    ",language_model.layers.*.feed_forward.shared_expert.up_proj=colwise"
    ",language_model.layers.*.feed_forward.shared_expert.down_proj=rowwise"
    ",language_model.layers.*.feed_forward.experts.gate_up_proj=packed_rowwise"
    ",language_model.layers.*.feed_forward.experts.down_proj=colwise"
    ",language_model.layers.*.feed_forward.experts=moe_tp_experts"
    ",language_model.layers.*.feed_forward.gate_proj=colwise"
    ",language_model.layers.*.feed_forward.up_proj=colwise"
    ",language_model.layers.*.feed_forward.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan40 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.*.q_b_proj=colwise"
    ",model.layers.*.self_attn.*.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.*.kv_b_proj=colwise,model.layers.*.self_attn.*.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise"
    ",model.layers.*.mlp.experts.identity_expert=moe_identity_expert"
    ",model.layers.*.mlp.experts=moe_tp_experts,model.layers.*.mlps.*.gate_proj=colwise"
    ",model.layers.*.mlps.*.up_proj=colwise,model.layers.*.mlps.*.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan41 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.self_attn.sinks=colwise"
    ",model.layers.*.self_attn=local_params,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan42 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.q_b_proj=colwise"
    ",model.layers.*.self_attn.kv_a_proj_with_mqa=mla_kv_a_proj"
    ",model.layers.*.self_attn.kv_b_proj=colwise,model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan43 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan44 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.fc1=colwise"
    ",model.layers.*.mlp.fc2=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan45 =
    "model.embed_tokens=embedding_rowwise,model.embeddings=embedding_rowwise"
    ",model.layers.*.mixer.experts.up_proj=colwise"
    ",model.layers.*.mixer.experts.down_proj=rowwise"
    ",model.layers.*.mixer.experts=moe_tp_experts";
constexpr std::string_view kPlan46 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise_gather_output"
    ",model.layers.*.self_attn.k_proj=colwise_gather_output"
    ",model.layers.*.self_attn.v_proj=colwise_gather_output"
    ",model.layers.*.self_attn.o_proj=rowwise_split_input,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan47 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.self_attn.qkv_proj=colwise_gather_output"
    ",model.layers.*.self_attn.o_proj=rowwise_split_input"
    ",model.layers.*.mlp.gate_up_proj=colwise_gather_output"
    ",model.layers.*.mlp.down_proj=rowwise_split_input,lm_head=colwise_gather_output";
constexpr std::string_view kPlan48 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.dense=rowwise,model.layers.*.mlp.fc1=colwise"
    ",model.layers.*.mlp.fc2=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan49 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise"
    ",model.layers.*.mlp.shared_expert.gate_proj=colwise"
    ",model.layers.*.mlp.shared_expert.up_proj=colwise"
    ",model.layers.*.mlp.shared_expert.down_proj=rowwise"
    ",model.layers.*.mlp.experts=moe_tp_experts,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",model.layers.*.linear_attn.in_proj_qkvz=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_ba=colwise_gather_output"
    ",model.layers.*.linear_attn.out_proj=colwise_gather_output,lm_head=colwise_gather_output";
constexpr std::string_view kPlan50 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.mlp.gate_proj=colwise,model.layers.*.mlp.up_proj=colwise"
    ",model.layers.*.mlp.down_proj=rowwise"
    ",model.layers.*.linear_attn.in_proj_qkv=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_z=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_b=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_a=colwise_gather_output"
    ",model.layers.*.linear_attn.out_proj=colwise_gather_output,lm_head=colwise_gather_output";
constexpr std::string_view kPlan51 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise"
    ",model.layers.*.self_attn.q_norm=replicated_with_grad_allreduce"
    ",model.layers.*.self_attn.k_norm=replicated_with_grad_allreduce"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_expert.gate_proj=colwise"
    ",model.layers.*.mlp.shared_expert.up_proj=colwise"
    ",model.layers.*.mlp.shared_expert.down_proj=rowwise"
    ",model.layers.*.linear_attn.in_proj_qkv=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_z=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_b=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_a=colwise_gather_output"
    ",model.layers.*.linear_attn.out_proj=colwise_gather_output,lm_head=colwise_gather_output";
constexpr std::string_view kPlan52 =
    "model.embed_tokens=embedding_rowwise"
    ",model.layers.*.mlp.experts.gate_up_proj=packed_colwise"
    ",model.layers.*.mlp.experts.down_proj=rowwise,model.layers.*.mlp.experts=moe_tp_experts"
    ",model.layers.*.mlp.shared_expert.gate_proj=colwise"
    ",model.layers.*.mlp.shared_expert.up_proj=colwise"
    ",model.layers.*.mlp.shared_expert.down_proj=rowwise"
    ",model.layers.*.linear_attn.in_proj_qkv=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_z=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_b=colwise_gather_output"
    ",model.layers.*.linear_attn.in_proj_a=colwise_gather_output"
    ",model.layers.*.linear_attn.out_proj=colwise_gather_output"
    ",model.layers.*.self_attn.indexer.index_qk_proj=colwise_gather_output"
    ",model.layers.*.attn_hyper_connection.input_mix_weight_down=rowwise_split_input"
    ",model.layers.*.mlp_hyper_connection.input_mix_weight_down=rowwise_split_input"
    ",model.hyper_connection_mixer.input_mix_weight_down=rowwise_split_input"
    ",model.layers.*.ple.ple_embedding.ngram_embedding=embedding_colwise"
    ",lm_head=colwise_gather_output";
constexpr std::string_view kPlan53 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.self_attn.q_proj=colwise"
    ",model.layers.*.self_attn.k_proj=colwise,model.layers.*.self_attn.v_proj=colwise"
    ",model.layers.*.self_attn.o_proj=rowwise,model.layers.*.mlp.c_fc=colwise"
    ",model.layers.*.mlp.c_proj=rowwise,lm_head=colwise_gather_output";
constexpr std::string_view kPlan54 =
    "model.embed_tokens=embedding_rowwise,model.layers.*.mlp.gate_proj=colwise"
    ",model.layers.*.mlp.up_proj=colwise,model.layers.*.mlp.down_proj=rowwise"
    ",lm_head=colwise_gather_output";

constexpr std::array kPlans{
    TransformersPlan{"AXK1ForCausalLM", kPlan0},
    TransformersPlan{"AXK2ForCausalLM", kPlan1},
    TransformersPlan{"AfmoeForCausalLM", kPlan2},
    TransformersPlan{"Apertus1p5TextForCausalLM", kPlan3},
    TransformersPlan{"ApertusForCausalLM", kPlan3},
    TransformersPlan{"ArceeForCausalLM", kPlan4},
    TransformersPlan{"AriaTextForCausalLM", kPlan5},
    TransformersPlan{"BailingHybridForCausalLM", kPlan0},
    TransformersPlan{"BambaForCausalLM", kPlan6},
    TransformersPlan{"BeamForCausalLM", kPlan7},
    TransformersPlan{"CodeGenForCausalLM", kPlan8},
    TransformersPlan{"Cohere2ForCausalLM", kPlan9},
    TransformersPlan{"Cohere2MoeForCausalLM", kPlan10},
    TransformersPlan{"CohereCompassForCausalLM", kPlan9},
    TransformersPlan{"CohereForCausalLM", kPlan9},
    TransformersPlan{"CwmForCausalLM", kPlan9},
    TransformersPlan{"DeepseekV2ForCausalLM", kPlan11},
    TransformersPlan{"DeepseekV32ForCausalLM", kPlan12},
    TransformersPlan{"DeepseekV3ForCausalLM", kPlan0},
    TransformersPlan{"DeepseekV4ForCausalLM", kPlan2},
    TransformersPlan{"DiffLlamaForCausalLM", kPlan6},
    TransformersPlan{"DogeForCausalLM", kPlan13},
    TransformersPlan{"DoryForCausalLM", kPlan6},
    TransformersPlan{"Dots1ForCausalLM", kPlan14},
    TransformersPlan{"Dots3NoteForCausalLM", kPlan15},
    TransformersPlan{"Ernie4_5ForCausalLM", kPlan9},
    TransformersPlan{"Ernie4_5_MoeForCausalLM", kPlan16},
    TransformersPlan{"Exaone4ForCausalLM", kPlan17},
    TransformersPlan{"ExaoneMoeForCausalLM", kPlan18},
    TransformersPlan{"FalconH1ForCausalLM", kPlan6},
    TransformersPlan{"FlexOlmoForCausalLM", kPlan19},
    TransformersPlan{"FlintForCausalLM", kPlan20},
    TransformersPlan{"GPTJForCausalLM", kPlan21},
    TransformersPlan{"GPTNeoXForCausalLM", kPlan22},
    TransformersPlan{"Gemma2ForCausalLM", kPlan9},
    TransformersPlan{"Gemma3ForCausalLM", kPlan17},
    TransformersPlan{"Gemma3nForCausalLM", kPlan23},
    TransformersPlan{"Gemma4ForCausalLM", kPlan24},
    TransformersPlan{"Gemma4UnifiedForCausalLM", kPlan17},
    TransformersPlan{"GemmaForCausalLM", kPlan9},
    TransformersPlan{"Glm4ForCausalLM", kPlan25},
    TransformersPlan{"Glm4MoeForCausalLM", kPlan16},
    TransformersPlan{"Glm4MoeLiteForCausalLM", kPlan26},
    TransformersPlan{"GlmForCausalLM", kPlan25},
    TransformersPlan{"GlmMoeDsaForCausalLM", kPlan12},
    TransformersPlan{"GptOssForCausalLM", kPlan6},
    TransformersPlan{"GraniteForCausalLM", kPlan9},
    TransformersPlan{"GraniteMoeForCausalLM", kPlan27},
    TransformersPlan{"GraniteMoeHybridForCausalLM", kPlan27},
    TransformersPlan{"GraniteMoeSWAForCausalLM", kPlan28},
    TransformersPlan{"GraniteMoeSharedForCausalLM", kPlan27},
    TransformersPlan{"GraniteSWAForCausalLM", kPlan29},
    TransformersPlan{"HYV3ForCausalLM", kPlan30},
    TransformersPlan{"HYV4ForCausalLM", kPlan31},
    TransformersPlan{"HeliumForCausalLM", kPlan9},
    TransformersPlan{"HrmTextForCausalLM", kPlan32},
    TransformersPlan{"HunYuanDenseV1ForCausalLM", kPlan6},
    TransformersPlan{"HunYuanMoEV1ForCausalLM", kPlan2},
    TransformersPlan{"HyperCLOVAXForCausalLM", kPlan9},
    TransformersPlan{"Inkling2ForCausalLM", kPlan33},
    TransformersPlan{"Inkling2LoopForCausalLM", kPlan33},
    TransformersPlan{"InklingForCausalLM", kPlan34},
    TransformersPlan{"Jais2ForCausalLM", kPlan4},
    TransformersPlan{"JambaForCausalLM", kPlan35},
    TransformersPlan{"KimiLinearForCausalLM", kPlan0},
    TransformersPlan{"Kolibri1ForCausalLM", kPlan36},
    TransformersPlan{"LagunaForCausalLM", kPlan37},
    TransformersPlan{"LaraMiniForCausalLM", kPlan38},
    TransformersPlan{"Lfm2ForCausalLM", kPlan6},
    TransformersPlan{"Lfm2MoeForCausalLM", kPlan35},
    TransformersPlan{"Lfm3ForCausalLM", kPlan6},
    TransformersPlan{"Llama4ForCausalLM", kPlan39},
    TransformersPlan{"LlamaForCausalLM", kPlan9},
    TransformersPlan{"LongcatFlashForCausalLM", kPlan40},
    TransformersPlan{"MellumForCausalLM", kPlan18},
    TransformersPlan{"MiMoV2FlashForCausalLM", kPlan41},
    TransformersPlan{"MiniCPM3ForCausalLM", kPlan42},
    TransformersPlan{"MiniMaxForCausalLM", kPlan43},
    TransformersPlan{"MiniMaxM2ForCausalLM", kPlan19},
    TransformersPlan{"MiniMaxM3VLForCausalLM", kPlan19},
    TransformersPlan{"Ministral3ForCausalLM", kPlan9},
    TransformersPlan{"MinistralForCausalLM", kPlan9},
    TransformersPlan{"MistralForCausalLM", kPlan9},
    TransformersPlan{"MixtralForCausalLM", kPlan43},
    TransformersPlan{"NanoChatForCausalLM", kPlan44},
    TransformersPlan{"NemotronForCausalLM", kPlan4},
    TransformersPlan{"NemotronHForCausalLM", kPlan45},
    TransformersPlan{"Olmo2ForCausalLM", kPlan46},
    TransformersPlan{"Olmo3ForCausalLM", kPlan46},
    TransformersPlan{"OlmoForCausalLM", kPlan9},
    TransformersPlan{"OlmoHybridForCausalLM", kPlan46},
    TransformersPlan{"OlmoeForCausalLM", kPlan19},
    TransformersPlan{"Phi3ForCausalLM", kPlan47},
    TransformersPlan{"Phi4MultimodalForCausalLM", kPlan47},
    TransformersPlan{"PhiForCausalLM", kPlan48},
    TransformersPlan{"PhimoeForCausalLM", kPlan2},
    TransformersPlan{"Qwen2ForCausalLM", kPlan9},
    TransformersPlan{"Qwen2MoeForCausalLM", kPlan10},
    TransformersPlan{"Qwen3ForCausalLM", kPlan17},
    TransformersPlan{"Qwen3MoeForCausalLM", kPlan18},
    TransformersPlan{"Qwen3NextForCausalLM", kPlan49},
    TransformersPlan{"Qwen3_5ForCausalLM", kPlan50},
    TransformersPlan{"Qwen3_5MoeForCausalLM", kPlan51},
    TransformersPlan{"Qwen4ExpForCausalLM", kPlan52},
    TransformersPlan{"SeedOssForCausalLM", kPlan9},
    TransformersPlan{"SmolLM3ForCausalLM", kPlan9},
    TransformersPlan{"SolarOpenForCausalLM", kPlan43},
    TransformersPlan{"Starcoder2ForCausalLM", kPlan53},
    TransformersPlan{"VaultGemmaForCausalLM", kPlan9},
    TransformersPlan{"YoutuForCausalLM", kPlan54},
};

}  // namespace

std::span<const TransformersPlan> TransformersPlans() { return kPlans; }

}  // namespace steelyard
