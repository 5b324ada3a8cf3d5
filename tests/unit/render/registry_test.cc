// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "render/renderer.h"
#include "steelyard/error.h"
#include "steelyard/report.h"

namespace steelyard::render {
namespace {

TEST(RegistryTest, EachRowIsCompleteAndFoundByItsNameAndExtension) {
  std::set<std::string_view> seen;
  for (const Renderer& renderer : Renderers()) {
    EXPECT_FALSE(renderer.summary.empty());
    EXPECT_TRUE(seen.insert(renderer.name).second) << renderer.name;
    EXPECT_TRUE(seen.insert(renderer.extension).second) << renderer.extension;
    EXPECT_EQ(FindRenderer(renderer.name), &renderer);
    EXPECT_EQ(FindRendererForFile(std::string("dir.d/report") += renderer.extension), &renderer);
  }
}

TEST(RegistryTest, EachWritesAnEmptyDocument) {
  for (const Renderer& renderer : Renderers()) {
    std::string out = "before ";
    renderer.write(report::Document{}, {}, &out);
    EXPECT_TRUE(out.starts_with("before ")) << "a renderer appends";
  }
}

TEST(RegistryTest, TextComesFirst) { EXPECT_EQ(Renderers().front().name, "text"); }

TEST(RegistryTest, TheLongestEndOfANameDecides) {
  EXPECT_EQ(FindRendererForFile("run.trace.json")->name, "chrome");
  EXPECT_EQ(FindRendererForFile("run.json")->name, "json");
}

TEST(RegistryTest, KnowsNoOthers) {
  EXPECT_EQ(FindRenderer("xml"), nullptr);
  EXPECT_EQ(FindRendererForFile("json"), nullptr);
  EXPECT_EQ(FindRendererForFile("report"), nullptr);
}

TEST(RegistryTest, RenderWritesInTheFormatAskedFor) {
  report::Document document;
  document.data.SetBool("good", true);
  EXPECT_EQ(report::Render(document, "json").value(), "{\"good\": true}\n");
}

TEST(RegistryTest, RenderNamesTheFormatsThereAre) {
  const Result<std::string> text = report::Render(report::Document{}, "xml");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kUsage);
  EXPECT_EQ(Describe(text.error()),
            "there is no report format \"xml\". There are: text, json, csv, chrome.");
}

}  // namespace
}  // namespace steelyard::render
