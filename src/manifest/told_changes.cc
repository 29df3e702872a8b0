#include "manifest/told_changes.h"

#include <cstddef>

#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::string_view kBetween = ": ";
constexpr std::string_view kNotSearched = "?";

}  // namespace

std::string to_text(const ToldChanges& changes) {
  std::string text;
  const auto add = [&](const std::string& kind, std::string_view what) {
    text += (text.empty() ? "" : "\n") + kind + std::string(kBetween) + std::string(what);
  };
  for (const ToldChange& each : changes.changes) add(each.kind, each.text);
  for (const std::string& kind : changes.not_searched) add(kind, kNotSearched);
  return text;
}

ToldChanges read_told_changes(std::string_view text) {
  ToldChanges read;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + (line.size() < text.size() ? 1 : 0));
    const std::size_t at = line.find(kBetween);
    if (at == std::string_view::npos) continue;
    const std::string kind(line.substr(0, at));
    const std::string_view what = line.substr(at + kBetween.size());
    if (what == kNotSearched) {
      read.not_searched.push_back(kind);
    } else {
      read.changes.push_back({kind, std::string(what)});
    }
  }
  return read;
}

std::optional<ChangesOfPod> changes_told_of(const Value& pod) {
  for (const Value& condition : pod["status"]["conditions"].items()) {
    if (condition["type"].text() != kChangesCondition) continue;
    const std::string_view reason = condition["reason"].text();
    const auto as_of = parse_timestamp(condition["lastProbeTime"].text());
    if (reason == kHasPlaceReason || reason == kKeptAsideReason || !as_of) return std::nullopt;
    return ChangesOfPod{read_told_changes(condition["message"].text()), *as_of};
  }
  return std::nullopt;
}

}  // namespace berth
