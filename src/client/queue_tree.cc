#include "client/queue_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "client/topology_levels.h"

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

// "8", "500m", "0.5"; empty of none.
std::string quantity_in_words(const Value& quantity) {
  if (quantity.is_integer()) return std::to_string(quantity.integer());
  return std::string(quantity.is_text() ? quantity.text() : quantity.number_text());
}

// "h100:8,h100.cpu:64"; "-" of none.
std::string amounts_of(const Value& amounts) {
  std::string text;
  for (const Value::Member& each : amounts.members()) {
    text += (text.empty() ? "" : ",") + each.key + ":" + quantity_in_words(each.value);
  }
  return text.empty() ? "-" : text;
}

// Whole domains that its floor comes in: how many of those that it pays for could be given now, whoever has to leave them. "1/2 rack";
// several flavors by name. Before the scheduler has said it: "?/2 rack"; "-": none.
std::string cells_of(const Value& queue) {
  const Value& status = queue["status"]["cells"];
  const Value& cells = status.items().empty() ? queue["spec"]["cells"] : status;
  std::string text;
  for (const Value& each : cells.items()) {
    const bool is_told = &cells == &status;
    const std::int64_t promised = each["promised"].integer(), lacking = each["lacking"].integer();
    const std::int64_t count = is_told ? promised : each["count"].integer();
    const std::string flavor(each["flavor"].text());
    text += (text.empty() ? "" : ", ") + (is_told ? std::to_string(promised - lacking) : "?") + "/" +
            std::to_string(count) + " " + (flavor.empty() ? "" : flavor + " ") + short_level(each["level"].text());
  }
  return text.empty() ? "-" : text;
}

Value cells_facts(const Value& queue) {
  Value facts = Value::list();
  for (const Value& each : queue["status"]["cells"].items()) {
    Value cell = each;
    cell.set("deliverable", each["lacking"].integer() == 0);
    facts.push_back(std::move(cell));
  }
  return facts;
}

ListingRow row_of(const Value& queue, std::size_t depth) {
  const Value& spec = queue["spec"];
  const Value& status = queue["status"];
  ListingRow row;
  const std::string name(queue["metadata"]["name"].text());
  const std::string parent(spec["parent"].text());
  const std::string order(spec["order"].text());
  const std::string_view stop = spec["stop"].text();
  const bool hold = stop == "hold";
  const char* const how = hold ? "held" : stop == "drain" ? "drained" : "open";
  const std::int64_t pending = status["pending"].integer(), running = status["running"].integer();
  row.name = "queue/" + name;
  row.cells = {std::string(2 * depth, ' ') + name,
               parent.empty() ? "-" : parent,
               order.empty() ? "-" : order,
               amounts_of(spec["guarantee"]),
               cells_of(queue),
               amounts_of(status["used"]),
               amounts_of(status["borrowed"]),
               std::to_string(pending),
               std::to_string(running),
               how,
               status["share"].is_empty() ? "-" : std::string(status["share"].text()),
               submitters_of(queue)};
  row.facts = Value::map_of({{"name", name},
                             {"parent", parent},
                             {"order", order},
                             {"pending", pending},
                             {"running", running},
                             {"hold", hold},
                             {"state", how}});
  for (const char* const field : {"guarantee", "limit", "borrowingLimit", "lendingLimit", "weight"}) {
    if (!spec[field].is_empty()) row.facts.set(field, spec[field]);
  }
  for (const char* const field : {"used", "guaranteed", "borrowed", "share"}) {
    if (!status[field].is_empty()) row.facts.set(field, status[field]);
  }
  if (!status["cells"].is_empty()) row.facts.set("cells", cells_facts(queue));
  if (!spec["submitters"].is_empty()) row.facts.set("submitters", spec["submitters"]);
  return row;
}

// "-" of nothing.
std::string text_or_dash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

// "product (h100:8), science (h100:4) and 3 more"
std::string lenders_of(const Value& status) {
  std::string text;
  for (const Value::Member& each : status["lenders"].members()) {
    text += (text.empty() ? "" : ", ") + each.key + " (" + std::string(each.value.text()) + ")";
  }
  const std::int64_t more = status["moreLenders"].integer();
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return text_or_dash(text);
}

ListingRow share_row_of(const Value& queue, std::size_t depth) {
  const Value& spec = queue["spec"];
  const Value& status = queue["status"];
  const std::string_view share = status["share"].text();
  const std::string weight = quantity_in_words(spec["weight"]);
  std::string made_of;
  const std::vector<std::string> words = share_in_words(queue);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool nothing = status["shareParts"].items()[i]["share"].text().starts_with("0/");
    if (!nothing) made_of += (made_of.empty() ? "" : "; ") + words[i];
  }
  ListingRow row = row_of(queue, depth);
  row.cells = {row.cells.front(),
               amounts_of(status["floor"]),
               amounts_of(status["used"]),
               amounts_of(status["guaranteed"]),
               amounts_of(status["borrowed"]),
               amounts_of(status["lent"]),
               weight.empty() ? "1" : weight,
               text_or_dash(share),
               share.empty() ? "-" : percent_of(share),
               std::to_string(status["pending"].integer()),
               status["waiting"].items().empty() ? "-" : std::string(status["waiting"].items().front().text()),
               amounts_of(spec["guarantee"]),
               lenders_of(status),
               text_or_dash(made_of),
               text_or_dash(status["turn"].text())};
  row.facts.set("weight", weight.empty() ? "1" : weight);
  if (!share.empty()) row.facts.set("sharePercent", percent_of(share));
  for (const char* const field : {"floor", "lent", "lenders", "moreLenders", "shareParts", "turn", "waiting"}) {
    if (!status[field].is_empty()) row.facts.set(field, status[field]);
  }
  return row;
}

}  // namespace

std::vector<QueueInTree> in_tree_order(const std::vector<Value>& queues) {
  std::set<std::string_view> names;
  for (const Value& queue : queues) names.insert(queue["metadata"]["name"].text());
  std::map<std::string_view, std::map<std::string_view, const Value*>> children;  // of a parent; of none: at the top
  for (const Value& queue : queues) {
    const std::string_view parent = queue["spec"]["parent"].text();
    children[names.contains(parent) ? parent : ""][queue["metadata"]["name"].text()] = &queue;
  }
  std::vector<QueueInTree> shown;
  std::vector<QueueInTree> to_show;  // the next one last
  const auto add_children = [&](std::string_view of, std::size_t depth) {
    const auto& here = children[of];
    for (auto each = here.rbegin(); each != here.rend(); ++each) to_show.push_back({each->second, depth});
    children[of].clear();
  };
  add_children("", 0);
  while (!to_show.empty()) {
    const QueueInTree step = to_show.back();
    to_show.pop_back();
    shown.push_back(step);
    add_children((*step.queue)["metadata"]["name"].text(), step.depth + 1);
  }
  // What is left are each other's parents, which a server does not allow; nothing is hidden all the same.
  for (const auto& [parent, rest] : children) {
    for (const auto& [name, queue] : rest) shown.push_back({queue, 0});
  }
  return shown;
}

Listing list_queues(const std::vector<Value>& queues) {
  Listing listing;
  const bool some_cells =
      std::ranges::any_of(queues, [](const Value& queue) { return !queue["spec"]["cells"].is_empty(); });
  listing.columns = {{"NAME"},
                     {"PARENT"},
                     {"ORDER"},
                     {"GUARANTEE"},
                     {"CELLS", some_cells ? ShownIn::kBoth : ShownIn::kWide},
                     {"USED"},
                     {"BORROWED"},
                     {"PENDING"},
                     {"RUNNING"},
                     {"STATE", ShownIn::kBoth, true},
                     {"SHARE", ShownIn::kWide},
                     {"SUBMITTERS", ShownIn::kWide}};
  for (const QueueInTree& each : in_tree_order(queues)) listing.rows.push_back(row_of(*each.queue, each.depth));
  return listing;
}

Listing list_shares(const std::vector<Value>& queues) {
  Listing listing;
  listing.columns = {{"QUEUE"},
                     {"FLOOR"},
                     {"USED"},
                     {"INSIDE"},
                     {"BORROWED"},
                     {"LENT"},
                     {"WEIGHT"},
                     {"SHARE"},
                     {"PERCENT"},
                     {"WAITING"},
                     {"NEXT"},
                     {"GUARANTEE", ShownIn::kWide},
                     {"FROM", ShownIn::kWide},
                     {"MADE OF", ShownIn::kWide},
                     {"TURN", ShownIn::kWide}};
  for (const QueueInTree& each : in_tree_order(queues)) listing.rows.push_back(share_row_of(*each.queue, each.depth));
  return listing;
}

// Only printed: what decides are the fractions themselves.
std::string percent_of(std::string_view fraction) {
  const std::size_t slash = fraction.find('/');
  if (slash == std::string_view::npos) return std::string(fraction);
  const auto number = [](std::string_view digits) {
    long double value = 0;
    for (const char digit : digits) value = value * 10 + static_cast<long double>(digit - '0');
    return value;
  };
  const long double whole = number(fraction.substr(slash + 1));
  return whole == 0 ? std::string(fraction)
                    : fmt::format("{:.1f} %", static_cast<double>(100 * number(fraction.substr(0, slash)) / whole));
}

std::vector<std::string> share_in_words(const Value& queue) {
  std::vector<std::string> texts;
  const std::string weight = quantity_in_words(queue["spec"]["weight"]);
  for (const Value& part : queue["status"]["shareParts"].items()) {
    const std::string resource(part["resource"].text());
    const std::size_t suffix = resource == "gpu" ? 0 : resource.size() + 1;
    std::string text;
    for (const Value::Member& capacity : part["capacity"].members()) {
      const Value& flavor_weight = part["flavorWeights"][capacity.key];
      text += text.empty() ? resource + ": " : " + ";
      if (!flavor_weight.is_null()) text += std::to_string(flavor_weight.integer()) + " x (";
      text += quantity_in_words(part["above"][capacity.key]) + " of " + quantity_in_words(capacity.value) + " " +
              capacity.key.substr(0, capacity.key.size() - std::min(suffix, capacity.key.size()));
      if (!flavor_weight.is_null()) text += ")";
    }
    text += " above its floor";
    if (!weight.empty() && weight != "1") text += ", weight " + weight;
    texts.push_back(text + ", makes " + std::string(part["share"].text()));
  }
  return texts;
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
