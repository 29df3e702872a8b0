#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/object_meta.h"
#include "apiserver/pod_facts.h"
#include "apiserver/policy_warnings.h"
#include "apiserver/validation.h"
#include "manifest/canonical_quantity.h"
#include "manifest/gang_owner.h"
#include "manifest/pod_group.h"
#include "manifest/schema.h"
#include "manifest/selector.h"

namespace berth {

namespace {

constexpr std::size_t kCausesMax = 100;

constexpr const char* kQualifiedNameIs =
    "is a name of letters, digits, '-', '_' and '.', at most 63, that begins and ends with a letter or digit, after an "
    "optional DNS name and '/' (example.com/name)";
constexpr const char* kLabelValueIs =
    "is empty, or at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_name_part(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!is_letter_or_digit(text.front()) || !is_letter_or_digit(text.back())) return false;
  return std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

// Texts that the schema lists, and quantities, wherever they stand.
class ValueWalk {
 public:
  explicit ValueWalk(Causes& causes) : causes_(causes) {}

  void object(const Type& type, const Value& value, const std::string& path) {
    for (const Value::Member& member : value.members()) {
      if (path.empty() && member.key == "metadata") continue;  // looked at by whoever looks at all metadata
      const Field* const field = type.find(member.key);
      if (field != nullptr) many(*field, member.value, path.empty() ? member.key : path + "." + member.key);
    }
  }

 private:
  void many(const Field& field, const Value& value, const std::string& path) {
    if (causes_.size() >= kCausesMax) return;
    if (field.plurality == Plurality::kList) {
      for (std::size_t i = 0; i < value.items().size(); ++i) one(field, value.items()[i], item_path(path, i));
    } else if (field.plurality == Plurality::kMap) {
      for (const Value::Member& member : value.members()) one(field, member.value, path + "[" + member.key + "]");
    } else {
      one(field, value, path);
    }
  }

  void one(const Field& field, const Value& value, const std::string& path) {
    if (value.is_null()) return;
    if (field.scalar == Scalar::kObject) return object(*field.type, value, path);
    if (field.scalar == Scalar::kQuantity && !quantity_of(value)) {
      const Parsed<Quantity> parsed = Quantity::parse(value.text());
      causes_.push_back(invalid_value(path, value, parsed ? "is no amount such as 2, 500m or 1Gi" : parsed.error()));
    }
    if (field.allowed.empty() || value.text().empty()) return;
    if (std::ranges::find(field.allowed, value.text()) == field.allowed.end()) {
      causes_.push_back(unsupported_value(path, value, field.allowed));
    }
  }

  Causes& causes_;
};

struct Check {
  std::string_view qualified;
  void (*check)(const AdmissionRequest&, Causes&);
};

constexpr Check kChecksOfKinds[] = {
    {"pods", check_pod},
    {"jobs.batch", check_job},
    {"configmaps", check_config_map},
    {"secrets", check_secret},
    {"nodes", check_node},
    {"resourcequotas", check_resource_quota},
    {"limitranges", check_limit_range},
    {"poddisruptionbudgets.policy", check_disruption_budget},
    {"priorityclasses.scheduling.k8s.io", check_priority_class},
    {"leases.coordination.k8s.io", check_lease},
    {"events", check_event},
    {"events.events.k8s.io", check_newer_event},
    {"roles.rbac.authorization.k8s.io", check_role},
    {"clusterroles.rbac.authorization.k8s.io", check_role},
    {"rolebindings.rbac.authorization.k8s.io", check_role_binding},
    {"clusterrolebindings.rbac.authorization.k8s.io", check_role_binding},
    {"queues.berth.dev", check_queue},
    {"resourceflavors.berth.dev", check_resource_flavor},
    {"reservations.berth.dev", check_reservation},
    {"defragmentations.berth.dev", check_defragmentation},
    {"whatifs.berth.dev", check_what_if},
    {"trustcircles.berth.dev", check_trust_circle},
    {"workloads.berth.dev", check_workload},
    {"workloads.kueue.x-k8s.io", check_kueue_workload},
    {"clusterqueues.kueue.x-k8s.io", check_policy_object},
    {"cohorts.kueue.x-k8s.io", check_policy_object},
    {"localqueues.kueue.x-k8s.io", check_policy_object},
    {"resourceflavors.kueue.x-k8s.io", check_kueue_flavor},
    {"topologies.kueue.x-k8s.io", check_kueue_topology},
    {"workloadpriorityclasses.kueue.x-k8s.io", check_policy_object},
    {"queues.scheduling.volcano.sh", check_policy_object},
    {"jobs.batch.volcano.sh", check_volcano_job},
    {"hypernodes.topology.volcano.sh", check_hyper_node},
    {kKubernetesGroups, check_pod_group},
    {kCoschedulingGroups, check_pod_group},
    {kVolcanoGroups, check_pod_group},
    {"jobsets.jobset.x-k8s.io", check_job_set},
};

}  // namespace

std::string item_path(std::string_view list, std::size_t index) {
  return std::string(list).append("[").append(std::to_string(index)).append("]");
}

bool is_qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    if (!is_dns_subdomain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return is_name_part(text);
}

bool check_count(std::size_t count, std::size_t most, const std::string& path, Causes& causes) {
  if (count <= most) return true;
  causes.push_back({"FieldValueTooMany",
                    "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(most) + " items",
                    path});
  return false;
}

void check_not_negative(const Value& amounts, const std::string& path, Causes& causes) {
  for (const Value::Member& member : amounts.members()) {
    const auto quantity = quantity_of(member.value);
    if (quantity && quantity->is_negative()) {
      causes.push_back(
          invalid_value(path + "[" + member.key + "]", member.value, "must be greater than or equal to 0"));
    }
  }
}

void check_integer(const Value& number, std::int64_t low, std::int64_t high, const std::string& path, Causes& causes) {
  if (number.is_null() || (number.is_integer() && number.integer() >= low && number.integer() <= high)) return;
  causes.push_back(invalid_value(path, number,
                                 number.is_integer() && number.integer() < low
                                     ? "must be greater than or equal to " + std::to_string(low)
                                     : "must be an integer of at most " + std::to_string(high)));
}

void check_immutable(const Value& before, const Value& after, const std::string& path, Causes& causes) {
  if (!(before == after)) causes.push_back(invalid_value(path, after, "field is immutable"));
}

void check_label_selector(const Value& selector, const std::string& path, Causes& causes) {
  for (const Value::Member& member : selector["matchLabels"].members()) {
    if (!is_qualified_name(member.key))
      causes.push_back(invalid_value(path + ".matchLabels", member.key, kQualifiedNameIs));
    if (!is_label_value(member.value.text())) {
      causes.push_back(invalid_value(path + ".matchLabels", member.value, kLabelValueIs));
    }
  }
  if (selector.is_null()) return;
  const Result<LabelSelector> parsed = LabelSelector::from_object(selector);
  if (!parsed) causes.push_back(invalid_value(path, selector, parsed.error().to_string()));
}

void check_template_metadata(const Value& metadata, const std::string& path, Causes& causes) {
  for (const Value::Member& label : metadata["labels"].members()) {
    if (!is_qualified_name(label.key)) causes.push_back(invalid_value(path + ".labels", label.key, kQualifiedNameIs));
    if (!is_label_value(label.value.text())) {
      causes.push_back(invalid_value(path + ".labels", label.value, kLabelValueIs));
    }
  }
  for (const Value::Member& annotation : metadata["annotations"].members()) {
    std::string lower = annotation.key;
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (!is_qualified_name(lower)) {
      causes.push_back(invalid_value(path + ".annotations", annotation.key, kQualifiedNameIs));
    }
  }
}

std::vector<ErrorCause> validate(const AdmissionRequest& request) {
  Causes causes;
  // A binding's pod is the stored one with a node; what may change there is the binding's own business.
  if (request.object == nullptr || request.operation == Operation::kDelete || request.subresource == "binding")
    return causes;
  if (request.kind->type != nullptr) ValueWalk(causes).object(*request.kind->type, *request.object, "");
  const std::string qualified = request.kind->qualified();
  const auto check = std::ranges::find(kChecksOfKinds, qualified, &Check::qualified);
  if (check != std::end(kChecksOfKinds)) check->check(request, causes);
  if (find_gang_owner_kind(qualified) != nullptr) check_pod_group(request, causes);
  if (causes.size() > kCausesMax) causes.erase(causes.begin() + kCausesMax, causes.end());
  return causes;
}

}  // namespace berth
