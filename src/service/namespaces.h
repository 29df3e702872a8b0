// Namespaces that pods select by their labels, in a live engine: it knows them by their names, and hears anew of a pod where
// labels have changed so that others are selected. No threads, clocks or sockets.
#pragma once

#include <map>
#include <string>

#include "manifest/value.h"
#include "service/pod_groups.h"

namespace berth {

class Namespaces {
 public:
  // PRE: it outlives this, and hears of pods from nobody else.
  explicit Namespaces(PodGroups& pods) : pods_(pods) {}

  void set(const Value& name_space);
  void remove(const std::string& name);
  void set_pod(const PodFacts& pod);
  void remove_pod(const std::string& uid);
  // What has changed goes to the pods' own; before each decision.
  void settle();

 private:
  PodFacts resolved(const PodFacts& pod) const;

  PodGroups& pods_;
  std::map<std::string, Value> labels_;        // by name of a namespace
  std::map<std::string, PodFacts> selecting_;  // by uid: pods that select some by their labels, as they say it
  std::map<std::string, Neighbours> told_;     // of these
  bool changed_ = false;
};

}  // namespace berth
