// One object that is being read: what it says goes into parts, what is wrong with it becomes findings, what is left
// becomes a list of fields that are not followed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "manifest/yaml.h"
#include "model/amount.h"
#include "policy/parts.h"

namespace berth {

// Where an object stands. All empty: it came over the network.
struct ObjectSource {
  std::string file;
  const YamlDocument* document = nullptr;
  std::string prefix;  // of its fields in the document: "items[3]"
};

class ObjectReader {
 public:
  // All of these must outlive the reader.
  ObjectReader(const Value& object, const ObjectSource& source, PolicyParts& parts)
      : object_(object), source_(source), parts_(parts) {}

  const Value& object() const { return object_; }
  const Value& spec() const { return object_["spec"]; }
  std::string name() const { return std::string(object_["metadata"]["name"].text()); }
  PolicyParts& parts() { return parts_; }

  PolicyPlace place(std::string field = {}) const;
  void refuse(const std::string& field, std::string what, std::string why, std::string instead);
  void doubt(Severity severity, const std::string& rule, const std::string& field, std::string what, std::string why,
             std::string instead);
  void leave_out(const std::string& field, std::string why);

  // The index of the word; nothing, and a complaint, if it is none of them. Empty: the first.
  std::size_t one_of(const std::string& field, std::initializer_list<std::string_view> words);
  // What is there, when it is not null; a complaint if it is no text.
  std::string text(const std::string& field);
  // An amount as model/amount.h counts it.
  std::optional<std::int64_t> amount(const Value& quantity, Resource resource, const std::string& field);
  // A weight in thousandths.
  std::optional<std::int64_t> weight_milli(const std::string& field, bool zero_means_least);
  // A label as nodes may have it.
  void check_label(const std::string& field, const Value::Member& label);
  // Which resource an extended or plain resource name means; nothing if it is not counted, which is then said.
  std::optional<Resource> counted_resource(std::string_view name, const std::string& field);

  // Says of every member of the map that is none of these that it is not known.
  void finish(const Value& map, const std::string& path, std::initializer_list<std::string_view> known);

 private:
  const Value& at(std::string_view field) const;  // "spec.preemption.withinClusterQueue"

  const Value& object_;
  const ObjectSource& source_;
  PolicyParts& parts_;
};

// A quantity as a text: "8", "500m", "0.5".
std::string quantity_text(const Value& quantity);

}  // namespace berth
