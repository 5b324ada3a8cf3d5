// SPDX-License-Identifier: Apache-2.0
//
// What models that see images share: their inputs, patches, attention over them, and the head that
// tells classes apart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/layers.h"

namespace steelyard::models {

// Height and width.
struct Extent {
  std::int64_t height = 1, width = 1;
  std::int64_t area() const { return height * width; }
};

// A size that a config gives as one number, or as two.
Extent ExtentOf(const Settings& config, std::string_view key, std::int64_t missing);

// How an image is cut into patches, as "image_size", "patch_size" and "num_channels" say.
struct Patches {
  std::int64_t channels = 3;
  Extent image, patch;
  Extent grid() const;
};
struct PatchDefaults {
  std::int64_t image = 224, patch = 16;
};
// Refuses images that no patch fits into.
Patches PatchesOf(const Settings& config, const PatchDefaults& missing);

// pixel_values of [batch, channels, height, width].
Tensor ImageInput(Net& net, const Patches& patches);
// The same for a model that has made its batch for another input.
Tensor ImageInputOfBatch(const Net& net, const Patches& patches);

// The convolution that makes a vector of each patch.
Convolution::Plan PatchPlan(const Patches& patches, std::int64_t hidden, Bias bias = Bias::kOne);
// [batch, hidden, height, width] as [batch, patches, hidden].
Tensor AsTokens(const Net& net, Tensor image);

// Attention of tokens to each other.
struct VisionAttention : Layer {
  struct Plan {
    std::string name, class_name;
    std::string output = "o_proj";
    std::int64_t hidden = 1, heads = 1, width = 1;  // the width of a head
    double dropout = 0.0;
    Bias qkv_bias = Bias::kOne;
    // Keys, values, queries is the order of parameters, and heads are split when all are there.
    bool keys_first = false;
    bool wide_softmax = true;  // of eager attention, in float32
    bool backwards = false;    // each token sees those before it, without a mask
  };
  VisionAttention(const Layer& parent, const Plan& plan);
  // Of [rows, tokens, hidden].
  Tensor operator()(Tensor x, Tensor mask, Builder::Size rows, Builder::Size tokens) const {
    return Run(x, [&] { return mask; }, rows, tokens);
  }

 protected:
  // With a mask that is made when queries, keys and values are there.
  Tensor Run(Tensor x, const std::function<Tensor()>& mask, Builder::Size rows,
             Builder::Size tokens) const;

 private:
  Plan plan_;
  std::vector<Linear> inputs_;
  Linear output_;
};

// Stochastic depth: a residual branch is left away for some of the images while it trains.
struct DropPath : Layer {
  DropPath(const Layer& parent, std::string_view class_name, double probability);
  // `x` is of [batch, ...], of `rank` dimensions.
  Tensor operator()(Tensor x, std::size_t rank) const;
  double p;
};

// The probability of each of `count` layers: from 0 to `last`, evenly.
double DropPathOf(double last, std::int64_t layer, std::int64_t count);

// fc2(act(fc1(x)))
struct TwoLayerMlp : Layer {
  TwoLayerMlp(const Layer& parent, std::string_view class_name, std::int64_t hidden,
              std::int64_t inner, const Settings& config, std::string_view activation);
  Tensor operator()(Tensor x) const;
  Activation act;
  Linear in, out;
};

// The head that says which class an image is of.
class ImageClasses {
 public:
  ImageClasses(const Layer& root, std::int64_t hidden);
  // Adds the inputs, an image and, where the model takes them, labels; returns the loss and the
  // logits of what `model` makes of the image: [batch, hidden].
  void Run(Net& net, const Patches& patches,
           const std::function<Tensor(Tensor pixels)>& model) const;

 private:
  std::int64_t classes_;
  Linear classifier_;
};

}  // namespace steelyard::models
