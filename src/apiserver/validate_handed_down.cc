// What pods will carry of the metadata of what makes them: asked of each template with it, and said of where it was written.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/validation.h"
#include "base/wording.h"
#include "manifest/handed_down.h"

namespace berth {

namespace {

struct Word {
  std::string_view list, key;  // "annotations", "berth.dev/run-for"
};

// That a field at `path` is: "metadata.annotations[berth.dev/run-for]".
std::optional<Word> word_at(std::string_view field, std::string_view path) {
  if (!field.starts_with(path)) return {};
  for (const std::string_view list : {"annotations", "labels"}) {
    const std::string_view rest = field.substr(path.size());
    const std::size_t begin = list.size() + 2;  // ".annotations["
    if (!rest.ends_with(']') || rest.size() <= begin || !rest.substr(1).starts_with(list) || rest[begin - 1] != '[') {
      continue;
    }
    return Word{.list = list, .key = rest.substr(begin, rest.size() - begin - 1)};
  }
  return {};
}

// "task 'a'", "tasks 'a', 'b' and 3 more".
std::string parts_in_words(const std::string& part, const std::vector<std::string>& names) {
  constexpr std::size_t kShownMax = 5;
  std::string text = part + (names.size() == 1 ? " " : "s ");
  for (std::size_t i = 0; i < std::min(names.size(), kShownMax); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kShownMax ? text + " and " + std::to_string(names.size() - kShownMax) + " more" : text;
}

}  // namespace

void CausesOfParts::begin_part(const Value& part, const std::string& path, const Value& maker, Value made) {
  names_.push_back(part["name"].is_empty() ? path : quote(part["name"].text()));
  if (!made.is_map()) made = Value::map();
  Value own = made;
  hand_down(maker, made);
  // What it says itself goes before.
  for (const char* const list : {"annotations", "labels"}) {
    for (const Value::Member& each : own[list].members()) made.at(list).erase(each.key);
  }
  made_.push_back(std::move(made));
}

bool CausesOfParts::goes_to(std::size_t part, const ErrorCause& cause) const {
  const auto word = word_at(cause.field, "metadata");
  return word && !made_[part][word->list][word->key].is_null();
}

void CausesOfParts::add(ErrorCause cause) {
  const std::size_t part = names_.size() - 1;
  const auto same = std::ranges::find_if(found_, [&](const Found& each) {
    return each.cause.field == cause.field && each.cause.message == cause.message;
  });
  if (same == found_.end()) {
    found_.push_back({std::move(cause), {part}});
  } else if (same->parts.back() != part) {
    same->parts.push_back(part);
  }
}

void CausesOfParts::tell(Causes& causes) && {
  for (Found& each : found_) {
    std::vector<std::string> with, without;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool is_so = std::ranges::find(each.parts, i) != each.parts.end();
      if (is_so || goes_to(i, each.cause)) (is_so ? with : without).push_back(names_[i]);
    }
    if (!without.empty()) {
      each.cause.message += "; this is of " + parts_in_words(part_, with) +
                            ": leave it out here, and write it in the " +
                            (without.size() == 1 ? "template of " : "templates of ") + parts_in_words(part_, without);
    }
    causes.push_back(std::move(each.cause));
  }
}

void add_once(ErrorCause cause, Causes& causes) {
  const bool is_said = std::ranges::any_of(
      causes, [&](const ErrorCause& each) { return each.field == cause.field && each.message == cause.message; });
  if (!is_said) causes.push_back(std::move(cause));
}

bool is_of_maker(ErrorCause& cause, const std::string& path, const Value& own, const Value& maker) {
  const auto word = word_at(cause.field, path);
  if (!word || !own[word->list][word->key].is_null() || maker[word->list][word->key].is_null()) return false;
  cause.field = "metadata" + cause.field.substr(path.size());
  return true;
}

bool was_said_before(const ErrorCause& cause, const Value* before, const Value& after) {
  const auto word = before == nullptr ? std::nullopt : word_at(cause.field, "metadata");
  return word && (*before)["metadata"][word->list][word->key] == after[word->list][word->key];
}

void check_template_words(const Value& maker, const Value* before, const Value& pod_template, const std::string& path,
                          Causes& causes) {
  Value metadata = pod_template["metadata"].is_map() ? pod_template["metadata"] : Value::map();
  hand_down(maker, metadata);
  Causes found;
  check_pod_annotations(metadata, pod_template["spec"], path + ".metadata", found);
  for (ErrorCause& each : found) {
    const bool of_maker = is_of_maker(each, path + ".metadata", pod_template["metadata"], maker);
    if (of_maker && was_said_before(each, before, maker)) continue;
    add_once(std::move(each), causes);
  }
}

}  // namespace berth
