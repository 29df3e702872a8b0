#include "manifest/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/wording.h"
#include "manifest/key_index.h"

namespace berth {

namespace {

constexpr std::size_t kDuplicatesMax = 100;
constexpr std::size_t kPathMax = 1024;  // of a key given twice: enough to find it

// Bytes of a text that stand for themselves: neither quote, backslash nor control character, and ASCII.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool is_plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }
bool is_json_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<unsigned> hex_digit(char c) {
  if (is_json_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

void append_utf8(unsigned point, std::string& out) {
  const auto byte = [&out](unsigned bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xc0 | (point >> 6));
    byte(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    byte(0xe0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3f));
    byte(0x80 | (point & 0x3f));
  } else {
    byte(0xf0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3f));
    byte(0x80 | ((point >> 6) & 0x3f));
    byte(0x80 | (point & 0x3f));
  }
}

Place place_in(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0: the first line
  return {.file = "",
          .line = std::ranges::count(before, '\n') + 1,
          .column = static_cast<std::int64_t>(at - line_start) + 1};
}

// Recursive descent, as deep as the limit allows. Every read_...() returns false after it noted the complaint.
class JsonReader {
 public:
  JsonReader(std::string_view text, JsonLimits limits, std::vector<std::string>* duplicates)
      : text_(text), limits_(limits), duplicates_(duplicates) {}

  Result<Value> read() {
    Value value;
    if (!read_value(value)) return std::move(complaints_);
    skip_space();
    if (at_ < text_.size()) {
      fail(at_, "more follows after the end of the JSON document; send one document");
      return std::move(complaints_);
    }
    return value;
  }

 private:
  // A list or map that is being read, and where in it: keys stand still while their value is read.
  struct Level {
    const std::string* key = nullptr;
    std::size_t index = 0;
  };

  bool read_value(Value& out);
  bool read_list(Value& out);
  bool read_map(Value& out);
  bool read_member(Value::Map& members, KeyIndex& index);
  bool read_text(std::string& out);
  bool read_escape(std::string& out);
  bool read_surrogate_pair(unsigned high, std::string& out);
  std::optional<unsigned> read_hex4();
  bool read_number(Value& out);
  bool read_word(std::string_view word, Value value, Value& out);
  bool enter();
  bool note_duplicate(std::size_t at);
  std::string path() const;

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  // The next character that is no space; 0 at the end.
  char peek() {
    skip_space();
    return here();
  }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::size_t skip_digits() {
    const std::size_t start = at_;
    while (is_json_digit(here())) ++at_;
    return at_ - start;
  }
  bool fail(std::size_t at, std::string text) {
    complaints_.add(place_in(text_, at), std::move(text));
    return false;
  }
  bool fail_expecting(std::string_view what) {
    if (at_ >= text_.size()) return fail(at_, "the JSON ends where " + std::string(what) + " is expected");
    const std::size_t size = std::max(utf8_character(text_.substr(at_)), std::size_t{1});
    return fail(at_, quote(text_.substr(at_, size)) + " stands where " + std::string(what) + " is expected");
  }

  std::string_view text_;
  JsonLimits limits_;
  std::vector<std::string>* duplicates_;  // null: a key given twice is a complaint
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::vector<Level> levels_;
  Complaints complaints_;
};

bool JsonReader::read_value(Value& out) {
  const char first = peek();
  if (++values_ > limits_.values_max) {
    return fail(at_, "the JSON holds more than " + std::to_string(limits_.values_max) + " values; send less at once");
  }
  switch (first) {
    case '{':
      return read_map(out);
    case '[':
      return read_list(out);
    case '"': {
      std::string text;
      if (!read_text(text)) return false;
      out = Value(std::move(text));
      return true;
    }
    case 't':
      return read_word("true", true, out);
    case 'f':
      return read_word("false", false, out);
    case 'n':
      return read_word("null", nullptr, out);
    default:
      return first == '-' || is_json_digit(first) ? read_number(out) : fail_expecting("a JSON value");
  }
}

bool JsonReader::read_word(std::string_view word, Value value, Value& out) {
  if (!text_.substr(at_).starts_with(word)) return fail_expecting("a JSON value");
  at_ += word.size();
  out = std::move(value);
  return true;
}

bool JsonReader::enter() {
  if (std::cmp_greater_equal(levels_.size(), limits_.depth_max)) {
    return fail(at_,
                "the JSON is nested deeper than " + std::to_string(limits_.depth_max) + " levels; write it flatter");
  }
  levels_.emplace_back();
  ++at_;
  return true;
}

bool JsonReader::read_list(Value& out) {
  if (!enter()) return false;
  Value::List& items = out.edit_items();
  if (peek() != ']') {
    while (true) {
      levels_.back().index = items.size();
      if (!read_value(items.emplace_back())) return false;
      if (peek() != ',') break;
      ++at_;
    }
    if (peek() != ']') return fail_expecting("',' or ']'");
  }
  ++at_;
  levels_.pop_back();
  return true;
}

bool JsonReader::read_map(Value& out) {
  if (!enter()) return false;
  Value::Map& members = out.edit_members();
  KeyIndex index;
  if (peek() != '}') {
    while (true) {
      if (!read_member(members, index)) return false;
      if (peek() != ',') break;
      ++at_;
    }
    if (peek() != '}') return fail_expecting("',' or '}'");
  }
  ++at_;
  levels_.pop_back();
  return true;
}

bool JsonReader::read_member(Value::Map& members, KeyIndex& index) {
  if (peek() != '"') return fail_expecting("a key in double quotes");
  const std::size_t key_at = at_;
  std::string key;
  if (!read_text(key)) return false;
  const std::size_t place = index.place_of(members, key);
  const bool again = place < members.size();
  if (!again) members.push_back({std::move(key), Value()});
  Value::Member& member = members[place];
  levels_.back().key = &member.key;
  if (again && !note_duplicate(key_at)) return false;
  if (peek() != ':') return fail_expecting("':'");
  ++at_;
  if (again) member.value = Value();
  return read_value(member.value);
}

bool JsonReader::note_duplicate(std::size_t at) {
  if (duplicates_ == nullptr) return fail(at, "the field " + quote(path()) + " is given twice; write it once");
  if (duplicates_->size() < kDuplicatesMax) duplicates_->push_back(path());
  return true;
}

std::string JsonReader::path() const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.key == nullptr) {
      path += "[" + std::to_string(level.index) + "]";
    } else {
      if (!path.empty()) path += '.';
      path += *level.key;
    }
    if (path.size() <= kPathMax) continue;
    std::size_t end = kPathMax;
    while ((static_cast<unsigned char>(path[end]) & 0xc0) == 0x80) --end;  // not within a character
    return path.substr(0, end) + "...";
  }
  return path;
}

// PRE: at the opening quote. Runs of plain characters are copied at once.
bool JsonReader::read_text(std::string& out) {
  const std::size_t start = at_++;
  while (true) {
    const std::size_t run = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80) {
      const std::size_t size = utf8_character(text_.substr(at_));
      if (size == 0) return fail(at_, "the text is not valid UTF-8 here; write it in UTF-8");
      at_ += size;
    }
    out.append(text_, run, at_ - run);
    if (at_ >= text_.size()) return fail(start, "the text that begins here has no closing quote");
    const char c = text_[at_];
    if (is_plain(c)) continue;
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c != '\\')
      return fail(at_, "a control character stands in a text; write it as an escape, such as \\n or \\u0000");
    if (!read_escape(out)) return false;
  }
}

bool JsonReader::read_escape(std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const std::size_t start = at_++;
  const char letter = here();
  if (const std::size_t known = kLetters.find(letter); known != std::string_view::npos) {
    out += kMeant[known];
    ++at_;
    return true;
  }
  if (letter != 'u') return fail(start, "a text holds an unknown escape; write \\\\ for a backslash");
  ++at_;
  const std::optional<unsigned> point = read_hex4();
  if (!point) return fail(start, "\\u is not followed by four hexadecimal digits");
  if (*point >= 0xd800 && *point < 0xe000) {
    return read_surrogate_pair(*point, out) || fail(start, "half of a surrogate pair stands alone; write both halves");
  }
  append_utf8(*point, out);
  return true;
}

bool JsonReader::read_surrogate_pair(unsigned high, std::string& out) {
  if (high >= 0xdc00 || !text_.substr(at_).starts_with("\\u")) return false;
  at_ += 2;
  const std::optional<unsigned> low = read_hex4();
  if (!low || *low < 0xdc00 || *low >= 0xe000) return false;
  append_utf8(0x10000 + ((high - 0xd800) << 10) + (*low - 0xdc00), out);
  return true;
}

std::optional<unsigned> JsonReader::read_hex4() {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const std::optional<unsigned> digit = hex_digit(here());
    if (!digit) return std::nullopt;
    value = value * 16 + *digit;
  }
  return value;
}

bool JsonReader::read_number(Value& out) {
  const std::size_t start = at_;
  if (here() == '-') ++at_;
  const bool leading_zero = here() == '0';
  const std::size_t digits = skip_digits();
  if (digits == 0) return fail_expecting("a digit");
  if (leading_zero && digits > 1) return fail(start, "a number begins with 0; write it without leading zeros");
  bool whole = true;
  if (here() == '.') {
    whole = false;
    ++at_;
    if (skip_digits() == 0) return fail_expecting("a digit");
  }
  if (here() == 'e' || here() == 'E') {
    whole = false;
    ++at_;
    if (here() == '+' || here() == '-') ++at_;
    if (skip_digits() == 0) return fail_expecting("a digit");
  }
  const std::string_view written = text_.substr(start, at_ - start);
  std::int64_t integer = 0;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), integer);
  out = whole && read.ec == std::errc() ? Value(integer) : Value::number(std::string(written));
  return true;
}

void append_line(std::string& out, int indent, int depth) {
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

// Where PRETTY, each member and item on a line of its own.
template <bool kPretty>
void write_json(const Value& value, std::string& out, int indent, int depth) {
  const auto begin_line = [&](int at_depth) {
    if constexpr (kPretty) append_line(out, indent, at_depth);
  };
  bool first = true;
  switch (value.kind()) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.truth() ? "true" : "false";
      return;
    case Value::Kind::kInteger:
      out += std::to_string(value.integer());
      return;
    case Value::Kind::kNumber:
      out += value.number_text();
      return;
    case Value::Kind::kText:
      append_json_text(value.text(), out);
      return;
    case Value::Kind::kList:
      out += '[';
      for (const Value& item : value.items()) {
        if (!std::exchange(first, false)) out += ',';
        begin_line(depth + 1);
        write_json<kPretty>(item, out, indent, depth + 1);
      }
      if (!first) begin_line(depth);
      out += ']';
      return;
    case Value::Kind::kMap:
      out += '{';
      for (const Value::Member& member : value.members()) {
        if (!std::exchange(first, false)) out += ',';
        begin_line(depth + 1);
        append_json_text(member.key, out);
        out += kPretty ? ": " : ":";
        write_json<kPretty>(member.value, out, indent, depth + 1);
      }
      if (!first) begin_line(depth);
      out += '}';
      return;
  }
}

void append_escape(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 0xfU];
  }
}

}  // namespace

Result<Value> parse_json(std::string_view text, JsonLimits limits) { return JsonReader(text, limits, nullptr).read(); }

Result<Value> parse_json_noting_duplicates(std::string_view text, JsonLimits limits,
                                           std::vector<std::string>& duplicates) {
  return JsonReader(text, limits, &duplicates).read();
}

void append_json(const Value& value, std::string& out) { write_json<false>(value, out, 0, 0); }

void append_json_text(std::string_view text, std::string& out) {
  out += '"';
  std::size_t run = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (is_plain(text[at])) {
      ++at;
      continue;
    }
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    const std::size_t size = ascii ? 0 : utf8_character(text.substr(at));
    if (size > 0) {
      at += size;
      continue;
    }
    out.append(text, run, at - run);
    // What is no UTF-8 cannot be said in JSON: U+FFFD stands in, so that what we send can always be read.
    if (ascii) {
      append_escape(text[at], out);
    } else {
      out += "\xef\xbf\xbd";
    }
    run = ++at;
  }
  out.append(text, run, text.size() - run);
  out += '"';
}

std::string to_json(const Value& value) {
  std::string out;
  append_json(value, out);
  return out;
}

std::string to_pretty_json(const Value& value, int indent) {
  std::string out;
  write_json<true>(value, out, indent, 0);
  return out;
}

}  // namespace berth
