#include "client/reservation_rows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "manifest/reservation_spec.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

// As the words of the table say it: "Coming" is "coming", of a scheduler that has not seen it "new".
std::string phase_of(const Value& reservation) {
  const std::string_view phase = reservation["status"]["phase"].text();
  if (phase.empty()) return "new";
  if (phase == "NotInForce") return "not in force";
  std::string word(phase);
  word.front() = static_cast<char>(word.front() - 'A' + 'a');
  return word;
}

// To a second; "-" of what is no moment.
std::string moment_of(const Value& text) {
  const auto moment = parse_timestamp(text.text());
  return moment ? format_timestamp(*moment) : "-";
}

std::string names_of(const Value& list) {
  std::string text;
  for (const Value& each : list.items()) text += (text.empty() ? "" : ",") + std::string(each.text());
  return text.empty() ? "-" : text;
}

// "n1:0,1,2,3 n2:0"; of maintenance the names alone.
std::string places_of(const Value& status) {
  std::string text;
  for (const Value& each : status["nodes"].items()) {
    text += (text.empty() ? "" : " ") + std::string(each["name"].text());
    if (!each["gpus"].is_empty()) text += ":" + std::string(each["gpus"].text());
  }
  return text.empty() ? "-" : text;
}

std::string what_of(const Value& spec) {
  const std::int64_t nodes = std::ssize(spec["nodes"].items());
  if (spec["queue"].is_empty()) return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  const std::string flavor(spec["flavor"].text());
  return std::to_string(spec["gpus"].integer()) + " " + (flavor.empty() ? "GPUs" : flavor);
}

// Why it is none, or that it is one and who has to go for it.
std::string why_of(const Value& status) {
  for (const Value& each : status["conditions"].items()) {
    if (each["type"].text() == "InForce") return std::string(each["message"].text());
  }
  return "-";
}

ListingRow row_of(const Value& reservation) {
  const Value& spec = reservation["spec"];
  const Value& status = reservation["status"];
  const std::string name(reservation["metadata"]["name"].text());
  const std::string phase = phase_of(reservation);
  const bool counts = !status["gpus"].is_null();
  const Value& from = status["from"].is_empty() ? spec["from"] : status["from"];
  ListingRow row;
  row.name = "reservation/" + name;
  row.cells = {name,
               spec["queue"].is_empty() ? "maintenance" : std::string(spec["queue"].text()),
               what_of(spec),
               moment_of(from),
               times_text(spec),
               phase,
               counts ? std::to_string(status["gpus"].integer()) : "-",
               counts ? std::to_string(status["short"].integer()) : "-",
               status["drainsAt"].is_empty() ? "-" : moment_of(status["drainsAt"]),
               places_of(status),
               names_of(status["leaving"]),
               why_of(status)};
  row.facts = Value::map_of({{"name", name}, {"state", phase}});
  for (const char* const field : {"queue", "gpus", "flavor", "nodes", "from", "for", "daily", "days", "zone"}) {
    if (!spec[field].is_empty()) row.facts.set(field, spec[field]);
  }
  if (counts) row.facts.set("has", status["gpus"]);
  for (const char* const field : {"short", "drainsAt", "leaving"}) {
    if (!status[field].is_empty()) row.facts.set(field, status[field]);
  }
  if (!status["from"].is_empty()) row.facts.set("begins", status["from"]);
  if (!status["to"].is_empty()) row.facts.set("ends", status["to"]);
  if (!status["nodes"].is_empty()) row.facts.set("on", status["nodes"]);
  row.facts.set("why", why_of(status));
  return row;
}

// What it is shown by: who has not been looked at yet comes with what comes.
std::tuple<int, Time, std::string> order_of(const Value& reservation) {
  const std::string_view phase = reservation["status"]["phase"].text();
  const int rank = phase == "Lasting" ? 0 : phase == "Over" ? 2 : phase == "NotInForce" ? 3 : 1;
  const Value& from = reservation["status"]["from"];
  const auto begins = parse_timestamp((from.is_empty() ? reservation["spec"]["from"] : from).text());
  return {rank, begins.value_or(Time{}), std::string(reservation["metadata"]["name"].text())};
}

}  // namespace

Listing list_reservations(const std::vector<Value>& reservations) {
  Listing listing;
  listing.columns = {{"NAME"},
                     {"FOR"},
                     {"WHAT"},
                     {"FROM"},
                     {"LENGTH"},
                     {"STATE"},
                     {"HAS"},
                     {"SHORT"},
                     {"DRAINS"},
                     {"WHERE", ShownIn::kWide},
                     {"LEAVING", ShownIn::kWide},
                     {"WHY", ShownIn::kWide}};
  std::vector<const Value*> in_order;
  for (const Value& each : reservations) in_order.push_back(&each);
  std::ranges::sort(in_order, {}, [](const Value* each) { return order_of(*each); });
  for (const Value* const each : in_order) listing.rows.push_back(row_of(*each));
  return listing;
}

}  // namespace berth
