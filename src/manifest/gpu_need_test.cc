#include "manifest/gpu_need.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "manifest/yaml.h"

namespace berth::gpu_need_test {

ReadGpuNeed read(const std::string& annotations, const GpuResources& asked = {.whole = 1}) {
  const auto documents = parse_yaml("{" + annotations + "}");
  EXPECT_TRUE(documents && documents->size() == 1) << annotations;
  return read_gpu_need(documents->at(0), asked);
}

TEST(GpuNeed, IsMemoryOfEachGpu) {
  struct Case {
    const char* annotations;
    std::int64_t whole, memory_mib;
    const char* counted;
  };
  const Case cases[] = {
      {"", 8, 0, ""},
      {"berth.dev/gpu-memory: 60Gi", 1, 60 << 10, ""},
      {"berth.dev/gpu-memory: 60Gi", 8, 60 << 10, ""},
      {"berth.dev/gpu-memory: '1048577'", 1, 2, ""},
      {"berth.dev/gpu-memory: 1Ti", 1, 1 << 20, ""},
      {"berth.dev/gpu-memory: 60G", 1, 57'221, ""},
      {"berth.dev/model: 'parameters=70B,precision=bf16'", 1, 133'515, "130.4 GiB of weights on one GPU"},
      {"berth.dev/model: 'precision=int4,parameters=7B'", 1, 3338, "3.3 GiB of weights on one GPU"},
      {"berth.dev/model: 'parameters=70B,precision=bf16,context=8192'", 4, 41'353,
       "130.4 GiB of weights and at most 31.2 GiB of KV cache on 4 GPUs"},
      {"berth.dev/model: 'parameters=70B,precision=bf16,context=8192,layers=80,kv-heads=8,head-size=128'", 4, 34'019,
       "130.4 GiB of weights and 2.5 GiB of KV cache on 4 GPUs"},
      // Two pipeline stages of four GPUs, each pod with half of one.
      {"berth.dev/parallelism: 'tp=4,pp=2,dp=3', berth.dev/model: 'parameters=70B,precision=bf16'", 2, 16'690,
       "130.4 GiB of weights on 8 GPUs"},
  };
  for (const Case& each : cases) {
    const ReadGpuNeed got = read(each.annotations, {.whole = each.whole});
    EXPECT_EQ(got.need.memory_mib, each.memory_mib) << each.annotations;
    EXPECT_EQ(got.need.how_counted, each.counted) << each.annotations;
    EXPECT_TRUE(got.problems.empty()) << each.annotations << ": " << got.problems.front().to_string();
  }
}

TEST(GpuNeed, OfASliceIsItsPartAndItsMemory) {
  struct Case {
    const char* annotations;
    SliceNeed need;
    const char* counted;
  };
  const Case cases[] = {
      {"berth.dev/gpu-slice: 1/7", {0, 1, 7}, ""},
      {"berth.dev/gpu-slice: 2/4, berth.dev/gpu-memory: 10Gi", {10 << 10, 2, 4}, ""},
      {"berth.dev/gpu-slice: smallest, berth.dev/gpu-memory: 60Gi", {60 << 10, 0, 1}, ""},
      {"berth.dev/gpu-slice: smallest, berth.dev/model: 'parameters=7B,precision=int4'",
       {3338, 0, 1},
       "3.3 GiB of weights on one GPU"},
  };
  for (const Case& each : cases) {
    const ReadGpuNeed got = read(each.annotations, {});
    ASSERT_TRUE(got.problems.empty()) << each.annotations << ": " << got.problems.front().to_string();
    ASSERT_TRUE(got.need.slice) << each.annotations;
    EXPECT_EQ(*got.need.slice, each.need) << each.annotations;
    EXPECT_EQ(got.need.how_counted, each.counted) << each.annotations;
  }
}

TEST(GpuNeed, OfAModelIsItsWeightsAndItsCache) {
  struct Case {
    const char* model;
    std::int64_t weights, cache;
  };
  const Case cases[] = {
      {"parameters=1000,precision=fp32", 4000, 0},
      {"parameters=1000,precision=fp16", 2000, 0},
      {"parameters=1000,precision=int8", 1000, 0},
      {"parameters=1001,precision=fp4", 501, 0},
      {"parameters=1.5K,precision=fp8", 1500, 0},
      {"parameters=350M,precision=fp8", 350'000'000, 0},
      // The 800 KB a token that are published of OPT-13B.
      {"parameters=13B,precision=fp16,context=1,layers=40,kv-heads=40,head-size=128", 26'000'000'000, 819'200},
      {"parameters=13B,precision=fp16,context=2048,batch=2,layers=40,kv-heads=40,head-size=128", 26'000'000'000,
       std::int64_t{819'200} * 4096},
      {"parameters=13B,precision=int4,context=1,layers=40,kv-heads=40,head-size=128", 6'500'000'000, 819'200},
      {"parameters=13B,precision=fp32,context=1,layers=40,kv-heads=40,head-size=128", 52'000'000'000, 1'638'400},
      {"parameters=13B,precision=fp16,context=1,cache=fp8,layers=40,kv-heads=40,head-size=128", 26'000'000'000,
       409'600},
  };
  for (const Case& each : cases) {
    const auto model = parse_language_model(each.model);
    ASSERT_TRUE(model) << each.model << ": " << model.error();
    EXPECT_EQ(static_cast<std::int64_t>(model->weight_bytes()), each.weights) << each.model;
    EXPECT_EQ(static_cast<std::int64_t>(model->cache_bytes()), each.cache) << each.model;
  }
}

// Layers and widths as they were published.
TEST(GpuNeed, WhereNobodySaysTheLayersIsEnoughForEveryKnownModel) {
  struct Case {
    const char* name;
    const char* parameters;
    std::int64_t layers, width;
  };
  const Case cases[] = {
      {"GPT-2 XL", "1.5B", 48, 1600},      {"LLaMA-7B", "6.7B", 32, 4096}, {"OPT-13B", "12.8B", 40, 5120},
      {"LLaMA-65B", "65.2B", 80, 8192},    {"GPT-3", "175B", 96, 12'288},  {"Falcon-180B", "180B", 80, 14'848},
      {"Llama-405B", "405B", 126, 16'384},
  };
  for (const Case& each : cases) {
    const std::string model = std::string("precision=bf16,context=1,parameters=") + each.parameters;
    const auto bound = parse_language_model(model);
    ASSERT_TRUE(bound) << bound.error();
    const auto bytes = static_cast<std::int64_t>(bound->cache_bytes());
    EXPECT_GE(bytes, 4 * each.layers * each.width) << each.name;
    EXPECT_LE(bytes, 4 * 2 * each.layers * each.width) << each.name << ": twice as much is of no use";
  }
}

// What its containers ask.
struct Asked {
  std::int64_t whole = 0, shared = 0;
  bool slices = false, vgpu = false;

  GpuResources resources() const {
    GpuResources made{.whole = whole, .shared = shared, .slices = slices};
    if (vgpu) made.vgpus["nvidia.com/NVIDIA_A100X-10C"] = 1;
    return made;
  }
};

TEST(GpuNeed, SaysAllThatIsWrongWithItAndWhatToWrite) {
  struct Case {
    const char* annotations;
    Asked asked;
    std::vector<std::string> problems;
  };
  const std::string memory = "annotation berth.dev/gpu-memory: ", model = "annotation berth.dev/model: ";
  const std::string no_memory = " is no memory of a GPU; write from 1Mi to 1Ti, as in 60Gi";
  const std::string no_parameters = " is no number of parameters; write one such as 70B, 7.5B or 350M, up to 1000T";
  const std::string say_both =
      "say parameters, as in parameters=70B; say the precision of the weights, as in precision=bf16";
  const std::string known =
      "; write parameters, precision, context, batch, layers, kv-heads, head-size and cache, as in "
      "parameters=70B,precision=bf16,context=8192";
  const std::string slice = "annotation berth.dev/gpu-slice: ";
  const std::string no_part = " is no part of a GPU; write one such as 1/7, or smallest";
  const std::string no_gpu =
      "it is of each GPU that the pod asks, and it asks none; write limits of nvidia.com/gpu, too, or "
      "berth.dev/gpu-slice: smallest, for the smallest slice that has so much";
  const std::string own = ", which has an amount or a profile of its own; leave one of them out";
  const Asked one{.whole = 1};
  const Case cases[] = {
      {"berth.dev/gpu-memory: '60'", one, {memory + "'60'" + no_memory}},
      {"berth.dev/gpu-memory: 60Gi",
       {.vgpu = true},
       {memory + "it is of whole GPUs, and the pod asks a part of one" + own}},
      {"berth.dev/gpu-slice: 8/7", {}, {slice + "'8/7'" + no_part}},
      {"berth.dev/gpu-slice: '0.5'", {}, {slice + "'0.5'" + no_part}},
      {"berth.dev/gpu-slice: smallest",
       {},
       {slice + "what it has to suffice for is not said; write berth.dev/gpu-memory or berth.dev/model, too, or a "
                "part of a GPU, as in 1/7"}},
      {"berth.dev/gpu-slice: 1/7", one, {slice + "the pod asks whole GPUs, too; leave one of them out"}},
      {"berth.dev/gpu-slice: 1/7",
       {.slices = true},
       {slice + "the pod asks a slice by its profile, too; leave one of them out"}},
      {"berth.dev/gpu-slice: 1/7, gpu-fraction: '0.5'",
       {},
       {slice + "the pod asks a part of a GPU, too; leave one of them out"}},
      {"berth.dev/gpu-slice: 1/7, berth.dev/parallelism: tp=1",
       {},
       {slice + "parallel sizes are of whole GPUs, for slices have no link to each other; leave "
                "berth.dev/parallelism out"}},
      {"berth.dev/gpu-memory: 2Ti", one, {memory + "'2Ti'" + no_memory}},
      {"berth.dev/gpu-memory: 60Gi", {}, {memory + no_gpu}},
      {"berth.dev/gpu-memory: 10Gi",
       {.slices = true},
       {memory + "it is of whole GPUs, and the pod asks a slice" + own}},
      {"berth.dev/gpu-memory: 10Gi, gpu-fraction: '0.5'",
       {},
       {memory + "it is of whole GPUs, and the pod asks a part of one" + own}},
      {"berth.dev/gpu-memory: 10Gi, berth.dev/gpu-milli: '500'",
       one,
       {memory + "it is of whole GPUs, and the pod asks a part of one" + own}},
      {"berth.dev/gpu-memory: 10Gi, berth.dev/model: 'parameters=7B,precision=fp8'",
       one,
       {model + "what the model needs is counted, and berth.dev/gpu-memory says it, too; write one of them"}},
      {"berth.dev/model: ''", one, {model + say_both}},
      {"berth.dev/model: 'parameters=0,precision=q4'",
       one,
       {model + "parameters: '0'" + no_parameters +
        "; precision: 'q4' is no precision; write fp32, bf16, fp16, fp8, int8, fp4 or int4"}},
      {"berth.dev/model: 'parameters=7B,precision=fp8,parameters=8B'",
       one,
       {model + "parameters stands there twice; say it once"}},
      {"berth.dev/model: 'parameters=7B,precision=fp8,heads=8'", one, {model + "knows no 'heads'" + known}},
      {"berth.dev/model: 'parameters=7B,precision=fp8,layers=32,kv-heads=8'",
       one,
       {model + "layers, kv-heads and head-size go together; say all of them, or none; layers is of the KV cache; say "
                "context, too"}},
      {"berth.dev/model: 'parameters=7B,precision=fp8,cache=fp8,batch=2'",
       one,
       {model + "batch is of the KV cache; say context, too; cache is of the KV cache; say context, too"}},
      {"berth.dev/model: 'parameters=7B,precision=fp8,context=-1'",
       {},
       {model + "context: '-1' is out of range; write a whole number from 1 to 100000000", model + no_gpu}},
      {"berth.dev/model: 'parameters=2T,precision=bf16'",
       one,
       {model + "a GPU would need 3725.3 GiB (3725.3 GiB of weights on one GPU), more than any has; ask more of them"}},
  };
  for (const Case& each : cases) {
    const ReadGpuNeed got = read(each.annotations, each.asked.resources());
    std::vector<std::string> problems;
    for (const GpuPartProblem& problem : got.problems) problems.push_back(problem.to_string());
    EXPECT_EQ(problems, each.problems) << each.annotations;
    EXPECT_EQ(got.need.memory_mib, 0) << each.annotations;
  }
}

TEST(GpuNeed, ParametersAreWhatPeopleWrite) {
  for (const char* const text : {"", "B", "-7B", "7 B", "7b", "7BB", "1001T", "1e9", "7Gi"}) {
    EXPECT_FALSE(parse_language_model(std::string("precision=bf16,parameters=") + text)) << text;
  }
  EXPECT_EQ(parse_language_model("precision=bf16,parameters=1000T")->parameters, 1'000'000'000'000'000);
  EXPECT_EQ(parse_language_model("precision=bf16,parameters=7.615B")->parameters, 7'615'000'000);
  EXPECT_EQ(parse_language_model("precision=bf16,parameters=1")->parameters, 1);
}

}  // namespace berth::gpu_need_test
