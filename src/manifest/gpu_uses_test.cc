#include "manifest/gpu_uses.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::gpu_uses_test {

GpuRecords read(const std::string& used, const std::string& scrubbed) {
  Value node;
  if (!used.empty()) node.at("metadata").at("annotations").set(kGpusUsedAnnotation, used);
  if (!scrubbed.empty()) node.at("metadata").at("annotations").set(kGpusScrubbedAnnotation, scrubbed);
  return read_gpu_records(node);
}

TEST(GpuUses, AreDirtyUntilTheLastScrubIsAnswered) {
  const struct {
    const char* used;
    const char* scrubbed;
    GpuState is;
    const char* why;
  } cases[] = {
      {"", "", GpuState::kClean, ""},
      {"", R"({"0":{"scrub":1,"failed":"x"}})", GpuState::kClean, ""},
      {R"({"0":{"by":["a"]}})", "", GpuState::kDirty, ""},
      {R"({"0":{"by":["a"]}})", R"({"0":{"scrub":1}})", GpuState::kDirty, ""},
      {R"({"0":{"by":["a"],"scrub":2}})", R"({"0":{"scrub":1}})", GpuState::kDirty, ""},
      {R"({"0":{"by":["a"],"scrub":2}})", R"({"1":{"scrub":2}})", GpuState::kDirty, ""},
      {R"({"0":{"by":["a"],"scrub":2}})", R"({"0":{"scrub":2}})", GpuState::kClean, ""},
      {R"({"0":{"by":["a"],"scrub":2}})", R"({"0":{"scrub":2,"failed":"ecc"}})", GpuState::kQuarantined, "ecc"},
      {R"({"0":{"by":["a"],"scrub":3}})", R"({"0":{"scrub":2,"failed":"ecc"}})", GpuState::kDirty, ""},
      {R"({"0":{"by":["a"],"scrub":2,"withdrawn":true}})", R"({"0":{"scrub":2}})", GpuState::kDirty, ""},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(std::string(each.used) + " " + each.scrubbed);
    const GpuRecords records = read(each.used, each.scrubbed);
    EXPECT_EQ(records.problem, "");
    EXPECT_EQ(records.state_of(0), each.is);
    EXPECT_EQ(records.why(0), each.why);
    EXPECT_EQ(records.uses.empty() ? "" : to_text(records.uses), each.used);
    EXPECT_EQ(records.scrubs.empty() ? "" : to_text(records.scrubs), each.scrubbed);
  }
}

TEST(GpuUses, SayWhatOfThemCannotBeRead) {
  for (const char* const used :
       {"{", "[]", "7", R"({"x":{"by":["a"]}})", R"({"64":{"by":["a"]}})", R"({"0":{}})", R"({"0":{"by":[]}})",
        R"({"0":{"by":[""]}})", R"({"0":{"by":["a"],"scrub":0}})", R"({"0":{"by":["a"],"scrub":"1"}})",
        R"({"0":["a"]})", R"({"0":{"by":["a"],"withdrawn":true}})", R"({"-1":{"by":["a"]}})"}) {
    SCOPED_TRACE(used);
    EXPECT_EQ(
        read(used, "").problem,
        "annotation berth.dev/gpus-used is not as a scheduler writes it; take it away when nothing is left on the "
        "node's GPUs");
  }
  for (const char* const scrubbed : {"{", R"({"0":{}})", R"({"0":{"scrub":0}})", R"({"0":{"scrub":1,"failed":2}})"}) {
    SCOPED_TRACE(scrubbed);
    EXPECT_EQ(
        read("[]", scrubbed).problem,
        "annotation berth.dev/gpus-used is not as a scheduler writes it; take it away when nothing is left on the "
        "node's GPUs; annotation berth.dev/gpus-scrubbed is not as a node's part writes it; take it away, and what "
        "it said is scrubbed anew");
  }
}

}  // namespace berth::gpu_uses_test
