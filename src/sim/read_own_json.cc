// Berth's own JSON: {"nodes": [{...}], "jobs": [{...}]} with the names of the own tables' columns as keys, or one bare list.
// simdjson reads on demand: the list that is asked for is read closely; of the other one it is only seen that it is a list
// of objects, and JSON to its end, because whoever half wrote one list is not trusted with the other.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "base/wording.h"
#include "sim/own_rows.h"
#include "sim/readers.h"
#include "sim/table.h"

namespace berth {

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

constexpr std::array<std::string_view, 2> kListNames = {"nodes", "jobs"};
// How deep lists and objects may stand in each other in what is only walked through: the walk must not use up the stack.
constexpr int kDepthMax = 64;

std::string_view kind_of(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::array:
      return "a list";
    case ondemand::json_type::object:
      return "an object";
    case ondemand::json_type::number:
      return "a number";
    case ondemand::json_type::string:
      return "a string";
    case ondemand::json_type::boolean:
      return "true or false";
    case ondemand::json_type::null:
      return "null";
  }
  return "something else";
}

// JSON's grammar of numbers; simdjson checks it only for those that it converts, and we take none through a float.
bool is_json_number(std::string_view text) {
  const auto digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero_first = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero_first && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

class JsonReader {
 public:
  // `list` is "nodes" or "jobs": which one is wanted.
  JsonReader(std::string_view file_name, std::string_view text, std::string_view list, const TableFormat& format,
             Complaints& complaints)
      : file_name_(file_name),
        json_(without_byte_order_mark(text)),
        list_(list),
        format_(format),
        complaints_(complaints),
        line_start_(json_.data()),
        counted_(json_.data()) {}

  // Calls read_entry(fields) for every entry of the list; false from it stops.
  template <class ReadEntry>
  void read(ReadEntry read_entry) {
    ondemand::document document;
    if (failed(parser_.iterate(json_).get(document))) return;
    document_ = &document;
    ondemand::json_type type{};
    if (failed(document.type().get(type))) return;
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      if (failed(document.get_object().get(object)) || !read_lists(object, read_entry)) return;
    } else if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (failed(document.get_array().get(array)) || !read_list(array, json_.data(), read_entry)) return;
    } else {
      return complain(json_.data(), "this is " + std::string(kind_of(type)) + "; write {\"" + list_ + "\": [...]}");
    }
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS)
      complain(rest, "there is more after the end of the JSON; take it away");
  }

 private:
  // These return false when the JSON is broken and nothing after this place can be understood.
  template <class ReadEntry>
  bool read_lists(ondemand::object& object, ReadEntry& read_entry) {
    std::array<bool, 2> seen{};
    for (auto next : object) {
      ondemand::field field;
      std::string_view key;
      const char* key_start = nullptr;
      if (failed(std::move(next).get(field)) || !read_key(field, key, key_start)) return false;
      const auto known = std::ranges::find(kListNames, key);
      if (known == kListNames.end()) {
        complain_about_key(key_start, key, kListNames);
        continue;
      }
      bool& this_seen = seen[static_cast<std::size_t>(known - kListNames.begin())];
      if (this_seen) complain(key_start, "key " + quote(key) + " is there twice; keep one of them");
      const bool first = !this_seen;
      this_seen = true;
      if (!first) continue;
      ondemand::json_type type{};
      const char* const value_start = start_of(field.value());
      if (failed(field.value().type().get(type))) return false;
      if (type != ondemand::json_type::array) {
        complain(value_start,
                 std::string(*known) + ": this is " + std::string(kind_of(type)) + "; write a list of objects");
        continue;
      }
      ondemand::array array;
      if (failed(field.value().get_array().get(array))) return false;
      if (!(*known == list_ ? read_list(array, value_start, read_entry) : walk_list(array, *known))) return false;
    }
    if (!seen[list_ == kListNames[0] ? 0 : 1]) {
      complain(json_.data(), "there is no key '" + list_ + "'; write {\"" + list_ + "\": [...]}");
    }
    return true;
  }

  template <class ReadEntry>
  bool read_list(ondemand::array& array, const char* start, ReadEntry& read_entry) {
    bool any = false;
    for (auto next : array) {
      any = true;
      ondemand::value value;
      ondemand::json_type type{};
      if (failed(std::move(next).get(value)) || failed(value.type().get(type))) return false;
      const char* const value_start = start_of(value);
      if (type != ondemand::json_type::object) {
        complain(value_start, list_ + ": this is " + std::string(kind_of(type)) + "; write an object with " +
                                  listed(format_.columns));
        continue;
      }
      const std::size_t complaints_before = complaints_.count();
      std::vector<CsvField> fields(format_.columns.size());
      joined_.clear();
      const CsvField entry_start = field_at(value_start, {});
      ondemand::object object;
      if (failed(value.get_object().get(object)) || !read_fields(object, fields)) return false;
      std::string missing;
      for (std::size_t i = 0; i < format_.required; ++i) {
        // Wrongly typed ones are not missing; they have been complained about.
        if (fields[i].line == 0 && complaints_.count() == complaints_before) {
          missing += (missing.empty() ? "" : ", ") + quote(format_.columns[i]);
        }
      }
      if (!missing.empty()) {
        complaints_.add(
            {file_name_, entry_start.line, entry_start.column},
            list_ + ": missing " + missing + "; an entry needs " + listed(format_.columns.first(format_.required)));
      }
      if (complaints_.count() == complaints_before && !read_entry(fields)) return false;
    }
    if (!any) complain(start, "the list of " + list_ + " is empty; write an object for each");
    return true;
  }

  // The list that is not wanted.
  bool walk_list(ondemand::array& array, std::string_view name) {
    for (auto next : array) {
      ondemand::value value;
      ondemand::json_type type{};
      if (failed(std::move(next).get(value)) || failed(value.type().get(type))) return false;
      if (type != ondemand::json_type::object) {
        complain(start_of(value),
                 std::string(name) + ": this is " + std::string(kind_of(type)) + "; write an object for each");
      }
      if (!walk(value, type, 1)) return false;
    }
    return true;
  }

  // Through all of a value, because simdjson checks only what is asked for.
  bool walk(ondemand::value& value, ondemand::json_type type, int depth) {
    const char* const start = start_of(value);
    if (depth > kDepthMax) {
      complain(start, "lists and objects in each other, more than " + std::to_string(kDepthMax) + " deep");
      return false;
    }
    ondemand::array array;
    ondemand::object object;
    std::string_view text;
    bool truth = false;
    switch (type) {
      case ondemand::json_type::array:
        if (failed(value.get_array().get(array))) return false;
        for (auto next : array) {
          ondemand::value element;
          if (failed(std::move(next).get(element)) || failed(element.type().get(type))) return false;
          if (!walk(element, type, depth + 1)) return false;
        }
        return true;
      case ondemand::json_type::object:
        if (failed(value.get_object().get(object))) return false;
        for (auto next : object) {
          ondemand::field field;
          if (failed(std::move(next).get(field)) || failed(field.unescaped_key().get(text))) return false;
          if (failed(field.value().type().get(type)) || !walk(field.value(), type, depth + 1)) return false;
        }
        return true;
      case ondemand::json_type::number:
        if (is_json_number(number_token(value))) return true;
        complain(start, quote(number_token(value)) + " is not a number");
        return false;
      case ondemand::json_type::string:
        return !failed(value.get_string().get(text));
      case ondemand::json_type::boolean:
        return !failed(value.get_bool().get(truth));
      case ondemand::json_type::null:
        if (failed(value.is_null().get(truth))) return false;
        if (!truth) complain(start, "this is not JSON: neither null nor anything else");
        return truth;
    }
    return !failed(simdjson::TAPE_ERROR);
  }

  bool read_fields(ondemand::object& object, std::vector<CsvField>& fields) {
    std::vector<bool> seen(fields.size());
    for (auto next : object) {
      ondemand::field field;
      std::string_view key;
      const char* key_start = nullptr;
      if (failed(std::move(next).get(field)) || !read_key(field, key, key_start)) return false;
      const auto known = std::ranges::find(format_.columns, key);
      if (known == format_.columns.end()) {
        complain_about_key(key_start, key, format_.columns);
        continue;
      }
      const auto column = static_cast<std::size_t>(known - format_.columns.begin());
      if (seen[column]) {
        complain(key_start, "key " + quote(key) + " is there twice; keep one of them");
        continue;
      }
      seen[column] = true;
      if (!read_value(field.value(), key, fields[column])) return false;
    }
    return true;
  }

  // A number keeps its text: amounts never pass through a float.
  bool read_value(ondemand::value& value, std::string_view key, CsvField& field) {
    const char* const start = start_of(value);
    ondemand::json_type type{};
    if (failed(value.type().get(type))) return false;
    const bool is_text = key == "name" || key == "queue" || key == "user" || key == "gpu_model" || key == "gpu_models";
    const bool is_number = key == "submit_s" || key == "run_s" || key == "pods";
    if (type == ondemand::json_type::number && !is_text) {
      const std::string_view token = number_token(value);
      if (!is_json_number(token)) {
        complain(start, std::string(key) + ": " + quote(token) + " is not a number");
        return false;
      }
      field = field_at(start, token);
    } else if (type == ondemand::json_type::string && !is_number) {
      std::string_view text;
      if (failed(value.get_string().get(text))) return false;
      field = field_at(start, text);
    } else if (type == ondemand::json_type::array && key == "gpu_models") {
      return read_models(value, start, field);
    } else {
      const std::string_view wanted = key == "gpu_models" ? "a list of strings"
                                      : is_text           ? "a string"
                                      : is_number         ? "a number"
                                                          : "a number or a string";
      complain(start, std::string(key) + ": this is " + std::string(kind_of(type)) + "; write " + std::string(wanted));
    }
    return true;
  }

  // As the tables have them: "A|B".
  bool read_models(ondemand::value& value, const char* start, CsvField& field) {
    std::string& models = joined_.emplace_back();
    ondemand::array array;
    if (failed(value.get_array().get(array))) return false;
    for (auto next : array) {
      ondemand::value model;
      ondemand::json_type type{};
      if (failed(std::move(next).get(model)) || failed(model.type().get(type))) return false;
      if (type != ondemand::json_type::string) {
        complain(start_of(model), "gpu_models: this is " + std::string(kind_of(type)) + "; write a list of strings");
        continue;
      }
      std::string_view text;
      const char* const model_start = start_of(model);
      if (failed(model.get_string().get(text))) return false;
      if (text.empty()) {
        complain(model_start,
                 "gpu_models: '' is no GPU type; write one such as H100, or an empty list where any will do");
      }
      if (!models.empty()) models += '|';
      models += text;
    }
    field = field_at(start, models);
    return true;
  }

  bool read_key(ondemand::field& field, std::string_view& key, const char*& start) {
    start = field.key().raw() - 1;  // from its quote on
    return !failed(field.unescaped_key().get(key));
  }

  const char* start_of(ondemand::value& value) const { return value.raw_json_token().data(); }

  std::string_view number_token(ondemand::value& value) const {
    std::string_view token = value.raw_json_token();
    while (!token.empty() && std::string_view(" \t\r\n").contains(token.back())) token.remove_suffix(1);
    return token;
  }

  void complain_about_key(const char* at, std::string_view key, std::span<const std::string_view> known) {
    const std::string_view near = nearest_word(key, known);
    complain(at, "key " + quote(key) + " is unknown; " + (near.empty() ? "" : "did you mean " + quote(near) + "? ") +
                     "Known: " + listed(known));
  }

  void complain(const char* at, std::string text) {
    const CsvField field = field_at(at, {});
    complaints_.add({file_name_, field.line, field.column}, std::move(text));
  }

  bool failed(error_code error) {
    if (error == simdjson::SUCCESS) return false;
    std::string text = std::string("this is not JSON: ") + simdjson::error_message(error);
    const char* at = nullptr;
    if (error == simdjson::INCOMPLETE_ARRAY_OR_OBJECT) {
      const std::string_view all(json_.data(), json_.size());
      at = all.data() + all.find_last_not_of(" \t\r\n");
      text = "this is not JSON: it is cut here, or something follows its end";
    } else if (document_ != nullptr && document_->current_location().get(at) != simdjson::SUCCESS) {
      at = json_.data() + json_.size();
    }
    if (at == nullptr) {
      complaints_.add({file_name_, 0, 0}, text);
    } else {
      complain(at, text);
    }
    return true;
  }

  // Counts lines from where it last was: entries are visited in the order of the file.
  CsvField field_at(const char* at, std::string_view text) {
    const char* const begin = json_.data();
    at = std::clamp(at, begin, begin + json_.size());
    if (at < counted_) {
      counted_ = line_start_ = begin;
      line_ = 1;
    }
    for (; counted_ < at; ++counted_) {
      if (*counted_ == '\n') {
        ++line_;
        line_start_ = counted_ + 1;
      }
    }
    return {text, line_, at - line_start_ + 1};
  }

  std::string file_name_;
  simdjson::padded_string json_;
  std::string list_;
  const TableFormat& format_;
  Complaints& complaints_;
  ondemand::parser parser_;
  ondemand::document* document_ = nullptr;
  std::deque<std::string> joined_;  // of the current entry
  const char* line_start_;
  const char* counted_;
  std::int64_t line_ = 1;
};

template <class Entry, class ReadEntry>
Result<std::vector<Entry>> read_json(std::string_view file_name, std::string_view text, std::string_view list,
                                     const TableFormat& format, ReadEntry read_entry) {
  Complaints complaints;
  FieldParser parser(file_name, complaints);
  std::vector<Entry> entries;
  JsonReader reader(file_name, text, list, format, complaints);
  reader.read([&](std::span<const CsvField> fields) {
    if (!parser.count_row(fields[0])) return false;
    Entry entry = read_entry(fields, parser);
    if (complaints.empty()) entries.push_back(std::move(entry));
    return true;
  });
  if (!complaints.empty()) return complaints;
  return entries;
}

}  // namespace

Result<std::vector<TraceNode>> read_own_json_nodes(std::string_view file_name, std::string_view text) {
  return read_json<TraceNode>(file_name, text, "nodes", kOwnNodes, read_own_node);
}

Result<std::vector<TraceJob>> read_own_json_jobs(std::string_view file_name, std::string_view text) {
  return read_json<TraceJob>(file_name, text, "jobs", kOwnJobs, read_own_job);
}

}  // namespace berth
