// SPDX-License-Identifier: Apache-2.0
//
// Images, signals and volumes in other sizes, and at other places.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

// A number times a factor, rounded down: as floats, where 10 times 0.7 is 7.
Dim Scaled(std::int64_t size, double factor) {
  const float scaled = std::floor(static_cast<float>(size) * static_cast<float>(factor));
  if (!(scaled >= 0 && scaled < 0x1p53F)) Call::GiveUp("an absurd factor");
  return Dim(static_cast<std::int64_t>(scaled));
}

// Sizes times the factors of an attribute or an operand: constants, or what exporters compute of
// sizes.
void ScaleBy(Call& call, std::size_t operand, const std::vector<Dim*>& sizes) {
  const auto listed = call.attribute("scales");
  const auto reals = listed ? std::optional(listed->reals) : call.reals(operand);
  const auto ratios = reals ? std::nullopt : call.ratios(operand);
  const std::size_t count = reals ? reals->size() : ratios ? ratios->size() : 0;
  if (count != sizes.size()) Call::GiveUp("factors that depend on data");
  for (std::size_t i = 0; i < count; ++i) {
    Dim& size = *sizes[i];
    if (reals && size.is_number()) {
      size = Scaled(size.number(), (*reals)[i]);
      continue;
    }
    const std::optional<Ratio> by = reals ? RatioOf((*reals)[i]) : (*ratios)[i];
    if (!by) Call::GiveUp("a symbolic size times an absurd factor");
    size = call.sizes().Quotient(call.sizes().Product(size, by->above), by->below);
  }
}

// Sizes by one factor, the least or the most that the wanted ones give.
std::vector<Dim> InProportion(const std::vector<Dim>& of, const std::vector<Dim>& wanted,
                              const std::string& policy) {
  std::vector<double> factors;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (!of[i].is_number() || !wanted[i].is_number() || of[i] == Dim(0)) {
      Call::GiveUp("symbolic sizes in proportion");
    }
    factors.push_back(static_cast<double>(wanted[i].number()) /
                      static_cast<double>(of[i].number()));
  }
  if (factors.empty()) return {};
  const double factor = policy == "not_larger" ? *std::ranges::min_element(factors)
                                               : *std::ranges::max_element(factors);
  std::vector<Dim> out;
  for (const Dim size : of) {
    const double scaled = std::round(static_cast<double>(size.number()) * factor);
    if (!(scaled >= 0 && scaled < 0x1p53)) Call::GiveUp("an absurd factor");
    out.emplace_back(static_cast<std::int64_t>(scaled));
  }
  return out;
}

// Of all dimensions, from those in `axes`.
Shape ResizedShape(Call& call, std::size_t scales, std::size_t wanted) {
  Shape to = call.shape(0);
  std::vector<int> axes;
  for (const std::int64_t axis : call.integers("axes").value_or(std::vector<std::int64_t>())) {
    axes.push_back(call.axis(axis, call.rank(0)));
  }
  if (axes.empty()) {
    for (int i = 0; i < call.rank(0); ++i) axes.push_back(i);
  }
  const auto at = [&](std::size_t i) -> Dim& { return to[static_cast<std::size_t>(axes[i])]; };
  const bool has_sizes = call.has(wanted) && call.shape(wanted) != Shape{Dim(0)};
  if (has_sizes) {
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    const std::vector<Dim> sizes = call.known_numbers(wanted);
    if (sizes.size() != axes.size()) Call::GiveUp("sizes of another rank");
    std::vector<Dim> of;
    of.reserve(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) of.push_back(at(i));
    const std::vector<Dim> kept = policy == "stretch" ? sizes : InProportion(of, sizes, policy);
    for (std::size_t i = 0; i < axes.size(); ++i) at(i) = kept[i];
    return to;
  }
  std::vector<Dim*> scaled;
  scaled.reserve(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) scaled.push_back(&at(i));
  ScaleBy(call, scales, scaled);
  return to;
}

std::string_view KernelOf(const std::string& mode, std::size_t dimensions, bool smooth) {
  const auto choose = [&](std::initializer_list<std::string_view> names) {
    const std::string_view name = *(names.begin() + dimensions - 1);
    if (name.empty())
      Call::GiveUp("\"" + mode + "\" of " + std::to_string(dimensions) + " dimensions");
    return name;
  };
  if (dimensions < 1 || dimensions > 3) Call::GiveUp("other than one to three dimensions");
  if (mode == "nearest") {
    return choose({"aten::upsample_nearest1d.vec", "aten::upsample_nearest2d.vec",
                   "aten::upsample_nearest3d.vec"});
  }
  if (mode == "linear" || mode == "bilinear") {
    if (smooth) return choose({"", "aten::_upsample_bilinear2d_aa.vec", ""});
    return choose({"aten::upsample_linear1d.vec", "aten::upsample_bilinear2d.vec",
                   "aten::upsample_trilinear3d.vec"});
  }
  if (mode != "cubic") Call::GiveUp("mode \"" + mode + "\"");
  if (smooth) return choose({"", "aten::_upsample_bicubic2d_aa.vec", ""});
  return choose({"", "aten::upsample_bicubic2d.vec", ""});
}

void Interpolated(Call& call, const Shape& to) {
  const Shape& from = call.shape(0);
  const std::string mode = call.text("mode", "nearest");
  if (from.size() < 3 || from[0] != to[0] || from[1] != to[1]) {
    Call::GiveUp("other than the spatial dimensions are resized");
  }
  const bool smooth = call.integer("antialias", 0) != 0;
  const std::string_view op = KernelOf(mode, from.size() - 2, smooth);
  const Builder::Shape sizes(to.begin() + 2, to.end());
  const bool corners = call.text("coordinate_transformation_mode", "") == "align_corners";
  const Tensor x = call.tensor(0);
  const Tensor out = mode == "nearest" ? call.Emit(op, x, sizes, std::nullopt)
                                       : call.Emit(op, x, sizes, corners, std::nullopt);
  call.Give(out, {call.dtype(0), to});
}

// Where the crop of a dimension begins and ends, as a share of it; all of it, if nothing says so.
struct Span {
  double from = 0, to = 1;
};
std::vector<Span> CropOf(Call& call) {
  std::vector<Span> spans(call.shape(0).size());
  const auto written = call.reals(1);
  const auto axes = call.integers("axes");
  const std::size_t count = axes ? axes->size() : spans.size();
  if (!written || written->size() != 2 * count) Call::GiveUp("a crop that depends on data");
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = axes ? static_cast<std::size_t>(call.axis((*axes)[i], call.rank(0))) : i;
    spans[axis] = {.from = (*written)[i], .to = (*written)[i + count]};
  }
  return spans;
}

// PyTorch samples a crop at a grid of places from -1 to 1, both ends of the image; beyond them
// there is a number of ONNX's own.
void Cropped(Call& call, const Shape& to) {
  const Shape& from = call.shape(0);
  if (from.size() != 4 || from[0] != to[0] || from[1] != to[1]) {
    Call::GiveUp("a crop of other than an image");
  }
  const std::vector<Span> spans = CropOf(call);
  const auto places = [&](std::size_t axis) {
    return call.Emit("aten::linspace", 2 * spans[axis].from - 1, 2 * spans[axis].to - 1, to[axis],
                     Builder::Named("dtype", call.dtype(0)));
  };
  const std::vector<Tensor> each =
      call.EmitMany("aten::meshgrid.indexing", 2, std::vector<Tensor>{places(2), places(3)},
                    Builder::Named("indexing", "ij"));
  Tensor grid = call.Emit("aten::stack", std::vector<Tensor>{each[1], each[0]}, -1);
  const Tensor all = call.Emit("aten::expand", grid, Builder::Shape{from[0], to[2], to[3], 2});
  const std::string mode = call.text("mode", "nearest");
  const int by = mode == "nearest" ? 1 : mode == "cubic" ? 2 : 0;
  const Tensor sampled = call.Emit("aten::grid_sampler", call.tensor(0), all, by, 0, true);
  const Tensor beyond = call.Emit(
      "aten::any.dim", call.Emit("aten::gt.Scalar", call.Emit("aten::abs", grid), 1.0), -1);
  const Tensor out =
      call.Emit("aten::masked_fill.Scalar", sampled, beyond, call.real("extrapolation_value", 0));
  call.Give(out, {call.dtype(0), to});
}

// X, roi, scales, sizes; before version 11 X, scales.
void Resize(Call& call) {
  constexpr std::size_t kNone = 99;
  if (call.opset() < 11) return Interpolated(call, ResizedShape(call, 1, kNone));
  if (call.text("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    if (!call.has(3)) Call::GiveUp("a crop by factors");
    return Cropped(call, ResizedShape(call, 2, 3));
  }
  Interpolated(call, ResizedShape(call, 2, 3));
}

void SampleGrid(Call& call) {
  const std::string mode = call.text("mode", "linear");
  const std::string padding = call.text("padding_mode", "zeros");
  const int by = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 2 : 0;
  const int beyond = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  const Tensor out = call.Emit("aten::grid_sampler", call.tensor(0), call.tensor(1), by, beyond,
                               call.integer("align_corners", 0) != 0);
  Shape to(call.shape(0).begin(), call.shape(0).begin() + 2);
  const Shape& grid = call.shape(1);
  to.insert(to.end(), grid.begin() + 1, grid.end() - 1);
  call.Give(out, {call.dtype(0), to});
}

void AffineGrid(Call& call) {
  const std::vector<Dim> size = call.known_numbers(1);
  if (size.size() != 4 && size.size() != 5) Call::GiveUp("no size of images or volumes");
  Shape to{size[0]};
  to.insert(to.end(), size.begin() + 2, size.end());
  to.emplace_back(static_cast<std::int64_t>(size.size() - 2));
  const Tensor out = call.Emit("aten::affine_grid_generator", call.tensor(0), ToSizes(size),
                               call.integer("align_corners", 0) != 0);
  call.Give(out, {call.dtype(0), to});
}

std::vector<std::int64_t> Listed(Call& call, std::string_view name, std::size_t count,
                                 std::int64_t otherwise) {
  auto list = call.integers(name).value_or(std::vector<std::int64_t>());
  list.resize(count, otherwise);
  return list;
}

// PyTorch folds images only. Of volumes it is the transposed convolution by windows of which each
// has a single one (unfoldNd).
void ColumnsToVolume(Call& call, const std::vector<std::int64_t>& volume,
                     const std::vector<std::int64_t>& kernel) {
  const std::size_t count = volume.size();
  if (count != 3 || kernel.size() != count) Call::GiveUp("other than an image or a volume");
  const std::vector<std::int64_t> pads = Listed(call, "pads", 2 * count, 0),
                                  dilations = Listed(call, "dilations", count, 1),
                                  strides = Listed(call, "strides", count, 1);
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto in_range = [](std::int64_t number) { return number >= 0 && number < kMost; };
  std::int64_t size = 1;
  Builder::Shape blocks, before, more, window;
  for (std::size_t i = 0; i < count; ++i) {
    const std::array of{volume[i], kernel[i], pads[i], dilations[i], strides[i]};
    const bool whole = std::ranges::all_of(of, in_range);
    if (!whole || kernel[i] < 1 || strides[i] < 1) Call::GiveUp("windows of no size");
    if (pads[i] != pads[i + count]) Call::GiveUp("uneven padding");
    size *= kernel[i];
    if (!in_range(size)) Call::GiveUp("windows of absurd size");
    const std::int64_t room = volume[i] + 2 * pads[i] - dilations[i] * (kernel[i] - 1) - 1;
    if (room < 0) Call::GiveUp("windows beyond the volume");
    blocks.emplace_back(room / strides[i] + 1);
    more.emplace_back(room % strides[i]);
    before.emplace_back(pads[i]);
    window.emplace_back(kernel[i]);
  }
  const Dim channels = call.sizes().Quotient(call.shape(0).at(1), Dim(size));
  const Builder::Arg dtype = Builder::Named("dtype", call.dtype(0));
  Builder::Shape columns{call.shape(0)[0], call.shape(0)[1]}, places{size, 1}, weights{channels};
  columns.insert(columns.end(), blocks.begin(), blocks.end());
  places.insert(places.end(), window.begin(), window.end());
  weights.insert(weights.end(), count + 1, 1);
  const Tensor ones = call.Emit("aten::reshape", call.Emit("aten::eye", size, dtype), places);
  const Tensor weight = call.Emit("aten::repeat", ones, weights);
  const Tensor x = call.Emit("aten::reshape", call.tensor(0), columns);
  const Tensor out = call.Emit("aten::conv_transpose3d.input", x, weight, Tensor(),
                               ToSizes(strides), before, more, channels, ToSizes(dilations));
  Shape to{call.shape(0)[0], channels};
  for (const std::int64_t entry : volume) to.emplace_back(entry);
  call.Give(out, {call.dtype(0), to});
}

// x, sizes of the image, sizes of the windows
void ColumnsToImage(Call& call) {
  const std::vector<std::int64_t> image = call.known_integers(1), kernel = call.known_integers(2);
  if (call.rank(0) != 3) Call::GiveUp("operands of another rank");
  if (image.size() != 2 || kernel.size() != 2) return ColumnsToVolume(call, image, kernel);
  const auto pads = Listed(call, "pads", 4, 0);
  if (pads[0] != pads[2] || pads[1] != pads[3]) Call::GiveUp("uneven padding");
  const Tensor out =
      call.Emit("aten::col2im", call.tensor(0), ToSizes(image), ToSizes(kernel),
                ToSizes(Listed(call, "dilations", 2, 1)), Builder::Shape{pads[0], pads[1]},
                ToSizes(Listed(call, "strides", 2, 1)));
  const Dim area(kernel[0] * kernel[1]);
  call.Give(out, {call.dtype(0),
                  {call.shape(0).at(0), call.sizes().Quotient(call.shape(0).at(1), area),
                   Dim(image[0]), Dim(image[1])}});
}

// Cut at both ends where it is too large, filled with zeros where it is too small.
void CenterCropPad(Call& call) {
  const std::vector<std::int64_t> wanted = call.known_integers(1);
  std::vector<std::int64_t> axes = call.integers("axes").value_or(std::vector<std::int64_t>());
  if (axes.empty()) {
    for (int i = 0; i < call.rank(0); ++i) axes.push_back(i);
  }
  if (axes.size() != wanted.size()) Call::GiveUp("sizes of another rank");
  Shape to = call.shape(0);
  Tensor out = call.tensor(0);
  Builder::Shape pads(2 * to.size(), 0);
  bool padded = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = call.axis(axes[i], call.rank(0));
    Dim& size = to[static_cast<std::size_t>(axis)];
    if (!size.is_number()) Call::GiveUp("a symbolic size");
    const std::int64_t surplus = size.number() - wanted[i];
    if (surplus > 0) {
      out = call.Emit("aten::slice.Tensor", out, axis, surplus / 2, surplus / 2 + wanted[i]);
    } else if (surplus < 0) {
      const std::size_t at = 2 * (to.size() - 1 - static_cast<std::size_t>(axis));
      pads[at] = -surplus / 2;
      pads[at + 1] = -surplus - -surplus / 2;
      padded = true;
    }
    size = Dim(wanted[i]);
  }
  if (padded) out = call.Emit("aten::constant_pad_nd", out, pads, 0);
  call.Give(out, {call.dtype(0), to});
}

// Bytes of a file of JPEG, PNG or the like.
void Decode(Call& /*call*/) {
  Call::GiveUp(
      "how large an image is stands in its bytes; cut the decoder off "
      "(onnx.utils.extract_model) and weigh what follows it, with --input for the image");
}

constexpr std::array kRows{
    OpRow{"AffineGrid", 20, AffineGrid},
    OpRow{"CenterCropPad", 18, CenterCropPad},
    OpRow{"Col2Im", 18, ColumnsToImage},
    OpRow{"GridSample", 16, SampleGrid},
    OpRow{"ImageDecoder", 20, Decode},
    OpRow{.name = "Resize", .since = 10, .translate = Resize, .settings = 0b1110},
    OpRow{.name = "Upsample", .since = 7, .translate = Resize, .settings = 0b10},
};

}  // namespace

std::span<const OpRow> ImageRows() { return kRows; }

}  // namespace steelyard::onnx
