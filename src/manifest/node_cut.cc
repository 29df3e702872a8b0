#include "manifest/node_cut.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"
#include "model/mig_layout.h"
#include "model/node.h"

namespace berth {
namespace {

constexpr std::size_t kNameMax = 63;  // of a label's value
constexpr std::size_t kWhyMax = 1'000;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_label_value(std::string_view name) {
  constexpr std::string_view kEnds = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return !name.empty() && name.size() <= kNameMax && kEnds.contains(name.front()) && kEnds.contains(name.back()) &&
         name.find_first_not_of(std::string(kEnds) + "-_.") == std::string_view::npos;
}

// "all-1g.10gb", "serving=3g.40gb:1g.10gb"
Parsed<NodeLayout> read_layout(const GpuHardware& hardware, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (!is_label_value(name)) {
    return std::unexpected(quote(name) +
                           " is no name of a layout, as it has to be the value of a label; write such as all-1g.10gb, "
                           "or serving=3g.40gb:1g.10gb");
  }
  if (equals == std::string_view::npos && !name.starts_with("all-")) {
    return std::unexpected("nobody knows what " + quote(name) + " is; write into what it cuts each GPU, as in " +
                           std::string(name) + "=3g.40gb:1g.10gb");
  }
  const auto slices = parse_layout(hardware, equals == std::string_view::npos ? name : text.substr(equals + 1));
  if (!slices) return std::unexpected(quote(name) + ": " + slices.error());
  return NodeLayout{std::string(name), *slices};
}

std::vector<NodeLayout> usual_layouts(const GpuHardware& hardware) {
  std::vector<NodeLayout> layouts;
  for (std::size_t shape = 0; shape < hardware.mig_profiles.size(); ++shape) {
    if (!hardware.mig->shapes()[shape].is_plain() || layouts.size() == kNodeLayoutsMax) continue;
    const std::string name = "all-" + std::string(hardware.mig_profiles[shape].name);
    if (const auto slices = parse_layout(hardware, name)) layouts.push_back({name, *slices});
  }
  return layouts;
}

}  // namespace

Parsed<std::vector<NodeLayout>> read_layouts(const GpuHardware& hardware, std::string_view text) {
  if (trimmed(text).empty()) return usual_layouts(hardware);
  std::vector<NodeLayout> layouts;
  for (const auto part : text | std::views::split(',')) {
    auto layout = read_layout(hardware, trimmed(std::string_view(part.begin(), part.end())));
    if (!layout) return std::unexpected(layout.error());
    if (std::ranges::find(layouts, layout->name, &NodeLayout::name) != layouts.end()) {
      return std::unexpected(quote(layout->name) + " stands there twice; names are unique");
    }
    // Of two that are alike the first is asked for.
    if (std::ranges::find(layouts, layout->slices, &NodeLayout::slices) == layouts.end())
      layouts.push_back(*std::move(layout));
  }
  if (layouts.size() > kNodeLayoutsMax)
    return std::unexpected("more than 16 layouts; leave those out that nobody needs");
  return layouts;
}

NodeCut read_node_cut(std::string_view text) {
  if (text.empty()) return {};
  const auto value = parse_json(text);
  if (!value || !value->is_map() || (*value)["layout"].text().empty()) return {};
  NodeCut cut{.layout = std::string((*value)["layout"].text()),
              .failures = std::max<std::int64_t>(0, (*value)["failures"].integer()),
              .why = std::string((*value)["why"].text().substr(0, kWhyMax))};
  for (const auto& [key, stage] : {std::pair("asked", CutStage::kAsked), std::pair("done", CutStage::kDone),
                                   std::pair("failed", CutStage::kFailed)}) {
    const auto at = parse_timestamp((*value)[key].text());
    if (!at) continue;
    cut.stage = stage;
    cut.at = *at;
  }
  return cut.stage == CutStage::kNone ? NodeCut() : cut;
}

std::string to_text(const NodeCut& cut) {
  if (cut.stage == CutStage::kNone) return "";
  const char* const key = cut.stage == CutStage::kAsked ? "asked" : cut.stage == CutStage::kDone ? "done" : "failed";
  Value made = Value::map_of({{"layout", cut.layout}, {key, format_micro_timestamp(cut.at)}});
  if (cut.failures > 0) made.set("failures", cut.failures);
  if (!cut.why.empty()) made.set("why", cut.why.substr(0, kWhyMax));
  return to_json(made);
}

}  // namespace berth
