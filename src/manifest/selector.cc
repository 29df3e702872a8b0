#include "manifest/selector.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/wording.h"

namespace berth {

namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

constexpr std::size_t kLabelNameMax = 63;
constexpr std::size_t kPrefixMax = 253;
constexpr std::string_view kSpace = " \t\r\n";

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label_name(std::string_view text) {
  const auto is_inner = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kLabelNameMax && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::ranges::all_of(text, is_inner);
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > kPrefixMax) return false;
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    const auto is_inner = [](char c) { return is_name_character(c) || c == '-'; };
    if (label.empty() || !is_name_character(label.front()) || !is_name_character(label.back()) ||
        !std::ranges::all_of(label, is_inner)) {
      return false;
    }
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return is_label_name(key);
  return is_dns_subdomain(key.substr(0, slash)) && is_label_name(key.substr(slash + 1));
}

std::optional<std::int64_t> read_whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// What is wrong with a requirement; empty if nothing is.
std::string complaint_about(const Requirement& requirement) {
  if (!is_label_key(requirement.key)) {
    return quote(requirement.key) +
           " is no label key; write NAME or DOMAIN/NAME, a name being 1 to 63 letters, digits, '-', '_' or '.' that "
           "begins and ends with a letter or digit";
  }
  const bool compares = requirement.op == Operator::kGreater || requirement.op == Operator::kLess;
  for (const std::string& value : requirement.values) {
    if (compares && !read_whole_number(value)) {
      return quote(value) + " is no whole number; '>' and '<' compare 64-bit integers";
    }
    if (!compares && !value.empty() && !is_label_name(value)) {
      return quote(value) +
             " is no label value; write at most 63 letters, digits, '-', '_' or '.' that begin and end with a letter "
             "or digit";
    }
  }
  return {};
}

void make_set(std::vector<std::string>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

// A selector's text in tokens: symbols, words, and an empty one at the end.
class SelectorTokens {
 public:
  explicit SelectorTokens(std::string_view text) : rest_(text) { advance(); }

  std::string_view next() const { return next_; }
  bool at_end() const { return next_.empty(); }
  bool next_is_word() const { return !at_end() && !is_symbol(next_[0]); }

  std::string_view take() {
    const std::string_view taken = next_;
    advance();
    return taken;
  }
  bool take(std::string_view token) {
    if (next_ != token) return false;
    advance();
    return true;
  }

 private:
  static bool is_symbol(char c) { return std::string_view("=!(),<>").contains(c); }

  void advance() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
    std::size_t size = 0;
    if (rest_.starts_with("==") || rest_.starts_with("!=")) {
      size = 2;
    } else if (!rest_.empty() && is_symbol(rest_[0])) {
      size = 1;
    } else {
      while (size < rest_.size() && !is_symbol(rest_[size]) && !kSpace.contains(rest_[size])) ++size;
    }
    next_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  std::string_view next_;
};

std::string found(const SelectorTokens& tokens) { return tokens.at_end() ? "the end" : quote(tokens.next()); }

Complaints unparsable(const std::string& why) { return Complaints("unable to parse requirement: " + why); }

// "(a, b)" after in and notin; an empty place is the empty value.
Result<std::vector<std::string>> parse_values(SelectorTokens& tokens) {
  if (!tokens.take("(")) return unparsable("found " + found(tokens) + " where '(' is expected; write KEY in (A, B)");
  std::vector<std::string> values;
  while (true) {
    values.emplace_back(tokens.next_is_word() ? tokens.take() : std::string_view());
    if (tokens.take(")")) return values;
    if (!tokens.take(",")) return unparsable("found " + found(tokens) + " where ',' or ')' is expected");
  }
}

Result<Requirement> parse_requirement(SelectorTokens& tokens) {
  const bool absent = tokens.take("!");
  if (!tokens.next_is_word()) return unparsable("found " + found(tokens) + " where a label key is expected");
  Requirement requirement{.key = std::string(tokens.take()), .op = Operator::kExists, .values = {}};
  if (absent) {
    requirement.op = Operator::kDoesNotExist;
    return requirement;
  }
  if (tokens.at_end() || tokens.next() == ",") return requirement;
  const std::string_view word = tokens.next();
  if (word == "in" || word == "notin") {
    tokens.take();
    Result<std::vector<std::string>> values = parse_values(tokens);
    if (!values) return std::move(values.error());
    requirement.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    requirement.values = std::move(*values);
    make_set(requirement.values);
    return requirement;
  }
  constexpr std::pair<std::string_view, Operator> kSymbols[] = {{"=", Operator::kIn},
                                                                {"==", Operator::kIn},
                                                                {"!=", Operator::kNotIn},
                                                                {">", Operator::kGreater},
                                                                {"<", Operator::kLess}};
  const auto* const symbol = std::ranges::find(kSymbols, word, &std::pair<std::string_view, Operator>::first);
  if (symbol == std::end(kSymbols)) {
    return unparsable("found " + found(tokens) + " where one of =, ==, !=, in, notin, > and < is expected");
  }
  tokens.take();
  requirement.op = symbol->second;
  requirement.values.emplace_back(tokens.next_is_word() ? tokens.take() : std::string_view());
  return requirement;
}

bool meets(const Requirement& requirement, const Value& labels) {
  const Value* const label = labels.find(requirement.key);
  const bool there = label != nullptr && label->is_text();
  const std::string_view value = there ? label->text() : std::string_view();
  const auto is_named = [&] { return std::ranges::find(requirement.values, value) != requirement.values.end(); };
  switch (requirement.op) {
    case Operator::kIn:
      return there && is_named();
    case Operator::kNotIn:
      return !there || !is_named();
    case Operator::kExists:
      return there;
    case Operator::kDoesNotExist:
      return !there;
    case Operator::kGreater:
    case Operator::kLess:
      break;
  }
  const std::optional<std::int64_t> number = read_whole_number(value);
  const std::optional<std::int64_t> bound = read_whole_number(requirement.values.front());
  return number && bound && (requirement.op == Operator::kGreater ? *number > *bound : *number < *bound);
}

void append_to(std::string& out, const Requirement& requirement) {
  const std::string& key = requirement.key;
  switch (requirement.op) {
    case Operator::kExists:
      out += key;
      return;
    case Operator::kDoesNotExist:
      out += "!" + key;
      return;
    case Operator::kGreater:
      out += key + ">" + requirement.values.front();
      return;
    case Operator::kLess:
      out += key + "<" + requirement.values.front();
      return;
    case Operator::kIn:
    case Operator::kNotIn:
      break;
  }
  const bool in = requirement.op == Operator::kIn;
  if (requirement.values.size() == 1) {
    out += key + (in ? "=" : "!=") + requirement.values.front();
    return;
  }
  out += key + (in ? " in (" : " notin (");
  for (std::size_t i = 0; i < requirement.values.size(); ++i) out += (i > 0 ? "," : "") + requirement.values[i];
  out += ")";
}

// One of matchExpressions; adds to the complaints what is wrong with it.
Requirement read_expression(const Value& expression, const std::string& path, Complaints& complaints) {
  constexpr std::pair<std::string_view, Operator> kOperators[] = {{"In", Operator::kIn},
                                                                  {"NotIn", Operator::kNotIn},
                                                                  {"Exists", Operator::kExists},
                                                                  {"DoesNotExist", Operator::kDoesNotExist}};
  Requirement requirement{.key = std::string(expression["key"].text()), .op = Operator::kExists, .values = {}};
  const std::string_view word = expression["operator"].text();
  const auto* const known = std::ranges::find(kOperators, word, &std::pair<std::string_view, Operator>::first);
  if (known == std::end(kOperators)) {
    complaints.add({}, path + ".operator: " + quote(word) +
                           " is not a valid label selector operator; write In, NotIn, Exists or DoesNotExist");
    return requirement;
  }
  requirement.op = known->second;
  for (const Value& value : expression["values"].items()) {
    if (!value.is_text()) complaints.add({}, path + ".values: a value is no text; write it in quotes");
    requirement.values.emplace_back(value.text());
  }
  make_set(requirement.values);
  const bool wants_values = requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
  if (wants_values == requirement.values.empty()) {
    complaints.add({}, path + ".values: " + std::string(word) +
                           (wants_values ? " needs at least one value" : " takes no values; leave them out"));
  }
  return requirement;
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  SelectorTokens tokens(text);
  if (tokens.at_end()) return selector;
  while (true) {
    Result<Requirement> requirement = parse_requirement(tokens);
    if (!requirement) return std::move(requirement.error());
    if (std::string complaint = complaint_about(*requirement); !complaint.empty()) return unparsable(complaint);
    selector.requirements_.push_back(std::move(*requirement));
    if (tokens.at_end()) break;
    if (!tokens.take(",")) return unparsable("found " + found(tokens) + " where ',' or the end is expected");
  }
  std::ranges::stable_sort(selector.requirements_, {}, &Requirement::key);
  return selector;
}

Result<LabelSelector> LabelSelector::from_object(const Value& object) {
  LabelSelector selector;
  selector.nothing_ = object.is_null();
  const Value& labels = object["matchLabels"];
  const Value& expressions = object["matchExpressions"];
  Complaints complaints;
  if (!object.is_null() && !object.is_map())
    complaints.add({}, "a label selector is a map of matchLabels and matchExpressions");
  if (!labels.is_null() && !labels.is_map()) complaints.add({}, "matchLabels: this is no map of texts");
  if (!expressions.is_null() && !expressions.is_list()) complaints.add({}, "matchExpressions: this is no list");
  for (const Value::Member& label : labels.members()) {
    if (!label.value.is_text())
      complaints.add({}, "matchLabels: the value of " + quote(label.key) + " is no text; write it in quotes");
    selector.requirements_.push_back(
        {.key = label.key, .op = Operator::kIn, .values = {std::string(label.value.text())}});
  }
  for (std::size_t i = 0; i < expressions.items().size(); ++i) {
    const std::string path = "matchExpressions[" + std::to_string(i) + "]";
    selector.requirements_.push_back(read_expression(expressions.items()[i], path, complaints));
  }
  for (const Requirement& requirement : selector.requirements_) {
    if (std::string complaint = complaint_about(requirement); !complaint.empty()) complaints.add({}, complaint);
  }
  if (!complaints.empty()) return complaints;
  std::ranges::stable_sort(selector.requirements_, {}, &Requirement::key);
  return selector;
}

bool LabelSelector::matches(const Value& labels) const {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const Requirement& each) { return meets(each, labels); });
}

std::string LabelSelector::to_string() const {
  std::string out;
  for (const Requirement& requirement : requirements_) {
    if (!out.empty()) out += ",";
    append_to(out, requirement);
  }
  return out;
}

namespace {

// Up to the next ',' that no backslash keeps, which is taken off too.
std::string_view take_term(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != ',') size += text[size] == '\\' ? 2 : 1;
  size = std::min(size, text.size());
  const std::string_view term = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return term;
}

// Of a field's value: "\\", "\," and "\=" stand for the second character; nothing else may follow a backslash.
std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '=') return std::nullopt;
    if (text[at] == '\\') {
      ++at;
      if (at == text.size() || !std::string_view("\\,=").contains(text[at])) return std::nullopt;
    }
    out += text[at];
  }
  return out;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  while (!text.empty()) {
    const std::string_view term = take_term(text);
    if (term.empty()) continue;
    const std::size_t sign = term.find_first_of("=!");
    const bool equal = sign != std::string_view::npos && term[sign] == '=';
    if (sign == std::string_view::npos || sign == 0 || (!equal && !term.substr(sign).starts_with("!="))) {
      return Complaints("invalid field selector: " + quote(term) +
                        " compares nothing; write FIELD=VALUE or FIELD!=VALUE");
    }
    const std::size_t sign_size = term.substr(sign).starts_with("=") && !term.substr(sign).starts_with("==") ? 1 : 2;
    std::optional<std::string> value = unescape(term.substr(sign + sign_size));
    if (!value) {
      return Complaints("invalid field selector: the value in " + quote(term) +
                        " is not escaped; write \\\\, \\, and \\= for a backslash, a comma and an equals sign");
    }
    selector.requirements_.push_back(
        {.field = std::string(term.substr(0, sign)), .equal = equal, .value = std::move(*value)});
  }
  return selector;
}

}  // namespace berth
