#include "policy/object_reader.h"

#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/label_syntax.h"
#include "model/quantity.h"
#include "model/quota.h"

namespace berth {
namespace {

constexpr std::int64_t kMib = 1 << 20;

std::string listed(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

}  // namespace

std::string quantity_text(const Value& quantity) {
  if (quantity.is_integer()) return std::to_string(quantity.integer());
  if (quantity.kind() == Value::Kind::kNumber) return std::string(quantity.number_text());
  return std::string(quantity.text());
}

PolicyPlace ObjectReader::place(std::string field) const {
  PolicyPlace place;
  place.at.file = source_.file;
  if (source_.document != nullptr) {
    const std::string dot = source_.prefix.empty() || field.empty() ? "" : ".";
    place.at.line = source_.document->line_of(source_.prefix + dot + field);
  }
  const std::string_view home = object_["metadata"]["namespace"].text();
  const std::string named = (home.empty() ? "" : std::string(home) + "/") + name();
  place.object = std::string(object_["kind"].text()) + (named.empty() ? "" : " " + named);
  place.field = std::move(field);
  return place;
}

void ObjectReader::refuse(const std::string& field, std::string what, std::string why, std::string instead) {
  doubt(Severity::kError, "invalid", field, std::move(what), std::move(why), std::move(instead));
}

void ObjectReader::doubt(Severity severity, const std::string& rule, const std::string& field, std::string what,
                         std::string why, std::string instead) {
  parts_.findings.push_back({.severity = severity,
                             .rule = rule,
                             .place = place(field),
                             .queues = {name()},
                             .what = std::move(what),
                             .why = std::move(why),
                             .instead = std::move(instead)});
}

void ObjectReader::leave_out(const std::string& field, std::string why) {
  parts_.not_followed.push_back({place(field), std::move(why)});
}

const Value& ObjectReader::at(std::string_view field) const {
  const Value* value = &object_;
  while (!field.empty()) {
    const std::size_t dot = std::min(field.find('.'), field.size());
    value = &(*value)[field.substr(0, dot)];
    field.remove_prefix(std::min(dot + 1, field.size()));
  }
  return *value;
}

std::size_t ObjectReader::one_of(const std::string& field, std::initializer_list<std::string_view> words) {
  const Value& value = at(field);
  if (value.is_empty()) return 0;
  const auto* const found = std::find(words.begin(), words.end(), value.text());
  if (value.is_text() && found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const std::string written = value.is_text() ? std::string(value.text()) : to_json(value);
  const std::string_view near = nearest_word(written, words);
  refuse(field, quote(written) + " is none of its values", "",
         near.empty() ? "write one of " + listed(words) : "did you mean " + std::string(near) + "?");
  return 0;
}

std::string ObjectReader::text(const std::string& field) {
  const Value& value = at(field);
  if (value.is_text()) return std::string(value.text());
  if (!value.is_null()) refuse(field, quote(to_json(value)) + " is no text", "", "write a name");
  return "";
}

std::optional<std::int64_t> ObjectReader::amount(const Value& quantity, Resource resource, const std::string& field) {
  const std::string written = quantity_text(quantity);
  const Parsed<std::int64_t> parsed = resource == Resource::kMemory ? parse_bytes(written) : parse_milli(written);
  if (!parsed) {
    refuse(field, parsed.error(), "", "");
    return std::nullopt;
  }
  const std::int64_t amount = resource == Resource::kMemory ? *parsed / kMib + (*parsed % kMib > 0 ? 1 : 0) : *parsed;
  if (amount <= kAmountMax) return amount;
  refuse(field, quote(written) + " is more than any fleet has", "",
         "write less, or leave the amount out if there is no bound");
  return std::nullopt;
}

std::optional<std::int64_t> ObjectReader::weight_milli(const std::string& field, bool zero_means_least) {
  const Value& value = at(field);
  if (value.is_null()) return std::nullopt;
  const Parsed<std::int64_t> milli = parse_milli(quantity_text(value));
  if (milli && *milli >= 1 && *milli <= kWeightMilliMax) return *milli;
  if (milli && *milli == 0 && zero_means_least) {
    leave_out(field,
              "there is no weight 0: the queue has the least weight, 0.001, and is as good as last among "
              "those who borrow");
    return 1;
  }
  refuse(field, milli ? quote(quantity_text(value)) + " is out of range" : milli.error(), "",
         milli ? "only the ratios of weights count; write 0.001 to 1,000" : "");
  return std::nullopt;
}

std::optional<Resource> ObjectReader::counted_resource(std::string_view name, const std::string& field) {
  if (name == "nvidia.com/gpu") return Resource::kGpu;
  if (name == "cpu") return Resource::kCpu;
  if (name == "memory") return Resource::kMemory;
  if (name.starts_with("nvidia.com/mig-")) {
    refuse(
        field, quote(name) + " is an amount of slices (MIG), which objects of others do not have here",
        "to them slices are a resource beside GPUs, and here they are parts of GPUs, too",
        "write a Queue of berth.dev/v1alpha1 with an amount such as h100.mig-3g.40gb: 4, or give the amount in whole "
        "GPUs: nvidia.com/gpu");
  } else if (name == "nvidia.com/gpu.shared") {
    leave_out(field, "time-sliced replicas count towards no amount; work that asks for them is not bounded by it");
  } else {
    leave_out(field, quote(name) +
                         " is not counted: work may use any of it (counted are nvidia.com/gpu, cpu and "
                         "memory)");
  }
  return std::nullopt;
}

void ObjectReader::finish(const Value& map, const std::string& path, std::initializer_list<std::string_view> known) {
  for (const Value::Member& member : map.members()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::string_view near = nearest_word(member.key, known);
    leave_out(path + "." + member.key, near.empty()
                                           ? "there is no such field that is known"
                                           : "there is no such field; did you mean " + std::string(near) + "?");
  }
}

void ObjectReader::check_label(const std::string& field, const Value::Member& label) {
  if (label.value.is_text() && is_label_key(label.key) && is_label_value(label.value.text())) return;
  refuse(field, quote(label.key + "=" + std::string(label.value.text("?"))) + " is no label that a node can have",
         "the flavor would have no nodes",
         "write one such as example.com/pool: large; numbers and true or false in quotes");
}

}  // namespace berth
