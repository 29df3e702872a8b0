#include "manifest/parallelism.h"

#include <algorithm>
#include <array>
#include <expected>
#include <string>

#include "base/wording.h"

namespace berth {

Parsed<Parallelism> parse_parallelism(std::string_view text, char is) {
  constexpr std::array<std::string_view, 3> kNames = {"tp", "pp", "dp"};
  const auto mistake = [&] {
    const std::string as = std::string("tp") + is + "8,pp" + is + "4,dp" + is + "16";
    return std::unexpected(quote(text) + " are no parallel sizes; write some such as " + as +
                           ", for how many GPUs share a tensor, how many stages there are, and how many replicas");
  };
  std::array<std::int64_t, 3> sizes = {0, 0, 0};
  for (std::size_t from = 0, end = 0; end < text.size() || from == 0; from = end + 1) {
    end = std::min(text.find(',', from), text.size());
    const std::string_view part = text.substr(from, end - from);
    const auto* const name =
        std::ranges::find_if(kNames, [&](std::string_view each) { return part.starts_with(each); });
    if (name == kNames.end() || part.size() < 3 || part[2] != is) return mistake();
    const auto size = parse_integer(part.substr(3), 1, kParallelMax);
    std::int64_t& known = sizes[static_cast<std::size_t>(name - kNames.begin())];
    if (!size || known != 0) return mistake();
    known = *size;
  }
  for (std::int64_t& size : sizes) size = std::max<std::int64_t>(1, size);
  return Parallelism{sizes[0], sizes[1], sizes[2]};
}

std::string problem_of(const Parallelism& parallel, std::int64_t pods, std::int64_t gpus_of_pod) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  if (parallel.gpus() != pods * gpus_of_pod) {
    return text(parallel.tensor) + " x " + text(parallel.pipeline) + " x " + text(parallel.data) + " are " +
           text(parallel.gpus()) + " GPUs, and its pods have " + text(pods * gpus_of_pod) + " (" + text(pods) +
           " with " + text(gpus_of_pod) + " each); write sizes whose product is that";
  }
  if (parallel.tensor % gpus_of_pod != 0 && gpus_of_pod % parallel.tensor != 0) {
    return "tensor groups of " + text(parallel.tensor) + " GPUs are not whole pods of " + text(gpus_of_pod) +
           ", nor such a pod whole groups; write a tp that divides the GPUs of a pod, or a multiple of them";
  }
  return "";
}

}  // namespace berth
