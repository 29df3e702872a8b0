// The names that a scenario has declared so far.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "sim/scenario_line.h"

namespace berth {

// Things of one kind, numbered as they were declared.
class NameTable {
 public:
  // `kind` is what complaints call such a thing, `declare` what to do about one that there is not.
  NameTable(std::string kind, std::string declare) : kind_(std::move(kind)), declare_(std::move(declare)) {}

  std::size_t size() const { return names_.size(); }
  const std::string& operator[](std::size_t index) const { return names_[index]; }
  bool contains(const std::string& name) const { return index_.contains(name); }

  // The number of a thing; nothing if there is none of that name.
  std::optional<std::size_t> find(const std::string& name) const;

  // Whether nothing is called that yet; a complaint if something is.
  bool is_new(const ScenarioLine& line, const ScenarioWord& word, const std::string& name) const;
  // PRE: the name is new.
  void add(const std::string& name);
  // One that nobody can name.
  void add_nameless() { names_.emplace_back(); }
  // What those who have no thing of that name mean by it.
  void also_find_by(std::function<std::optional<std::size_t>(const std::string&)> other_names) {
    other_names_ = std::move(other_names);
  }
  // The same, and a complaint if there is none.
  std::optional<std::size_t> look_up(const ScenarioLine& line, const ScenarioWord& word, const std::string& name) const;

 private:
  std::string kind_;
  std::string declare_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> index_;
  std::function<std::optional<std::size_t>(const std::string&)> other_names_;
};

struct ScenarioNames {
  NameTable flavors{"flavor", "declare it above"};
  std::vector<std::string> gpu_models;  // of the flavors
  NameTable queues{"queue", "declare it above"};
  NameTable nodes{"node", "write a line like nodes n 4 above"};
  NameTable workloads{"workload", "submit it above"};
  NameTable reservations{"reservation", "reserve it above"};

  std::optional<FlavorId> flavor(const ScenarioLine& line, const ScenarioWord& word, const std::string& name) const {
    const auto index = flavors.look_up(line, word, name);
    return index ? std::optional(FlavorId(*index)) : std::nullopt;
  }
  std::optional<QueueId> queue(const ScenarioLine& line, const ScenarioWord& word) const {
    const auto index = queues.look_up(line, word, word.value);
    return index ? std::optional(QueueId(*index)) : std::nullopt;
  }
  std::optional<WorkloadId> workload(const ScenarioLine& line, const ScenarioWord& word,
                                     const std::string& name) const {
    const auto index = workloads.look_up(line, word, name);
    return index ? std::optional(WorkloadId(*index)) : std::nullopt;
  }
  bool is_node(const ScenarioLine& line, const ScenarioWord& word, const std::string& name) const {
    return nodes.look_up(line, word, name).has_value();
  }
};

}  // namespace berth
