// What each of a pod's whole GPUs must have at least, as its user says it who knows what he needs and not which models there are:
// so much memory (berth.dev/gpu-memory: 60Gi), or what a language model takes of it
// (berth.dev/model: parameters=70B,precision=bf16,context=8192).
//
// Two things are counted, and divided evenly over all GPUs that share the model: those of the pod, or tp x pp where it says
// berth.dev/parallelism. All are integers, rounded up.
//   weights   parameters x bits of one / 8: fp32 has 32 bits, fp16 and bf16 have 16, fp8 and int8 8, fp4 and int4 4.
//   KV cache  2 (keys and values) x layers x KV heads x head size x bytes of one x tokens of a context x sequences at a time
//             (`batch`, 1 if it is not said). One has 2 bytes, or 4 with fp32, or what `cache` says. (Kwon et al., "Efficient
//             Memory Management for Large Language Model Serving with PagedAttention", SOSP 2023: 2 x 5120 x 40 x 2 bytes a token of
//             OPT-13B, whose layers are 40 and whose heads are together as wide as the model, 5120.)
// Who does not say layers, kv-heads and head-size has the most that they can be in a decoder whose keys are as wide as itself:
// parameters = 12 x layers x width^2 (Kaplan et al., "Scaling Laws for Neural Language Models", 2020, 2.1), and no model in use is
// deeper than a 32nd of its width (GPT-2 XL is 33 times as wide as deep, larger ones 80 to 190 times), so that (layers x width)^3 is at
// most parameters^2 / (144 x 32). Models whose KV heads are shared need much less.
// Or what one slice of a GPU must have (berth.dev/gpu-slice): so many of a device's compute slices ("1/7"), so much memory by the words
// above ("smallest"), or both; which profile that is goes by the model.
// Not counted: activations, workspaces, what the driver keeps for itself, gradients and the state of an optimiser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wide.h"
#include "manifest/gpu_part.h"
#include "manifest/value.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {

inline constexpr std::string_view kNeededMemoryAnnotation = "berth.dev/gpu-memory";
inline constexpr std::string_view kModelAnnotation = "berth.dev/model";
inline constexpr std::string_view kSliceNeedAnnotation = "berth.dev/gpu-slice";
// What "smallest" says: whichever has the memory.
inline constexpr std::string_view kSmallestSlice = "smallest";

// INVARIANT: all amounts > 0; `layers` is 0 if the three that go with it are not said, and `context` if no cache is asked for.
struct LanguageModel {
  std::int64_t parameters = 0;
  std::int64_t bits = 16;  // of a parameter
  std::int64_t context = 0, batch = 1;
  std::int64_t layers = 0, kv_heads = 0, head_size = 0;
  std::int64_t cache_bits = 16;

  Wide weight_bytes() const;
  Wide cache_bytes() const;
};
// "parameters=70B,precision=bf16,context=8192,layers=80,kv-heads=8,head-size=128,batch=4,cache=fp8": in any order, each once.
Parsed<LanguageModel> parse_language_model(std::string_view text);

// "1/7", "smallest": a need without its memory.
Parsed<SliceNeed> parse_slice_need(std::string_view text);

struct GpuNeed {
  std::int64_t memory_mib = 0;          // of each GPU, or of the slice; 0: nothing is asked
  std::string how_counted = {};         // in words, of a model; empty: as it was said
  std::optional<SliceNeed> slice = {};  // in place of GPUs one slice, the smallest that has all this
};
struct ReadGpuNeed {
  GpuNeed need = {};
  std::vector<GpuPartProblem> problems = {};
};
// `asked`: what the pod's containers ask beside it.
ReadGpuNeed read_gpu_need(const Value& annotations, const GpuResources& asked);

}  // namespace berth
