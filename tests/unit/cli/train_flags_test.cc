// SPDX-License-Identifier: Apache-2.0
#include "cli/train_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "given.h"

namespace steelyard::cli {
namespace {

using ::testing::HasSubstr;

TEST(TrainFlags, NothingGivenIsNoTraining) {
  const TrainOptions options = OptionsOf<TrainFlags>({}).value();
  EXPECT_EQ(options.optimizer, "");
  EXPECT_EQ(options.accumulate, 1);
  EXPECT_FALSE(options.clip_norm || options.clip_value || options.keep_gradients);
}

TEST(TrainFlags, ModulesThatRunAgainArePatterns) {
  const TrainOptions options = OptionsOf<TrainFlags>({{"--train", "sgd"},
                                                      {"--recompute", "encoder.layer.*"},
                                                      {"--recompute", "decoder"},
                                                      {"--recompute-reentrant", ""}})
                                   .value();
  EXPECT_THAT(options.recompute, ::testing::ElementsAre("encoder.layer.*", "decoder"));
  EXPECT_TRUE(options.recompute_reentrant);
  EXPECT_FALSE(OptionsOf<TrainFlags>({{"--recompute", "encoder"}}));
}

TEST(TrainFlags, OptionsOfTheOptimizerHaveTheirOwnNames) {
  const TrainOptions options =
      OptionsOf<TrainFlags>({{"--train", "sgd"},
                             {"--momentum", "0.9"},
                             {"--weight-decay", "0"},
                             {"--nesterov", ""},
                             {"--fused", ""},
                             {"--optim-args", "maximize=True,dampening=0"}})
          .value();
  std::vector<std::string> names;
  for (const OptimizerOption& option : options.options) {
    names.push_back(option.name + "=" + option.value);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("momentum=0.9", "weight_decay=0", "nesterov=True",
                                            "fused=True", "maximize=True", "dampening=0"));
}

TEST(TrainFlags, GroupsComeBeforeWhatDoesNotDecay) {
  const TrainOptions options =
      OptionsOf<TrainFlags>({{"--train", "adamw"},
                             {"--no-decay", "*.bias"},
                             {"--group", "embed:weight_decay=0.5,optimizer=sgd"}})
          .value();
  ASSERT_EQ(options.groups.size(), 2u);
  EXPECT_EQ(options.groups[0].pattern, "embed");
  EXPECT_EQ(options.groups[0].optimizer, "sgd");
  ASSERT_EQ(options.groups[0].options.size(), 1u);
  EXPECT_EQ(options.groups[0].options[0].value, "0.5");
  EXPECT_EQ(options.groups[1].pattern, "*.bias");
  EXPECT_EQ(options.groups[1].options[0].name, "weight_decay");
}

TEST(TrainFlags, StepsAndClipping) {
  const TrainOptions options = OptionsOf<TrainFlags>({{"--train", "adamw"},
                                                      {"--clip-norm", "1.5"},
                                                      {"--accumulate", "4"},
                                                      {"--freeze", "a"},
                                                      {"--freeze", "b"},
                                                      {"--zero-grad", "zeros"}})
                                   .value();
  EXPECT_TRUE(options.clip_norm);
  EXPECT_FALSE(options.clip_value);
  EXPECT_EQ(options.accumulate, 4);
  EXPECT_EQ(options.freeze.size(), 2u);
  EXPECT_TRUE(options.keep_gradients);
}

TEST(TrainFlags, MalformedOnesAreRefused) {
  const auto refusal = [](const Given& given) {
    const Result<TrainOptions> options = OptionsOf<TrainFlags>(given);
    return options ? "not refused" : Describe(options.error());
  };
  EXPECT_THAT(refusal({{"--accumulate", "4"}}),
              HasSubstr("--accumulate: it is of a training step, and no optimizer is given"));
  EXPECT_THAT(refusal({{"--accumulate", "1"}}), HasSubstr("--accumulate: it is of a training step"))
      << "a default that is said is said";
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--nesterov", ""}}),
              HasSubstr("--nesterov: Nesterov's momentum needs a momentum"));
  EXPECT_EQ(refusal({{"--train", "sgd"}, {"--nesterov", ""}, {"--optim-args", "momentum=0.9"}}),
            "not refused");
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--accumulate", "0"}}), HasSubstr("--accumulate"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--optim-args", "momentum"}}),
              HasSubstr("--optim-args: \"momentum\" is not an option and its value"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--optim-args", "momentum=0.9,"}}),
              HasSubstr("--optim-args: \"\" is not an option and its value"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--group", "*.bias:lr"}}),
              HasSubstr("--group: \"lr\" is not an option and its value"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--foreach", ""}, {"--fused", ""}}),
              HasSubstr("--foreach, --fused: an optimizer runs in one form"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--recompute-reentrant", ""}}),
              HasSubstr("--recompute-reentrant: no module is run again"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--group", "*.bias"}}),
              HasSubstr("not a pattern and its options"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--clip-norm", "-1"}}), HasSubstr("-1 is less than 0"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--momentum", "inf"}}),
              HasSubstr("--momentum: an infinite one trains nothing"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--weight-decay", "inf"}}),
              HasSubstr("--weight-decay: an infinite one"));
  EXPECT_THAT(refusal({{"--train", "sgd"}, {"--clip-value", "inf"}}),
              HasSubstr("--clip-value: an infinite one"));
  EXPECT_EQ(refusal({{"--train", "sgd"}, {"--clip-norm", "inf"}}), "not refused")
      << "as training loops write it that only look at the norm";
  EXPECT_THAT(refusal({{"--train", "lbfgs"}}), HasSubstr("there is no \"lbfgs\""));
}

}  // namespace
}  // namespace steelyard::cli
