#include "policy/read_objects.h"

#include <array>
#include <utility>

#include "base/wording.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

struct PolicyKind {
  std::string_view api_version;
  std::string_view kind;
  void (*read)(ObjectReader&);
};

constexpr std::array<PolicyKind, 18> kPolicyKinds = {{
    {"berth.dev/v1alpha1", "Queue", read_berth_queue},
    {"berth.dev/v1alpha1", "ResourceFlavor", read_berth_flavor},
    {"kueue.x-k8s.io/v1beta1", "ClusterQueue", read_cluster_queue},
    {"kueue.x-k8s.io/v1beta2", "ClusterQueue", read_cluster_queue},
    {"kueue.x-k8s.io/v1beta1", "Cohort", read_cohort},
    {"kueue.x-k8s.io/v1beta2", "Cohort", read_cohort},
    {"kueue.x-k8s.io/v1beta1", "ResourceFlavor", read_kueue_flavor},
    {"kueue.x-k8s.io/v1beta2", "ResourceFlavor", read_kueue_flavor},
    {"kueue.x-k8s.io/v1beta1", "Topology", read_kueue_topology},
    {"kueue.x-k8s.io/v1beta2", "Topology", read_kueue_topology},
    {"kueue.x-k8s.io/v1beta1", "LocalQueue", read_local_queue},
    {"kueue.x-k8s.io/v1beta2", "LocalQueue", read_local_queue},
    {"kueue.x-k8s.io/v1beta1", "WorkloadPriorityClass", read_kueue_priority},
    {"kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", read_kueue_priority},
    {"config.kueue.x-k8s.io/v1beta1", "Configuration", read_kueue_configuration},
    {"config.kueue.x-k8s.io/v1beta2", "Configuration", read_kueue_configuration},
    {"scheduling.volcano.sh/v1beta1", "Queue", read_volcano_queue},
    {"scheduling.k8s.io/v1", "PriorityClass", read_priority_class},
}};

const PolicyKind* find_kind(std::string_view api_version, std::string_view kind) {
  for (const PolicyKind& each : kPolicyKinds) {
    if (each.api_version == api_version && each.kind == kind) return &each;
  }
  return nullptr;
}

// The version of the group in which a kind is read, if it is; "" if there is none.
std::string_view other_version(std::string_view api_version, std::string_view kind) {
  const std::string_view group = api_version.substr(0, api_version.find('/'));
  std::string_view found;
  for (const PolicyKind& each : kPolicyKinds) {
    if (each.kind == kind && each.api_version.substr(0, each.api_version.find('/')) == group) found = each.api_version;
  }
  return found;
}

}  // namespace

bool is_policy_kind(std::string_view api_version, std::string_view kind) {
  return find_kind(api_version, kind) != nullptr;
}

void read_policy_object(const Value& object, const ObjectSource& source, PolicyParts& parts) {
  ObjectReader reader(object, source, parts);
  const std::string_view kind = object["kind"].text();
  const std::string_view api_version = object["apiVersion"].text();
  if (kind.empty() || api_version.empty()) {
    reader.refuse(kind.empty() ? "kind" : "apiVersion",
                  "this is no object: it has no " + std::string(kind.empty() ? "kind" : "apiVersion"), "",
                  "write apiVersion and kind, such as kueue.x-k8s.io/v1beta2 and ClusterQueue");
    return;
  }
  if (kind.ends_with("List") && object["items"].is_list()) {
    const Value::List& items = object["items"].items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string dot = source.prefix.empty() ? "" : ".";
      read_policy_object(
          items[i], {source.file, source.document, source.prefix + dot + "items[" + std::to_string(i) + "]"}, parts);
    }
    return;
  }
  const PolicyKind* const known = find_kind(api_version, kind);
  if (known == nullptr) {
    const std::string_view other = other_version(api_version, kind);
    if (other.empty()) return reader.leave_out("", "this kind says nothing about queues that is read here");
    reader.refuse("apiVersion", quote(api_version) + " of " + std::string(kind) + " is not known", "",
                  "write " + std::string(other));
    return;
  }
  if (reader.name().empty() && kind != "Configuration") {
    reader.refuse("metadata.name", "it has no name", "nothing can refer to it", "write metadata: {name: ...}");
    return;
  }
  known->read(reader);
}

Result<PolicyParts> read_policy_text(std::string_view text, const std::string& file) {
  const Result<std::vector<YamlDocument>> documents = parse_yaml_with_lines(text, file);
  if (!documents) return documents.error();
  PolicyParts parts;
  for (const YamlDocument& document : *documents) read_policy_object(document.value, {file, &document, ""}, parts);
  return parts;
}

}  // namespace berth
