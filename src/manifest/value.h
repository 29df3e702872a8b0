// One API object, or any part of one: what JSON and YAML can say, with nothing lost. Unknown fields stay, numbers stay
// as they were written, members keep the order in which they came.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth {

class Value {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kNumber, kText, kList, kMap };

  struct Member;
  using List = std::vector<Value>;
  using Map = std::vector<Member>;  // INVARIANT: no key twice

  Value() = default;
  Value(std::nullptr_t);
  template <std::same_as<bool> Bool>
  Value(Bool truth);
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Value(Integer number);
  Value(std::string text);
  Value(std::string_view text);
  Value(const char* text);
  Value(List items);

  // A number that is no 64-bit integer, as it was written: "0.5", "1e3", "18446744073709551616".
  static Value number(std::string written);
  static Value list();
  static Value map();
  // map_of({{"a", 1}, {"b", "x"}}); of a key given twice the last value stays.
  static Value map_of(std::vector<std::pair<std::string, Value>> members);

  Kind kind() const { return static_cast<Kind>(held_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_integer() const { return kind() == Kind::kInteger; }
  bool is_text() const { return kind() == Kind::kText; }
  bool is_list() const { return kind() == Kind::kList; }
  bool is_map() const { return kind() == Kind::kMap; }
  // Null, or a text, list or map with nothing in it.
  bool is_empty() const;

  // What it holds; the second answer when it holds something else.
  bool truth(bool otherwise = false) const;
  std::int64_t integer(std::int64_t otherwise = 0) const;
  std::string_view text(std::string_view otherwise = {}) const;
  std::string_view number_text() const;  // of kNumber, as written
  const List& items() const;             // empty when it is no list
  const Map& members() const;            // empty when it is no map

  // The member, or nullptr.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  // The member, or null: object["spec"]["nodeName"].text().
  const Value& operator[](std::string_view key) const;
  // The member to write to, made (null) if it is not there; what is no map becomes one: object.at("metadata").at("uid").
  // INVARIANT: a new member may move the others: no reference to one is kept while another is added beside it.
  Value& at(std::string_view key);
  Value& set(std::string_view key, Value value);  // the member
  bool erase(std::string_view key);               // whether it was there
  // To write to; what is no list becomes one.
  List& edit_items();
  Map& edit_members();
  void push_back(Value item);

  // Members compare whatever their order; 1 and 1.0 differ.
  friend bool operator==(const Value& a, const Value& b);

 private:
  struct Number {
    std::string written;
    friend bool operator==(const Number&, const Number&) = default;
  };
  explicit Value(Number number);

  std::variant<std::monostate, bool, std::int64_t, Number, std::string, List, Map> held_;
};

struct Value::Member {
  std::string key;
  Value value;
};

// Here, because a list of members can be built and destroyed only where a member is known.
inline Value::Value(std::nullptr_t) {}
template <std::same_as<bool> Bool>
Value::Value(Bool truth) : held_(truth) {}
template <std::integral Integer>
  requires(!std::same_as<Integer, bool>)
Value::Value(Integer number) : held_(static_cast<std::int64_t>(number)) {}
inline Value::Value(std::string text) : held_(std::move(text)) {}
inline Value::Value(std::string_view text) : held_(std::string(text)) {}
inline Value::Value(const char* text) : held_(std::string(text)) {}
inline Value::Value(List items) : held_(std::move(items)) {}
inline Value::Value(Number number) : held_(std::move(number)) {}
inline Value Value::number(std::string written) { return Value(Number{std::move(written)}); }
inline Value Value::list() { return Value(List()); }
inline void Value::push_back(Value item) { edit_items().push_back(std::move(item)); }

}  // namespace berth
