#include "client/queue_tree.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace berth {
namespace {

std::string names_in(const Value& names, const std::string& what) {
  std::string text;
  for (const Value& each : names.items()) text += (text.empty() ? what + " " : "|") + std::string(each.text());
  return text;
}

std::string submitters_of(const Value& queue) {
  const Value& submitters = queue["spec"]["submitters"];
  std::string text;
  for (const std::string what : {"namespaces", "users", "groups"}) {
    const std::string names = names_in(submitters[what], what);
    if (!names.empty()) text += (text.empty() ? "" : "; ") + names;
  }
  return text.empty() ? "everybody" : text;
}

// "h100:8,h100.cpu:64"; "-" of none.
std::string amounts_of(const Value& amounts) {
  std::string text;
  for (const Value::Member& each : amounts.members()) {
    const std::string amount =
        each.value.is_integer() ? std::to_string(each.value.integer()) : std::string(each.value.text());
    text += (text.empty() ? "" : ",") + each.key + ":" + amount;
  }
  return text.empty() ? "-" : text;
}

ListingRow row_of(const Value& queue, std::size_t depth) {
  const Value& spec = queue["spec"];
  const Value& status = queue["status"];
  ListingRow row;
  const std::string name(queue["metadata"]["name"].text());
  const std::string parent(spec["parent"].text());
  const std::string order(spec["order"].text());
  const bool hold = spec["hold"].truth();
  const std::int64_t pending = status["pending"].integer(), running = status["running"].integer();
  row.name = "queue/" + name;
  row.cells = {std::string(2 * depth, ' ') + name,
               parent.empty() ? "-" : parent,
               order.empty() ? "-" : order,
               amounts_of(spec["guarantee"]),
               amounts_of(status["used"]),
               amounts_of(status["borrowed"]),
               std::to_string(pending),
               std::to_string(running),
               hold ? "held" : "open",
               status["share"].is_empty() ? "-" : std::string(status["share"].text()),
               submitters_of(queue)};
  row.facts = Value::map_of({{"name", name},
                             {"parent", parent},
                             {"order", order},
                             {"pending", pending},
                             {"running", running},
                             {"hold", hold},
                             {"state", hold ? "held" : "open"}});
  for (const char* const field : {"guarantee", "limit", "borrowingLimit", "lendingLimit", "weight"}) {
    if (!spec[field].is_empty()) row.facts.set(field, spec[field]);
  }
  for (const char* const field : {"used", "guaranteed", "borrowed", "share"}) {
    if (!status[field].is_empty()) row.facts.set(field, status[field]);
  }
  if (!spec["submitters"].is_empty()) row.facts.set("submitters", spec["submitters"]);
  return row;
}

}  // namespace

Listing list_queues(const std::vector<Value>& queues) {
  std::set<std::string_view> names;
  for (const Value& queue : queues) names.insert(queue["metadata"]["name"].text());
  std::map<std::string_view, std::map<std::string_view, const Value*>> children;  // of a parent; of none: at the top
  for (const Value& queue : queues) {
    const std::string_view parent = queue["spec"]["parent"].text();
    children[names.contains(parent) ? parent : ""][queue["metadata"]["name"].text()] = &queue;
  }
  Listing listing;
  listing.columns = {{"NAME"},
                     {"PARENT"},
                     {"ORDER"},
                     {"GUARANTEE"},
                     {"USED"},
                     {"BORROWED"},
                     {"PENDING"},
                     {"RUNNING"},
                     {"STATE", ShownIn::kBoth, true},
                     {"SHARE", ShownIn::kWide},
                     {"SUBMITTERS", ShownIn::kWide}};
  struct Step {
    const Value* queue;
    std::size_t depth;
  };
  std::vector<Step> to_show;  // the next one last
  const auto add_children = [&](std::string_view of, std::size_t depth) {
    const auto& here = children[of];
    for (auto each = here.rbegin(); each != here.rend(); ++each) to_show.push_back({each->second, depth});
    children[of].clear();
  };
  add_children("", 0);
  while (!to_show.empty()) {
    const Step step = to_show.back();
    to_show.pop_back();
    listing.rows.push_back(row_of(*step.queue, step.depth));
    add_children((*step.queue)["metadata"]["name"].text(), step.depth + 1);
  }
  // What is left are each other's parents, which a server does not allow; nothing is hidden all the same.
  for (const auto& [parent, rest] : children) {
    for (const auto& [name, queue] : rest) listing.rows.push_back(row_of(*queue, 0));
  }
  return listing;
}

std::vector<const Value*> queue_and_parents(const std::vector<Value>& queues, std::string_view name) {
  std::vector<const Value*> way;
  while (way.size() <= queues.size()) {
    const auto found =
        std::ranges::find_if(queues, [&](const Value& queue) { return queue["metadata"]["name"].text() == name; });
    if (found == queues.end()) break;
    way.push_back(&*found);
    name = (*found)["spec"]["parent"].text();
    if (name.empty()) break;
  }
  return way;
}

}  // namespace berth
