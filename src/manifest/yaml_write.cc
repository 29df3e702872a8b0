#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/value.h"
#include "manifest/yaml.h"
#include "manifest/yaml_scalar.h"

namespace berth {

namespace {

// Parsers look for the ':' of a simple key so far and no farther.
constexpr std::size_t kSimpleKeyMax = 1000;

void append_spaces(std::string& out, int count) { out.append(static_cast<std::size_t>(count), ' '); }

bool is_plain_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Whether YAML would read something else than this text: a number, a bool, a time, a merge key.
bool means_something_else(std::string_view text) {
  if (!read_plain_scalar(text).is_text() || is_infinity_or_nan(text) || text == "<<" || text == "=") return true;
  // Times ("2026-11-21...") and numbers to the base of 60 ("12:30:45") of older readers.
  const std::size_t digits = std::min(text.find_first_not_of("+-0123456789"), text.size());
  return digits > 0 && (digits == text.size() || text[digits] == ':' || (digits > 4 && text[4] == '-'));
}

bool can_stand_plain(std::string_view text) {
  const auto starts_well = [](char c) { return is_plain_character(c) || c == '_' || c == '/' || c == '.' || c == '+'; };
  const auto is_harmless = [](char c) {
    return is_plain_character(c) || std::string_view(" _/.+-:=@()%~^$;<>|&!?*").contains(c);
  };
  return !text.empty() && starts_well(text[0]) && std::ranges::all_of(text, is_harmless) && text.back() != ' ' &&
         text.back() != ':' && !text.contains(": ") && !text.starts_with("...");
}

// What YAML cannot hold as it is, or takes for an end of line.
bool needs_escapes(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_character(text.substr(at));
    if (size == 0) return true;
    const std::string_view character = text.substr(at, size);
    if (character != "\n" && has_control_characters(character)) return true;
    if (character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9" || character == "\xef\xbb\xbf") return true;
    at += size;
  }
  return false;
}

// The text in double quotes with JSON's escapes, all of which YAML knows; and those for what only YAML minds.
void append_escaped(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string json;
  append_json_text(text, json);
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t size = utf8_character(std::string_view(json).substr(at));
    const std::string_view character = std::string_view(json).substr(at, size);
    at += size;
    const auto last = static_cast<unsigned char>(character.back());
    if (character == "\xe2\x80\xa8") {
      out += "\\u2028";
    } else if (character == "\xe2\x80\xa9") {
      out += "\\u2029";
    } else if (character == "\xef\xbb\xbf") {
      out += "\\ufeff";
    } else if (has_control_characters(character)) {
      out += std::string("\\u00") + kHex[last >> 4U] + kHex[last & 0xfU];
    } else {
      out += character;
    }
  }
}

// On one line, in the lightest quotes that keep it the same text.
void append_inline(std::string_view text, std::string& out) {
  if (text.contains('\n') || needs_escapes(text) || means_something_else(text)) {
    append_escaped(text, out);
  } else if (can_stand_plain(text)) {
    out += text;
  } else {
    out += '\'';
    for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
    out += '\'';
  }
}

// Whether a text of several lines can stand as it is, below a '|'.
bool can_stand_as_block(std::string_view text) {
  const std::size_t first_line = text.find('\n');
  return first_line != std::string_view::npos && text[0] != ' ' && text[0] != '\n' && !text.ends_with("\n\n") &&
         !text.contains(" \n") && !text.ends_with(' ') && !needs_escapes(text);
}

void append_block(std::string_view text, int indent, std::string& out) {
  const bool ends_line = text.ends_with('\n');
  out += ends_line ? "|" : "|-";
  if (ends_line) text.remove_suffix(1);
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += '\n';
    if (end > 0) append_spaces(out, indent);
    out += text.substr(0, end);
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

// A value that needs no lines of its own, and the end of its line.
void append_scalar(const Value& value, int indent, std::string& out) {
  if (value.is_list()) {
    out += "[]";
  } else if (value.is_map()) {
    out += "{}";
  } else if (!value.is_text()) {
    append_json(value, out);
  } else if (can_stand_as_block(value.text())) {
    append_block(value.text(), indent, out);
  } else {
    append_inline(value.text(), out);
  }
  out += '\n';
}

bool has_lines(const Value& value) { return (value.is_list() || value.is_map()) && !value.is_empty(); }

void append_lines(const Value& value, int indent, std::string& out);

void append_member(const Value::Member& member, int indent, std::string& out) {
  std::string key;
  append_inline(member.key, key);
  if (key.size() > kSimpleKeyMax) {
    out.append("? ").append(key).append("\n");
    append_spaces(out, indent);
  } else {
    out += key;
  }
  out += ':';
  if (!has_lines(member.value)) {
    out += ' ';
    append_scalar(member.value, indent + 2, out);
    return;
  }
  // Items stand below their key without an indent, as kubectl prints them.
  const int inner = member.value.is_list() ? indent : indent + 2;
  out += '\n';
  append_spaces(out, inner);
  append_lines(member.value, inner, out);
}

// PRE: the line stands at `indent` already.
void append_lines(const Value& value, int indent, std::string& out) {
  if (value.is_list()) {
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) append_spaces(out, indent);
      out += "- ";
      const Value& item = value.items()[i];
      if (has_lines(item)) {
        append_lines(item, indent + 2, out);
      } else {
        append_scalar(item, indent + 2, out);
      }
    }
    return;
  }
  std::vector<const Value::Member*> sorted;
  for (const Value::Member& member : value.members()) sorted.push_back(&member);
  std::ranges::sort(sorted, {}, [](const Value::Member* member) -> std::string_view { return member->key; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) append_spaces(out, indent);
    append_member(*sorted[i], indent, out);
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  std::string out;
  if (has_lines(value)) {
    append_lines(value, 0, out);
  } else {
    append_scalar(value, 2, out);
  }
  return out;
}

}  // namespace berth
