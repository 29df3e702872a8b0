#include "manifest/gpu_need.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/parallelism.h"
#include "model/gpu.h"

namespace berth {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr std::int64_t kParametersMax = 1'000'000'000'000'000;
constexpr std::int64_t kTokensMax = 100'000'000;
constexpr std::int64_t kSizeMax = 1'000'000;  // sequences, layers, heads, the size of one
// Of the greatest depth: width / layers.
constexpr std::int64_t kWidthsPerLayer = 32;

struct Precision {
  std::string_view name;
  std::int64_t bits;
};
constexpr Precision kPrecisions[] = {{"fp32", 32}, {"bf16", 16}, {"fp16", 16}, {"fp8", 8},
                                     {"int8", 8},  {"fp4", 4},   {"int4", 4}};

Wide rounded_up(Wide amount, Wide step) { return (amount + step - 1) / step; }

// The least x with x^3 >= cube. PRE: 0 <= cube <= 2^100.
Wide cube_root_up(Wide cube) {
  Wide low = 0, high = Wide{1} << 34;
  while (low < high) {
    const Wide middle = (low + high) / 2;
    (middle * middle * middle >= cube ? high : low) = middle + (middle * middle * middle >= cube ? 0 : 1);
  }
  return low;
}

// "70B" -> 70,000,000,000.
Parsed<std::int64_t> parse_parameters(std::string_view text) {
  constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'K', 1'000}, {'M', 1'000'000}, {'B', 1'000'000'000}, {'T', 1'000'000'000'000}};
  const std::string problem =
      quote(text) + " is no number of parameters; write one such as 70B, 7.5B or 350M, up to 1000T";
  std::int64_t unit = 1;
  for (const auto& [letter, value] : kUnits) {
    if (text.ends_with(letter)) unit = value;
  }
  if (unit > 1) text.remove_suffix(1);
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return std::unexpected(problem);
  const auto milli = parse_milli(text);
  if (!milli || *milli == 0 || Wide{*milli} * unit / 1000 > kParametersMax || Wide{*milli} * unit < 1000) {
    return std::unexpected(problem);
  }
  return static_cast<std::int64_t>(Wide{*milli} * unit / 1000);
}

Parsed<std::int64_t> parse_precision(std::string_view text) {
  const auto* const known = std::ranges::find(kPrecisions, text, &Precision::name);
  if (known != std::end(kPrecisions)) return known->bits;
  return std::unexpected(quote(text) + " is no precision; write fp32, bf16, fp16, fp8, int8, fp4 or int4");
}

class ModelReader {
 public:
  Parsed<LanguageModel> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      take(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    if (!said("parameters")) complain("say parameters, as in parameters=70B");
    if (!said("precision")) complain("say the precision of the weights, as in precision=bf16");
    const auto shape = std::array{said("layers"), said("kv-heads"), said("head-size")};
    if (std::ranges::count(shape, true) % 3 != 0) {
      complain("layers, kv-heads and head-size go together; say all of them, or none");
    }
    for (const std::string_view each : {"layers", "batch", "cache"}) {
      if (said(each) && !said("context")) complain(std::string(each) + " is of the KV cache; say context, too");
    }
    if (!said("cache")) model_.cache_bits = std::max<std::int64_t>(model_.bits, 16);
    if (!problems_.empty()) return std::unexpected(problems_);
    return model_;
  }

 private:
  void complain(const std::string& text) { problems_ += (problems_.empty() ? "" : "; ") + text; }
  bool said(std::string_view key) const { return std::ranges::find(said_, key) != said_.end(); }

  template <class T>
  void take_value(const Parsed<T>& parsed, std::string_view key, T& into) {
    if (parsed) into = *parsed;
    if (!parsed) complain(std::string(key) + ": " + parsed.error());
  }

  void take(std::string_view pair) {
    const std::size_t is = pair.find('=');
    const std::string_view key = pair.substr(0, is), value = is == std::string_view::npos ? "" : pair.substr(is + 1);
    const std::pair<std::string_view, std::int64_t*> sizes[] = {{"batch", &model_.batch},
                                                                {"layers", &model_.layers},
                                                                {"kv-heads", &model_.kv_heads},
                                                                {"head-size", &model_.head_size}};
    const auto* const size = std::ranges::find(sizes, key, &std::pair<std::string_view, std::int64_t*>::first);
    if (said(key)) return complain(std::string(key) + " stands there twice; say it once");
    if (key == "parameters") {
      take_value(parse_parameters(value), key, model_.parameters);
    } else if (key == "precision") {
      take_value(parse_precision(value), key, model_.bits);
    } else if (key == "cache") {
      take_value(parse_precision(value), key, model_.cache_bits);
    } else if (key == "context") {
      take_value(parse_integer(value, 1, kTokensMax), key, model_.context);
    } else if (size != std::end(sizes)) {
      take_value(parse_integer(value, 1, kSizeMax), key, *size->second);
    } else {
      return complain("knows no " + quote(key) +
                      "; write parameters, precision, context, batch, layers, kv-heads, head-size and cache, as in "
                      "parameters=70B,precision=bf16,context=8192");
    }
    said_.push_back(key);
  }

  LanguageModel model_;
  std::vector<std::string_view> said_;
  std::string problems_;
};

// "130.4 GiB", rounded up.
std::string in_gib(Wide bytes) {
  const auto tenths = static_cast<std::int64_t>(rounded_up(bytes * 10, Wide{1} << 30));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

class GpuNeedReader {
 public:
  GpuNeedReader(const Value& annotations, const GpuResources& asked) : annotations_(annotations), asked_(asked) {}

  ReadGpuNeed read() {
    const bool memory = annotations_.find(kNeededMemoryAnnotation) != nullptr;
    const bool model = annotations_.find(kModelAnnotation) != nullptr;
    const bool slice = annotations_.find(kSliceNeedAnnotation) != nullptr;
    if (!memory && !model && !slice) return {};
    if (memory) read_memory();
    if (model) read_model();
    if (memory && model) {
      complain(kModelAnnotation, "what the model needs is counted, and " + std::string(kNeededMemoryAnnotation) +
                                     " says it, too; write one of them");
    }
    if (slice) {
      read_slice(memory || model);
    } else {
      check_gpus(memory ? kNeededMemoryAnnotation : kModelAnnotation);
    }
    if (!read_.problems.empty()) read_.need = {};
    return std::move(read_);
  }

 private:
  void complain(std::string_view annotation, std::string why) {
    read_.problems.push_back({annotation, std::move(why)});
  }

  bool asks_a_part() const {
    return annotations_.find(kGpuMilliAnnotation) != nullptr || annotations_.find(kGpuFractionAnnotation) != nullptr ||
           annotations_.find(kGpuMemoryAnnotation) != nullptr || asked_.shared > 0 || !asked_.vgpus.empty();
  }

  // One slice stands in the place of all else that a pod asks of GPUs.
  void read_slice(bool says_memory) {
    const auto need = parse_slice_need(annotations_[kSliceNeedAnnotation].text());
    if (!need) return complain(kSliceNeedAnnotation, need.error());
    if (need->part == 0 && !says_memory) {
      complain(kSliceNeedAnnotation, "what it has to suffice for is not said; write " +
                                         std::string(kNeededMemoryAnnotation) + " or " + std::string(kModelAnnotation) +
                                         ", too, or a part of a GPU, as in 1/7");
    }
    if (asks_a_part() || asked_.slices || asked_.whole > 0) {
      complain(kSliceNeedAnnotation, std::string("the pod asks ") +
                                         (asked_.slices      ? "a slice by its profile"
                                          : asked_.whole > 0 ? "whole GPUs"
                                                             : "a part of a GPU") +
                                         ", too; leave one of them out");
    }
    if (annotations_.find(kParallelismAnnotation) != nullptr) {
      complain(kSliceNeedAnnotation, "parallel sizes are of whole GPUs, for slices have no link to each other; leave " +
                                         std::string(kParallelismAnnotation) + " out");
    }
    read_.need.slice = *need;
    read_.need.slice->memory_mib = read_.need.memory_mib;
  }

  // It is of devices that the pod has alone: a part is a part, and a slice has a name.
  void check_gpus(std::string_view annotation) {
    const bool part = asks_a_part();
    if (part || asked_.slices) {
      complain(annotation, std::string("it is of whole GPUs, and the pod asks ") +
                               (part ? "a part of one" : "a slice") +
                               ", which has an amount or a profile of its own; leave one of them out");
    } else if (asked_.whole == 0) {
      complain(annotation,
               "it is of each GPU that the pod asks, and it asks none; write limits of nvidia.com/gpu, too, or " +
                   std::string(kSliceNeedAnnotation) + ": smallest, for the smallest slice that has so much");
    }
  }

  void read_memory() {
    const std::string_view text = annotations_[kNeededMemoryAnnotation].text();
    const auto bytes = parse_bytes(text);
    if (!bytes) return complain(kNeededMemoryAnnotation, bytes.error());
    if (*bytes < kMib || *bytes > kGpuMemoryMibMax * kMib) {
      return complain(kNeededMemoryAnnotation,
                      quote(text) + " is no memory of a GPU; write from 1Mi to 1Ti, as in 60Gi");
    }
    read_.need.memory_mib = (*bytes + kMib - 1) / kMib;
  }

  // Those that share the weights.
  std::int64_t gpus() const {
    const Value* const parallel = annotations_.find(kParallelismAnnotation);
    const auto sizes = parallel == nullptr ? Parsed<Parallelism>(std::unexpected(std::string()))
                                           : parse_parallelism(parallel->text(), '=');
    const std::int64_t shared = sizes ? sizes->tensor * sizes->pipeline : asked_.whole;
    return std::max<std::int64_t>(shared, 1);
  }

  void read_model() {
    const auto model = parse_language_model(annotations_[kModelAnnotation].text());
    if (!model) return complain(kModelAnnotation, model.error());
    const Wide weights = model->weight_bytes(), cache = model->cache_bytes();
    const std::int64_t shared_by = gpus();
    const Wide each_mib = rounded_up(rounded_up(weights + cache, shared_by), kMib);
    std::string counted = in_gib(weights) + " of weights";
    if (cache > 0)
      counted += std::string(model->layers > 0 ? " and " : " and at most ") + in_gib(cache) + " of KV cache";
    counted += shared_by == 1 ? " on one GPU" : " on " + std::to_string(shared_by) + " GPUs";
    if (each_mib > kGpuMemoryMibMax) {
      return complain(kModelAnnotation, "a GPU would need " + in_gib(each_mib * kMib) + " (" + counted +
                                            "), more than any has; ask more of them");
    }
    if (read_.need.memory_mib == 0) read_.need = {static_cast<std::int64_t>(each_mib), std::move(counted)};
  }

  const Value& annotations_;
  GpuResources asked_;
  ReadGpuNeed read_;
};

}  // namespace

Wide LanguageModel::weight_bytes() const { return rounded_up(Wide{parameters} * bits, 8); }

Wide LanguageModel::cache_bytes() const {
  if (context == 0) return 0;
  const Wide square = Wide{parameters} * parameters;
  const Wide wide_layers =
      layers > 0 ? Wide{layers} * kv_heads * head_size : cube_root_up(rounded_up(square, 144 * kWidthsPerLayer));
  return rounded_up(2 * wide_layers * cache_bits, 8) * context * batch;
}

Parsed<LanguageModel> parse_language_model(std::string_view text) { return ModelReader().read(text); }

Parsed<SliceNeed> parse_slice_need(std::string_view text) {
  if (text == kSmallestSlice) return SliceNeed{};
  constexpr std::int64_t kMost = 100;
  const std::size_t slash = text.find('/');
  const auto part = parse_integer(text.substr(0, slash), 1, kMost);
  const auto whole = parse_integer(slash == std::string_view::npos ? "" : text.substr(slash + 1), 1, kMost);
  if (!part || !whole || *part > *whole) {
    return std::unexpected(quote(text) + " is no part of a GPU; write one such as 1/7, or smallest");
  }
  return SliceNeed{.part = static_cast<std::int32_t>(*part), .whole = static_cast<std::int32_t>(*whole)};
}

ReadGpuNeed read_gpu_need(const Value& annotations, const GpuResources& asked) {
  return GpuNeedReader(annotations, asked).read();
}

}  // namespace berth
