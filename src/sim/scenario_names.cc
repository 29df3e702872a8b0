#include "sim/scenario_names.h"

#include <utility>

#include "base/assert.h"
#include "base/wording.h"

namespace berth {

bool NameTable::is_new(const ScenarioLine& line, const ScenarioWord& word, const std::string& name) const {
  if (!contains(name)) return true;
  line.complain(word, "there is a " + kind_ + " " + quote(name) + " already; choose another name");
  return false;
}

void NameTable::add(const std::string& name) {
  const bool added = index_.emplace(name, names_.size()).second;
  BERTH_ASSERT(added);
  names_.push_back(name);
}

std::optional<std::size_t> NameTable::find(const std::string& name) const {
  const auto known = index_.find(name);
  return known == index_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<std::size_t> NameTable::look_up(const ScenarioLine& line, const ScenarioWord& word,
                                              const std::string& name) const {
  if (const auto known = find(name)) return known;
  if (const auto meant = other_names_ ? other_names_(name) : std::nullopt) return meant;
  std::string text = "there is no " + kind_ + " " + quote(name);
  std::vector<std::string_view> names(names_.begin(), names_.end());
  std::erase(names, std::string_view());
  text += names.empty() ? "; " + declare_ : line.instead(name, names);
  line.complain(word, std::move(text));
  return std::nullopt;
}

}  // namespace berth
