#include "manifest/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <utility>

#include "base/assert.h"
#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/key_index.h"
#include "manifest/yaml_scalar.h"

namespace berth {

namespace {

// Of a text, so many bytes weigh as much as one value: otherwise a few aliases of one long text could fill the memory.
constexpr std::size_t kBytesPerValue = 64;

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

bool is_core_tag(std::string_view tag, std::string_view kind) {
  return tag.starts_with(kCoreTag) && tag.substr(kCoreTag.size()) == kind;
}

// Leaves the parser's events; caught in parse_yaml() and nowhere else.
struct Refusal {
  YAML::Mark mark;
  std::string text;
};

Place place_of(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {.file = file, .line = 0, .column = 0};
  return {.file = file, .line = mark.line + 1, .column = mark.column + 1};
}

// A complete value with what it costs to repeat it through an alias.
struct Node {
  Value value;
  std::size_t weight = 1;
  int height = 0;  // levels of lists and maps in it
};

class ValueBuilder : public YAML::EventHandler {
 public:
  // With `lines` the places of all fields are noted: one map for each document.
  ValueBuilder(YamlLimits limits, std::vector<Value>& documents, std::vector<YamlDocument>* lines)
      : limits_(limits), documents_(documents), lines_(lines) {}

  // Of ",*" the parser makes documents without end, all at one place.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos == last_document_) throw Refusal{mark, "this is no YAML; check for a ',' outside [] and {}"};
    last_document_ = mark.pos;
    anchored_.clear();
  }
  void OnDocumentEnd() override { BERTH_ASSERT(levels_.empty()); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (key_is_next()) throw Refusal{mark, "a key is empty; write a text before the ':'"};
    add(mark, anchor, count(mark, {}));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = read_scalar(mark, tag, text);
    if (key_is_next() && tag == "?" && text == "<<") {
      levels_.back().merge_is_next = true;
      levels_.back().key_read = true;
      return;
    }
    add(mark, anchor, count(mark, {std::move(value), 1 + text.size() / kBytesPerValue, 0}));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Refusal{mark, "an alias stands within what it names; write the value itself"};
    add(mark, YAML::NullAnchor, count(mark, found->second));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_collection_tag(mark, tag, "seq");
    enter(mark, anchor, Value::list());
  }
  void OnSequenceEnd() override { leave(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_collection_tag(mark, tag, "map");
    enter(mark, anchor, Value::map());
  }
  void OnMapEnd() override {
    Level& level = levels_.back();
    // The map's own keys win; of the merged ones the later map.
    for (const Value& merged : level.merged) {
      for (const Value::Member& member : merged.members()) {
        Value::Map& members = level.node.value.edit_members();
        const std::size_t place = level.index.place_of(members, member.key);
        if (place == members.size()) {
          members.push_back(member);
        } else if (place >= level.own_members) {
          members[place].value = member.value;
        }
      }
    }
    leave();
  }

 private:
  // A list or map whose end has not come yet.
  struct Level {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool key_read = false;  // of a map: a value comes next
    bool merge_is_next = false;
    std::size_t own_members = 0;
    std::vector<Value> merged;
    KeyIndex index;
  };

  bool key_is_next() const {
    return !levels_.empty() && levels_.back().node.value.is_map() && !levels_.back().key_read;
  }

  static Value read_scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text);
  static void check_collection_tag(const YAML::Mark& mark, const std::string& tag, std::string_view expected);
  void enter(const YAML::Mark& mark, YAML::anchor_t anchor, Value empty);
  void leave();
  Node count(const YAML::Mark& mark, Node node);
  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node);
  void add_key(const YAML::Mark& mark, const Value& key);
  void note_line(const YAML::Mark& mark);
  static void add_merged(const YAML::Mark& mark, Level& level, Value value);

  YamlLimits limits_;
  int last_document_ = -1;  // where it began
  std::vector<Value>& documents_;
  std::vector<YamlDocument>* lines_;
  YamlDocument noted_;  // of the document that is being read
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Node> anchored_;
  std::size_t weight_ = 0;
};

Value ValueBuilder::read_scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
  // The parser makes single bytes of these two escapes, which are no UTF-8.
  if (!is_utf8(text)) throw Refusal{mark, "the escapes \\N and \\_ are not supported; write \\u0085 and \\u00a0"};
  if (tag == "!" || is_core_tag(tag, "str")) return text;
  const bool plain = tag == "?" || tag.empty();
  Value value = read_plain_scalar(text);
  if (plain || tag.starts_with(kCoreTag)) {
    if (is_infinity_or_nan(text)) throw Refusal{mark, quote(text) + " is no number that an API object can hold"};
    const std::string_view kind = plain ? "" : std::string_view(tag).substr(kCoreTag.size());
    if (plain || (kind == "null" && value.is_null()) || (kind == "bool" && value.is_bool()) ||
        (kind == "int" && value.is_integer()) ||
        (kind == "float" && (value.is_integer() || value.kind() == Value::Kind::kNumber))) {
      return value;
    }
    if (kind == "null" || kind == "bool" || kind == "int" || kind == "float") {
      throw Refusal{mark, quote(text) + " does not fit its tag '!!" + std::string(kind) + "'; leave the tag out"};
    }
  }
  throw Refusal{mark, "the tag " + quote(tag) + " is not supported; leave it out"};
}

void ValueBuilder::check_collection_tag(const YAML::Mark& mark, const std::string& tag, std::string_view expected) {
  if (tag.empty() || tag == "?" || tag == "!" || is_core_tag(tag, expected)) return;
  throw Refusal{mark, "the tag " + quote(tag) + " is not supported; leave it out"};
}

Node ValueBuilder::count(const YAML::Mark& mark, Node node) {
  weight_ += node.weight;
  if (weight_ > limits_.values_max) {
    throw Refusal{mark, "the YAML holds more than " + std::to_string(limits_.values_max) +
                            " values, aliases counted by what they stand for; send less at once"};
  }
  if (std::cmp_greater(levels_.size() + static_cast<std::size_t>(node.height), limits_.depth_max)) {
    throw Refusal{mark,
                  "the YAML is nested deeper than " + std::to_string(limits_.depth_max) + " levels; write it flatter"};
  }
  return node;
}

void ValueBuilder::enter(const YAML::Mark& mark, YAML::anchor_t anchor, Value empty) {
  if (key_is_next())
    throw Refusal{
        mark, "a list or map is used as a key, or its bracket is not closed; close it, or write a text before the ':'"};
  Node node = count(mark, {std::move(empty), 1, 1});
  if (lines_ != nullptr && (levels_.empty() || levels_.back().node.value.is_list())) note_line(mark);
  levels_.emplace_back();
  levels_.back().node = std::move(node);
  levels_.back().mark = mark;
  levels_.back().anchor = anchor;
}

void ValueBuilder::leave() {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  add(level.mark, level.anchor, std::move(level.node));
}

void ValueBuilder::add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
  // The kept copy counts too: anchors within anchors would otherwise cost the square of what was written.
  if (anchor != YAML::NullAnchor) anchored_.insert_or_assign(anchor, count(mark, node));
  if (levels_.empty()) {
    if (lines_ != nullptr && !node.value.is_null()) lines_->push_back(noted_);
    if (!node.value.is_null()) documents_.push_back(std::move(node.value));
    return;
  }
  Level& level = levels_.back();
  level.node.weight += node.weight;
  if (level.node.value.is_list()) {
    level.node.height = std::max(level.node.height, node.height + 1);
    level.node.value.push_back(std::move(node.value));
  } else if (!level.key_read) {
    add_key(mark, node.value);
  } else if (std::exchange(level.merge_is_next, false)) {
    level.key_read = false;
    level.node.height = std::max(level.node.height, node.height);
    add_merged(mark, level, std::move(node.value));
  } else {
    level.key_read = false;
    level.node.height = std::max(level.node.height, node.height + 1);
    level.node.value.edit_members().back().value = std::move(node.value);
  }
}

// Keys of other kinds become texts as kubectl makes them: 8080: -> "8080", yes: -> "true".
void ValueBuilder::add_key(const YAML::Mark& mark, const Value& key) {
  if (key.is_null() || key.is_list() || key.is_map()) {
    throw Refusal{mark, "a key is neither a text nor a number; write a text before the ':'"};
  }
  Level& level = levels_.back();
  std::string text = key.is_text() ? std::string(key.text()) : to_json(key);
  Value::Map& members = level.node.value.edit_members();
  if (level.index.place_of(members, text) < members.size()) {
    throw Refusal{mark, "the key " + quote(text) + " is given twice in one map; write it once"};
  }
  members.push_back({std::move(text), Value()});
  level.own_members = members.size();
  level.key_read = true;
  if (lines_ != nullptr) note_line(mark);
}

// Of what begins here: the document, an item of a list, or the key that was read last.
void ValueBuilder::note_line(const YAML::Mark& mark) {
  if (levels_.empty()) {
    noted_ = {};
    noted_.line = mark.line + 1;
    return;
  }
  std::string path;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const Value& value = levels_[i].node.value;
    if (value.is_list()) {
      path += "[" + std::to_string(value.items().size()) + "]";
    } else if (!value.members().empty()) {
      path += (path.empty() ? "" : ".") + value.members().back().key;
    }
  }
  noted_.lines.emplace(std::move(path), mark.line + 1);
}

void ValueBuilder::add_merged(const YAML::Mark& mark, Level& level, Value value) {
  const auto refuse = [&] { throw Refusal{mark, "'<<' does not name a map or a list of maps; write <<: *anchor"}; };
  if (value.is_map()) {
    level.merged.push_back(std::move(value));
    return;
  }
  if (!value.is_list()) refuse();
  for (Value& item : value.edit_items()) {
    if (!item.is_map()) refuse();
    level.merged.push_back(std::move(item));
  }
}

// What the parser would take for something else in silence: bytes that are no UTF-8 (it guesses other encodings, and
// replaces) and control characters (it takes one for the end).
Complaints check_characters(std::string_view text, const std::string& file) {
  Place place{.file = file, .line = 1, .column = 1};
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const std::size_t size = c < 0x80 ? 1 : utf8_character(text.substr(at));
    if (size == 0) return {place, "the text is not valid UTF-8 here; save it in UTF-8"};
    if (c < 0x20 && c != '\n' && c != '\r' && c != '\t') {
      return {place, "a control character stands here; write it as an escape in double quotes, such as \"\\x07\""};
    }
    at += size;
    place.column += static_cast<std::int64_t>(size);
    if (c == '\n') place = {.file = file, .line = place.line + 1, .column = 1};
  }
  return {};
}

Result<std::vector<Value>> parse_documents(std::string_view text, const std::string& file, YamlLimits limits,
                                           std::vector<YamlDocument>* lines) {
  if (Complaints complaints = check_characters(text, file); !complaints.empty()) return complaints;
  // JSON's escapes are not all YAML's, and its own parser is fifty times as fast.
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && text[start] == '{') {
    Result<Value> json = parse_json(text, {.depth_max = limits.depth_max, .values_max = limits.values_max});
    if (json) return std::vector<Value>{std::move(*json)};
  }
  std::vector<Value> documents;
  ValueBuilder builder(limits, documents, lines);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return Complaints(place_of(file, refusal.mark), refusal.text);
  } catch (const YAML::Exception& error) {
    return Complaints(place_of(file, error.mark), "this is no YAML: " + error.msg + "; check indentation and quotes");
  }
  return documents;
}

}  // namespace

Result<std::vector<Value>> parse_yaml(std::string_view text, const std::string& file, YamlLimits limits) {
  return parse_documents(text, file, limits, nullptr);
}

Result<std::vector<YamlDocument>> parse_yaml_with_lines(std::string_view text, const std::string& file,
                                                        YamlLimits limits) {
  std::vector<YamlDocument> documents;
  Result<std::vector<Value>> values = parse_documents(text, file, limits, &documents);
  if (!values) return std::move(values.error());
  documents.resize(values->size());
  for (std::size_t i = 0; i < documents.size(); ++i) documents[i].value = std::move((*values)[i]);
  return documents;
}

std::int64_t YamlDocument::line_of(std::string_view field) const {
  while (!field.empty()) {
    const auto found = lines.find(field);
    if (found != lines.end()) return found->second;
    const std::size_t end = field.find_last_of(".[");
    field = field.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return line;
}

}  // namespace berth
