#include "apiserver/object_meta.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/label_syntax.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::string_view kSuffixLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kSuffixLength = 5;
constexpr std::size_t kGeneratedPrefixMax = 58;
constexpr std::size_t kAnnotationBytesMax = 262'144;

// The fields of metadata that only the server writes.
constexpr std::array<std::string_view, 6> kServersOwn = {
    "uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"};

constexpr const char* kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kQualifiedRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character, with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
constexpr const char* kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character";

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_word(std::string_view text, std::size_t length_max, bool (*at_ends)(char), std::string_view also_inside) {
  if (text.empty() || text.size() > length_max || !at_ends(text.front()) || !at_ends(text.back())) return false;
  return std::ranges::all_of(text, [&](char c) { return at_ends(c) || also_inside.find(c) != std::string_view::npos; });
}

// Roles and what binds them have names with colons; only what a path cannot carry is refused.
bool is_path_segment(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text != "." && text != ".." &&
         text.find_first_of("/%") == std::string_view::npos;
}

void check_name(const KindInfo& kind, std::string_view name, const char* field, std::vector<ErrorCause>& causes) {
  if (kind.group == "rbac.authorization.k8s.io") {
    if (!is_path_segment(name))
      causes.push_back(invalid_value(field, name, "may not be '.' or '..' nor contain '/' or '%'"));
  } else if (kind.group.empty() && kind.plural == "namespaces") {
    if (!is_dns_label(name)) causes.push_back(invalid_value(field, name, kLabelRule));
  } else if (name.size() > 253) {
    causes.push_back(invalid_value(field, name.substr(0, 60), "must be no more than 253 characters"));
  } else if (!is_dns_subdomain(name)) {
    causes.push_back(invalid_value(field, name, kSubdomainRule));
  }
}

void check_names(const KindInfo& kind, const Value& metadata, std::vector<ErrorCause>& causes) {
  const std::string_view name = metadata["name"].text();
  const std::string_view prefix = metadata["generateName"].text();
  if (!prefix.empty()) {
    // A prefix may end where a name may not: "web-".
    std::string example(prefix.substr(0, kGeneratedPrefixMax));
    check_name(kind, example + "x", "metadata.generateName", causes);
  }
  if (!name.empty()) return check_name(kind, name, "metadata.name", causes);
  if (prefix.empty()) causes.push_back(required_value("metadata.name", "name or generateName is required"));
}

void check_labels(const Value& labels, std::vector<ErrorCause>& causes) {
  for (const Value::Member& each : labels.members()) {
    if (!is_label_key(each.key)) causes.push_back(invalid_value("metadata.labels", each.key, kQualifiedRule));
    if (!is_label_value(each.value.text())) {
      causes.push_back(invalid_value("metadata.labels", each.value, kLabelValueRule));
    }
  }
}

void check_annotations(const Value& annotations, std::vector<ErrorCause>& causes) {
  std::size_t bytes = 0;
  for (const Value::Member& each : annotations.members()) {
    bytes += each.key.size() + each.value.text().size();
    std::string lower = each.key;
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    if (!is_label_key(lower)) causes.push_back(invalid_value("metadata.annotations", each.key, kQualifiedRule));
  }
  if (bytes > kAnnotationBytesMax) {
    causes.push_back({"FieldValueTooLong", "Too long: may not be more than 262144 bytes", "metadata.annotations"});
  }
}

void check_owners(const Value& owners, std::vector<ErrorCause>& causes) {
  int controllers = 0;
  for (std::size_t i = 0; i < owners.items().size(); ++i) {
    const Value& owner = owners.items()[i];
    const std::string field = "metadata.ownerReferences[" + std::to_string(i) + "]";
    for (const char* const part : {"apiVersion", "kind", "name", "uid"}) {
      if (owner[part].text().empty()) causes.push_back(required_value(field + "." + part));
    }
    if (owner["controller"].truth()) ++controllers;
  }
  if (controllers > 1) {
    causes.push_back(invalid_value("metadata.ownerReferences", owners, "only one reference may be the controller"));
  }
}

// Who looks for a finalizer without a domain? Only the server's own are known to everybody. Kinds that are Berth's own
// are as those of custom resources: anything goes.
void check_finalizers(const KindInfo& kind, const Value& finalizers, std::vector<ErrorCause>& causes) {
  constexpr std::array<std::string_view, 3> kStandard = {"kubernetes", "orphan", "foregroundDeletion"};
  bool orphan = false;
  bool foreground = false;
  for (std::size_t i = 0; i < finalizers.items().size(); ++i) {
    const Value& each = finalizers.items()[i];
    orphan = orphan || each.text() == "orphan";
    foreground = foreground || each.text() == "foregroundDeletion";
    if (!is_label_key(each.text())) {
      causes.push_back(invalid_value("metadata.finalizers", each, kQualifiedRule));
    } else if (!kind.custom && each.text().find('/') == std::string_view::npos &&
               std::ranges::find(kStandard, each.text()) == kStandard.end()) {
      causes.push_back(invalid_value("metadata.finalizers[" + std::to_string(i) + "]", each,
                                     "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  if (orphan && foreground) {
    causes.push_back(
        invalid_value("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

bool carries_user(const KindInfo& kind) {
  const std::string qualified = kind.qualified();
  return qualified == "jobs.batch" || qualified == "jobs.batch.volcano.sh" || qualified == "jobsets.jobset.x-k8s.io" ||
         qualified == "pods" || qualified == "workloads.berth.dev";
}

// Who may say on whose behalf an object is made: the controllers copy a job's user to its pods, the scheduler to its
// workload.
bool may_name_user(const KindInfo& kind, const User& user) {
  return user.name == "system:berth-controllers" ||
         (user.name == "system:berth-scheduler" && kind.plural == "workloads");
}

void set_annotation(Value& metadata, std::string_view key, std::string_view value) {
  if (value.empty()) {
    Value* const annotations = metadata.find("annotations");
    if (annotations == nullptr || !annotations->erase(key)) return;
    if (annotations->is_empty()) metadata.erase("annotations");
  } else {
    metadata.at("annotations").set(key, value);
  }
}

// A template's annotations become those of pods.
void unstamp_template(Value& with_template) {
  Value* const pod_template = with_template.find("template");
  Value* const metadata = pod_template == nullptr ? nullptr : pod_template->find("metadata");
  if (metadata == nullptr || !metadata->is_map()) return;
  set_annotation(*metadata, kUserAnnotation, {});
  set_annotation(*metadata, kQueuedAtAnnotation, {});
}

}  // namespace

NameDice::NameDice(std::uint64_t seed) : rng_(Seed{seed}) {
  if (seed != 0) return;
  std::random_device system;
  rng_ = Rng(Seed{(std::uint64_t{system()} << 32) | system()});
}

std::string NameDice::uid() {
  std::array<std::uint64_t, 2> halves{};
  {
    const std::lock_guard lock(mutex_);
    halves = {rng_.next(), rng_.next()};
  }
  halves[0] = (halves[0] & 0xffffffffffff0fffULL) | 0x4000ULL;              // version 4
  halves[1] = (halves[1] & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;  // variant of RFC 9562
  std::string text;
  text.reserve(36);
  for (const std::uint64_t half : halves) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23) text += '-';
      text += "0123456789abcdef"[(half >> shift) & 0xfU];
    }
  }
  return text;
}

std::string NameDice::suffix() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (std::size_t i = 0; i < kSuffixLength; ++i) text += kSuffixLetters[rng_.below(kSuffixLetters.size())];
  return text;
}

std::uint64_t NameDice::below(std::uint64_t bound) {
  const std::lock_guard lock(mutex_);
  return rng_.below(bound);
}

std::string generated_name(std::string_view prefix, NameDice& dice) {
  return std::string(prefix.substr(0, kGeneratedPrefixMax)) + dice.suffix();
}

bool is_dns_label(std::string_view text) { return is_word(text, 63, is_lower_or_digit, "-"); }

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_word(text.substr(0, dot), 253, is_lower_or_digit, "-")) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::vector<ErrorCause> check_metadata(const KindInfo& kind, const Value& object) {
  const Value& metadata = object["metadata"];
  std::vector<ErrorCause> causes;
  check_names(kind, metadata, causes);
  check_labels(metadata["labels"], causes);
  check_annotations(metadata["annotations"], causes);
  check_owners(metadata["ownerReferences"], causes);
  check_finalizers(kind, metadata["finalizers"], causes);
  return causes;
}

void begin_metadata(const KindInfo& kind, Value& object, NameDice& dice, Time now) {
  Value& metadata = object.at("metadata");
  for (const std::string_view field : kServersOwn) metadata.erase(field);
  metadata.erase("managedFields");
  metadata.erase("resourceVersion");
  metadata.set("uid", dice.uid());
  metadata.set("creationTimestamp", format_timestamp(now));
  if (kind.has_generation) metadata.set("generation", 1);
}

void keep_metadata(const Value& before, Value& object) {
  const Value& had = before["metadata"];
  Value& metadata = object.at("metadata");
  for (const std::string_view field : kServersOwn) {
    const Value* const kept = had.find(field);
    if (kept != nullptr) {
      metadata.set(field, *kept);
    } else {
      metadata.erase(field);
    }
  }
  const Value* const generated_from = had.find("generateName");
  if (generated_from != nullptr) metadata.set("generateName", *generated_from);
  // A client that does not speak of managedFields leaves them alone.
  const Value* const managed = had.find("managedFields");
  if (managed != nullptr && !metadata["managedFields"].is_list()) metadata.set("managedFields", *managed);
}

void count_generation(const KindInfo& kind, const Value& before, Value& object) {
  if (!kind.has_generation || before["spec"] == object["spec"]) return;
  object.at("metadata").set("generation", before["metadata"]["generation"].integer() + 1);
}

bool same_content(const Value& a, const Value& b) {
  if (a.members().size() != b.members().size()) return false;
  for (const Value::Member& member : a.members()) {
    if (member.key == "metadata") continue;
    const Value* const other = b.find(member.key);
    if (other == nullptr || !(member.value == *other)) return false;
  }
  const auto written_always = [](std::string_view field) { return field == "resourceVersion"; };
  const auto contains_all = [&](const Value& some, const Value& others) {
    return std::ranges::all_of(some.members(), [&](const Value::Member& member) {
      const Value* const other = others.find(member.key);
      return written_always(member.key) || (other != nullptr && member.value == *other);
    });
  };
  return contains_all(a["metadata"], b["metadata"]) && contains_all(b["metadata"], a["metadata"]);
}

bool has_finalizers(const KindInfo& kind, const Value& object) {
  if (!object["metadata"]["finalizers"].is_empty()) return true;
  return kind.group.empty() && kind.plural == "namespaces" && !object["spec"]["finalizers"].is_empty();
}

bool has_finalizer(const Value& object, std::string_view finalizer) {
  const Value::List& all = object["metadata"]["finalizers"].items();
  return std::ranges::any_of(all, [&](const Value& each) { return each.text() == finalizer; });
}

void add_finalizer(Value& object, std::string_view finalizer) {
  if (!has_finalizer(object, finalizer)) object.at("metadata").at("finalizers").push_back(finalizer);
}

std::vector<ErrorCause> check_no_new_finalizers(const Value& before, const Value& object) {
  std::string added;
  for (const Value& each : object["metadata"]["finalizers"].items()) {
    if (has_finalizer(before, each.text())) continue;
    added += (added.empty() ? "\"" : ", \"") + std::string(each.text()) + "\"";
  }
  if (added.empty()) return {};
  return {forbidden_value(
      "metadata.finalizers",
      "no new finalizers can be added if the object is being deleted, found new finalizers []string{" + added + "}")};
}

void stamp_user(const KindInfo& kind, const Value& before, Value& object, const User& user) {
  if (Value* const spec = object.find("spec")) {
    unstamp_template(*spec);
    if ((*spec)["tasks"].is_list()) {
      for (Value& task : spec->at("tasks").edit_items()) unstamp_template(task);
    }
  }
  if (!carries_user(kind)) return;
  Value& metadata = object.at("metadata");
  if (!before.is_null()) {
    for (const std::string_view stamp : {kUserAnnotation, kQueuedAtAnnotation}) {
      set_annotation(metadata, stamp, std::string(before["metadata"]["annotations"][stamp].text()));
    }
    return;
  }
  const bool may_stamp = may_name_user(kind, user);
  if (!may_stamp) set_annotation(metadata, kQueuedAtAnnotation, {});
  if (!may_stamp || metadata["annotations"][kUserAnnotation].text().empty()) {
    set_annotation(metadata, kUserAnnotation, user.name);
  }
}

}  // namespace berth
