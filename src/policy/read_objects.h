// From API objects to the parts of a policy. Pure functions of one object each: `berth lint`, `berth policy show`, the API
// server and the scheduler read by the same ones.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "manifest/value.h"
#include "policy/object_reader.h"
#include "policy/parts.h"

namespace berth {

// Reads an object, or all objects of a list. Kinds that say nothing about queues are listed as not followed.
void read_policy_object(const Value& object, const ObjectSource& source, PolicyParts& parts);
// All objects of a YAML or JSON text; what is no YAML is a complaint.
Result<PolicyParts> read_policy_text(std::string_view text, const std::string& file);
// Whether objects of this kind are read.
bool is_policy_kind(std::string_view api_version, std::string_view kind);

// One kind each.
void read_berth_queue(ObjectReader& reader);
void read_berth_flavor(ObjectReader& reader);
void read_cluster_queue(ObjectReader& reader);
void read_cohort(ObjectReader& reader);
void read_kueue_flavor(ObjectReader& reader);
void read_kueue_topology(ObjectReader& reader);
void read_local_queue(ObjectReader& reader);
void read_kueue_priority(ObjectReader& reader);
void read_kueue_configuration(ObjectReader& reader);
void read_volcano_queue(ObjectReader& reader);
void read_priority_class(ObjectReader& reader);

}  // namespace berth
