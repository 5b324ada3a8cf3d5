// SPDX-License-Identifier: Apache-2.0
//
// Options of the passes are bound field by field under their C++ names, and without arguments they
// are what they are in C++. The names of optimizers and losses come from their rows.

#include "steelyard/pass.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "text.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

void BindSizes(nb::module_& module) {
  nb::class_<InputShape>(module, "InputShape")
      .def(nb::init<std::string, std::vector<std::int64_t>>(), nb::arg("name"), nb::arg("sizes"))
      .def_rw("name", &InputShape::name)
      .def_rw("sizes", &InputShape::sizes);
  nb::class_<SymbolSize>(module, "SymbolSize")
      .def(nb::init<std::string, std::int64_t>(), nb::arg("name"), nb::arg("size"))
      .def_rw("name", &SymbolSize::name)
      .def_rw("size", &SymbolSize::size);
  nb::class_<BindOptions>(module, "BindOptions")
      .def(nb::init<>())
      .def_rw("inputs", &BindOptions::inputs)
      .def_rw("sizes", &BindOptions::sizes)
      .def_rw("batch", &BindOptions::batch, nb::arg().none())
      .def_rw("seq", &BindOptions::seq, nb::arg().none());
}

void BindTraining(nb::module_& module) {
  nb::class_<OptimizerOption>(module, "OptimizerOption")
      .def(nb::init<std::string, std::string>(), nb::arg("name"), nb::arg("value"))
      .def_rw("name", &OptimizerOption::name)
      .def_rw("value", &OptimizerOption::value);
  nb::class_<ParameterGroup>(module, "ParameterGroup")
      .def(nb::init<std::string, std::string, std::vector<OptimizerOption>>(), nb::arg("pattern"),
           nb::arg("optimizer"), nb::arg("options"))
      .def_rw("pattern", &ParameterGroup::pattern)
      .def_rw("optimizer", &ParameterGroup::optimizer)
      .def_rw("options", &ParameterGroup::options);
  nb::class_<ShardPrecision>(module, "ShardPrecision")
      .def(nb::init<>())
      .def_rw("param", &ShardPrecision::param)
      .def_rw("reduce", &ShardPrecision::reduce)
      .def_rw("output", &ShardPrecision::output)
      .def_rw("cast_inputs", &ShardPrecision::cast_inputs);
  nb::class_<LayerPlan>(module, "LayerPlan")
      .def(nb::init<std::string, std::string>(), nb::arg("pattern"), nb::arg("style"))
      .def_rw("pattern", &LayerPlan::pattern)
      .def_rw("style", &LayerPlan::style);
  nb::class_<ParallelOptions>(module, "ParallelOptions")
      .def(nb::init<>())
      .def_rw("wrapper", &ParallelOptions::wrapper)
      .def_rw("bucket_mib", &ParallelOptions::bucket_mib)
      .def_rw("bucket_views", &ParallelOptions::bucket_views)
      .def_rw("find_unused", &ParallelOptions::find_unused)
      .def_rw("static_graph", &ParallelOptions::static_graph)
      .def_rw("units", &ParallelOptions::units)
      .def_rw("keep_gathered", &ParallelOptions::keep_gathered)
      .def_rw("precision", &ParallelOptions::precision)
      .def_rw("plan", &ParallelOptions::plan)
      .def_rw("parameter_views", &ParallelOptions::parameter_views)
      .def_rw("rank", &ParallelOptions::rank)
      .def_rw("arguments", &ParallelOptions::arguments);
  module.def("shards", &Shards, nb::arg("options"));
  module.def("partitions", &Partitions, nb::arg("options"));
  module.def("zero_stage", &ZeroStage, nb::arg("options"));
  module.def("shares_layers", &SharesLayers, nb::arg("options"));
  nb::class_<TrainOptions>(module, "TrainOptions")
      .def(nb::init<>())
      .def_rw("optimizer", &TrainOptions::optimizer)
      .def_rw("options", &TrainOptions::options)
      .def_rw("groups", &TrainOptions::groups)
      .def_rw("freeze", &TrainOptions::freeze)
      .def_rw("loss", &TrainOptions::loss)
      .def_rw("loss_output", &TrainOptions::loss_output)
      .def_rw("accumulate", &TrainOptions::accumulate)
      .def_rw("unroll", &TrainOptions::unroll)
      .def_rw("clip_norm", &TrainOptions::clip_norm)
      .def_rw("clip_value", &TrainOptions::clip_value)
      .def_rw("keep_gradients", &TrainOptions::keep_gradients)
      .def_rw("first_step", &TrainOptions::first_step)
      .def_rw("step", &TrainOptions::step)
      .def_rw("recompute", &TrainOptions::recompute)
      .def_rw("recompute_reentrant", &TrainOptions::recompute_reentrant)
      .def_rw("inplace", &TrainOptions::inplace)
      .def_rw("fused_loss", &TrainOptions::fused_loss)
      .def_rw("ranks", &TrainOptions::ranks)
      .def_rw("parallel", &TrainOptions::parallel)
      .def_rw("makes_engine", &TrainOptions::makes_engine);
}

void BindPrecision(nb::module_& module) {
  nb::class_<CastOverride>(module, "CastOverride")
      .def(nb::init<std::string, DType>(), nb::arg("of"), nb::arg("dtype"))
      .def_rw("of", &CastOverride::of)
      .def_rw("dtype", &CastOverride::dtype);
  nb::enum_<CastPolicy>(module, "CastPolicy")
      .value("TORCH", CastPolicy::kTorch)
      .value("RAF", CastPolicy::kRaf);
  nb::class_<AmpOptions>(module, "AmpOptions")
      .def(nb::init<>())
      .def_rw("dtype", &AmpOptions::dtype, nb::arg().none())
      .def_rw("policy", &AmpOptions::policy)
      .def_rw("results", &AmpOptions::results, nb::arg().none())
      .def_rw("casts", &AmpOptions::casts);
}

}  // namespace

void BindPass(nb::module_& module) {
  BindSizes(module);
  BindTraining(module);
  BindPrecision(module);
  module.attr("MOST_LOSS_CHUNKS") = TrainOptions::kMostLossChunks;
  module.attr("MOST_BUCKET_MIB") = ParallelOptions::kMostBucketMib;
  nb::enum_<ModelMode>(module, "ModelMode")
      .value("EXPORTED", ModelMode::kExported)
      .value("TRAIN", ModelMode::kTrain)
      .value("EVAL", ModelMode::kEval);
  module.def(
      "optimizers",
      [] {
        std::vector<std::string_view> names;
        for (const OptimizerInfo& optimizer : Optimizers()) names.push_back(optimizer.name);
        return names;
      },
      "The optimizers that a training step may end with.");
  module.def(
      "losses",
      [] {
        std::vector<std::string_view> names;
        for (const LossInfo& loss : Losses()) names.push_back(loss.name);
        return names;
      },
      "The losses that a training step may append.");
}

}  // namespace steelyard::python
