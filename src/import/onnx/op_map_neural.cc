// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices, norms and softmax.
#include <algorithm>
#include <array>
#include <string>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

// --- Products -----------------------------------------------------------------------------------

void MatrixProduct(Call& call) {
  const Shape to = shapes::Product(call.sizes(), call.shape(0), call.shape(1));
  call.Give(call.Emit("aten::matmul", call.tensor(0), call.tensor(1)), {call.dtype(0), to});
}

void General(Call& call) {
  const bool first = call.integer("transA", 0) != 0, second = call.integer("transB", 0) != 0;
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  const Shape &a = call.shape(0), &b = call.shape(1);
  if (a.size() != 2 || b.size() != 2) Call::GiveUp("operands that are no matrices");
  const Like like{call.dtype(0), {first ? a[1] : a[0], second ? b[0] : b[1]}};
  const bool has_bias = call.has(2) && beta != 0;
  const bool is_row = has_bias && call.shape(2).size() == 1 && call.shape(2)[0] == like.shape[1];
  if (!first && second && alpha == 1 && (!has_bias || (is_row && beta == 1))) {
    const Tensor bias = has_bias ? call.tensor(2) : Tensor();
    return call.Give(call.Emit("aten::linear", call.tensor(0), call.tensor(1), bias), like);
  }
  const Tensor left = first ? call.Emit("aten::t", call.tensor(0)) : call.tensor(0);
  const Tensor right = second ? call.Emit("aten::t", call.tensor(1)) : call.tensor(1);
  if (has_bias) {
    const Tensor out = call.Emit("aten::addmm", call.tensor(2), left, right,
                                 Builder::Named("beta", beta), Builder::Named("alpha", alpha));
    return call.Give(out, like);
  }
  const Tensor out = call.Emit("aten::mm", left, right);
  call.Give(alpha == 1 ? out : call.Emit("aten::mul.Tensor", out, alpha), like);
}

// The sizes of an equation's letters; an ellipsis stands for leading dimensions of all.
class Equation {
 public:
  Equation(Call& call, const std::string& text) : call_(call) {
    std::string plain;
    for (const char c : text) {
      if (c != ' ') plain += c;
    }
    const std::size_t arrow = plain.find("->");
    std::string_view rest = std::string_view(plain).substr(0, arrow);
    for (std::size_t i = 0; i < call.count(); ++i) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      Read(rest.substr(0, comma), call.shape(i));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (arrow == std::string::npos) Imply();
    for (const char c : arrow == std::string::npos ? implied_ : plain.substr(arrow + 2)) Write(c);
  }
  const Shape& result() const { return out_; }

 private:
  void Read(std::string_view term, const Shape& shape) {
    const std::size_t dots = term.find("...");
    const std::size_t letters = dots == std::string_view::npos ? term.size() : term.size() - 3;
    if (letters > shape.size() || (dots == std::string_view::npos && letters != shape.size())) {
      Call::GiveUp("an equation of other ranks");
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        const std::size_t hidden = shape.size() - letters;
        const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(at);
        leading_ = shapes::Broadcast(call_.sizes(), leading_,
                                     Shape(begin, begin + static_cast<std::ptrdiff_t>(hidden)));
        at += hidden;
        i += 2;
        continue;
      }
      const auto letter = static_cast<unsigned char>(term[i]);
      const Dim size = shape[at++];
      // A size of 1 goes with any.
      const Shape both = ++times_[letter] == 1
                             ? Shape{size}
                             : shapes::Broadcast(call_.sizes(), {sizes_[letter]}, {size});
      sizes_[letter] = both[0];
    }
  }
  // Without an arrow: letters that stand once, in alphabetical order.
  void Imply() {
    if (!leading_.empty()) implied_ += '.';
    for (std::size_t c = 0; c < times_.size(); ++c) {
      if (times_[c] == 1) implied_ += static_cast<char>(c);
    }
  }
  void Write(char c) {
    if (c == '.') {
      if (!leading_written_) out_.insert(out_.end(), leading_.begin(), leading_.end());
      leading_written_ = true;
      return;
    }
    const auto letter = static_cast<unsigned char>(c);
    if (times_[letter] == 0) Call::GiveUp("a letter of the result that no operand has");
    out_.push_back(sizes_[letter]);
  }

  Call& call_;
  std::array<int, 256> times_{};
  std::vector<Dim> sizes_ = std::vector<Dim>(256, Dim(0));
  Shape leading_, out_;
  std::string implied_;
  bool leading_written_ = false;
};

void EinsteinSum(Call& call) {
  const std::string text = call.text("equation", "");
  const Equation equation(call, text);
  call.Give(call.Emit("aten::einsum", std::string_view(text), call.tensors()),
            {call.dtype(0), equation.result()});
}

// --- Norms --------------------------------------------------------------------------------------

// Momentum is of the old value in ONNX, of the new one in PyTorch.
void BatchNorm(Call& call) {
  const bool training = call.opset() >= 14 && call.integer("training_mode", 0) != 0;
  const double momentum = 1 - call.real("momentum", 0.9F);
  const Tensor out =
      call.Emit("aten::batch_norm", call.tensor(0), call.tensor(1), call.tensor(2), call.tensor(3),
                call.tensor(4), training, momentum, call.real("epsilon", 1e-5F), true);
  call.Give(out, call.like(0));
  if (!training) return;
  call.GiveItem(call.item(3));
  call.GiveItem(call.item(4));
}

void InstanceNorm(Call& call) {
  const Tensor out =
      call.Emit("aten::instance_norm", call.tensor(0), call.tensor(1), call.tensor(2), std::nullopt,
                std::nullopt, true, 0.1, call.real("epsilon", 1e-5F), true);
  call.Give(out, call.like(0));
}

// Dimensions from `axis` on, in whose shape PyTorch wants scale and shift.
Tensor OfShape(Call& call, std::size_t operand, const Shape& wanted) {
  if (!call.has(operand)) return {};
  const Tensor tensor = call.tensor(operand);
  if (call.shape(operand) == wanted) return tensor;
  return call.Emit("aten::expand", tensor, ToSizes(wanted));
}

void LayerNorm(Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank(0));
  const Shape& from = call.shape(0);
  const Shape rows(from.begin() + axis, from.end());
  const double epsilon = call.real("epsilon", 1e-5F);
  const Tensor x = call.tensor(0);
  const Tensor weight = OfShape(call, 1, rows), bias = OfShape(call, 2, rows);
  if (!call.wants(1) && !call.wants(2)) {
    const Tensor out = call.Emit("aten::layer_norm", x, ToSizes(rows), weight, bias, epsilon);
    return call.Give(out, call.like(0));
  }
  const std::vector<Tensor> out =
      call.EmitMany("aten::native_layer_norm", 3, x, ToSizes(rows), weight, bias, epsilon);
  Shape moments = from;
  std::fill(moments.begin() + axis, moments.end(), Dim(1));
  call.Give(out[0], call.like(0));
  call.Give(out[1], {DType::kFloat32, moments});
  call.Give(out[2], {DType::kFloat32, moments});
}

void RootMeanSquareNorm(Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank(0));
  const Shape& from = call.shape(0);
  const Shape rows(from.begin() + axis, from.end());
  const Tensor out = call.Emit("aten::rms_norm", call.tensor(0), ToSizes(rows),
                               OfShape(call, 1, rows), call.real("epsilon", 1e-5F));
  call.Give(out, call.like(0));
}

// Scale and shift of each group, before version 21, are repeated for its channels.
void GroupNorm(Call& call) {
  const std::int64_t groups = call.integer("num_groups", 1);
  const Dim channels = call.shape(0).at(1);
  const auto of_channels = [&](std::size_t operand) {
    const Tensor tensor = call.tensor(operand);
    if (call.shape(operand).at(0) == channels) return tensor;
    return call.Emit("aten::repeat_interleave.self_int", tensor,
                     call.sizes().Quotient(channels, Dim(groups)));
  };
  const Tensor out = call.Emit("aten::group_norm", call.tensor(0), groups, of_channels(1),
                               of_channels(2), call.real("epsilon", 1e-5F));
  call.Give(out, call.like(0));
}

// torch.nn.functional.local_response_norm
void LocalResponseNorm(Call& call) {
  const std::int64_t size = call.integer("size", 1);
  const Shape& from = call.shape(0);
  if (from.size() < 3 || size < 1) Call::GiveUp("no channels of a signal");
  const Tensor x = call.tensor(0);
  const Tensor square = call.Emit("aten::unsqueeze", call.Emit("aten::mul.Tensor", x, x), 1);
  Sizes& sizes = call.sizes();
  const Builder::Shape volume{from[0], 1, from[1], from[2],
                              shapes::Count(sizes, from, 3, static_cast<int>(from.size()))};
  const Tensor flat = call.Emit("aten::reshape", square, volume);
  const Tensor framed = call.Emit("aten::constant_pad_nd", flat,
                                  Builder::Shape{0, 0, 0, 0, size / 2, (size - 1) / 2}, 0);
  const Tensor mean =
      call.Emit("aten::avg_pool3d", framed, Builder::Shape{size, 1, 1}, Builder::Shape{1, 1, 1});
  const Tensor shaped = call.Emit("aten::reshape", mean, ToSizes(from));
  const Tensor scaled = call.Emit("aten::mul.Tensor", shaped, call.real("alpha", 1e-4F));
  const Tensor shifted = call.Emit("aten::add.Tensor", scaled, call.real("bias", 1));
  const Tensor by = call.Emit("aten::pow.Tensor_Scalar", shifted, call.real("beta", 0.75));
  call.Give(call.Emit("aten::div.Tensor", x, by), call.like(0));
}

void UnitNorm(Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank(0));
  const Tensor x = call.tensor(0);
  const Tensor norm =
      call.Emit("aten::linalg_vector_norm", x, call.integer("p", 2), Builder::Shape{axis}, true);
  call.Give(call.Emit("aten::div.Tensor", x, norm), call.like(0));
}

// (x - mean) / (deviation + epsilon), over all but the channels.
void MeanVariance(Call& call) {
  const auto axes = call.integers("axes").value_or(std::vector<std::int64_t>{0, 2, 3});
  const Tensor x = call.tensor(0);
  const Tensor mean = call.Emit("aten::mean.dim", x, ToSizes(axes), true);
  const Tensor centered = call.Emit("aten::sub.Tensor", x, mean);
  const Tensor squares = call.Emit("aten::pow.Tensor_Scalar", x, 2);
  const Tensor mean_square = call.Emit("aten::mean.dim", squares, ToSizes(axes), true);
  const Tensor square_mean = call.Emit("aten::pow.Tensor_Scalar", mean, 2);
  const Tensor variance = call.Emit("aten::sub.Tensor", mean_square, square_mean);
  const Tensor deviation = call.Emit("aten::sqrt", variance);
  const Tensor by = call.Emit("aten::add.Tensor", deviation, 1e-9);
  call.Give(call.Emit("aten::div.Tensor", centered, by), call.like(0));
}

// --- Softmax ------------------------------------------------------------------------------------

void Softmax(Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank(0));
  call.Give(call.Emit(call.row().target, call.tensor(0), axis), call.like(0));
}

// Before version 13: of matrices, into which dimensions are merged from `axis` on.
void SoftmaxOfMatrix(Call& call) {
  const int rank = call.rank(0);
  const int axis = call.axis(call.integer("axis", 1), rank);
  const Tensor x = call.tensor(0);
  if (axis == rank - 1) return call.Give(call.Emit(call.row().target, x, axis), call.like(0));
  const Shape& from = call.shape(0);
  const Builder::Shape merged{shapes::Count(call.sizes(), from, 0, axis), -1};
  const Tensor matrix = call.Emit("aten::reshape", x, merged);
  const Tensor out = call.Emit(call.row().target, matrix, 1);
  call.Give(call.Emit("aten::reshape", out, ToSizes(from)), call.like(0));
}

// One at the largest, zero elsewhere.
void Hardmax(Call& call) {
  if (call.opset() < 13 && call.integer("axis", 1) != call.rank(0) - 1) {
    Call::GiveUp("the largest of merged dimensions");
  }
  const int axis = call.axis(call.integer("axis", call.opset() < 13 ? 1 : -1), call.rank(0));
  const Tensor x = call.tensor(0);
  const Tensor largest = call.Emit("aten::argmax", x, axis, true);
  const Tensor zeros = call.Emit("aten::zeros_like", x);
  call.Give(call.Emit("aten::scatter.value", zeros, axis, largest, 1), call.like(0));
}

// Of each matrix.
void Determinant(Call& call) {
  Shape to = call.shape(0);
  if (to.size() < 2) Call::GiveUp("no matrix");
  to.erase(to.end() - 2, to.end());
  call.Give(call.Emit("aten::linalg_det", call.tensor(0)), {call.dtype(0), to});
}

constexpr std::array kRows{
    OpRow{.name = "BatchNormalization", .since = 1, .translate = BatchNorm, .statistics = 0b11000},
    OpRow{"Det", 11, Determinant},
    OpRow{"Einsum", 12, EinsteinSum},
    OpRow{"Gemm", 1, General},
    OpRow{"GroupNormalization", 18, GroupNorm},
    OpRow{"Hardmax", 1, Hardmax},
    OpRow{"InstanceNormalization", 1, InstanceNorm},
    OpRow{"LRN", 1, LocalResponseNorm},
    OpRow{"LayerNormalization", 17, LayerNorm},
    OpRow{"LogSoftmax", 1, SoftmaxOfMatrix, "aten::log_softmax.int"},
    OpRow{"LogSoftmax", 13, Softmax, "aten::log_softmax.int"},
    OpRow{"LpNormalization", 1, UnitNorm},
    OpRow{"MatMul", 1, MatrixProduct},
    OpRow{"MeanVarianceNormalization", 9, MeanVariance},
    OpRow{"RMSNormalization", 23, RootMeanSquareNorm},
    OpRow{"Softmax", 1, SoftmaxOfMatrix, "aten::softmax.int"},
    OpRow{"Softmax", 13, Softmax, "aten::softmax.int"},
};

}  // namespace

std::span<const OpRow> NeuralRows() { return kRows; }

}  // namespace steelyard::onnx
