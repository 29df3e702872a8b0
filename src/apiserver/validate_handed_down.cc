// What pods will carry of the metadata of what makes them: asked of each template with it, and said of where it was written.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/validation.h"
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

}  // namespace

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
