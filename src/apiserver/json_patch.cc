#include <algorithm>
#include <charconv>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/object_size.h"
#include "apiserver/patches.h"
#include "base/wording.h"

namespace berth {

namespace {

constexpr std::size_t kOperationsMax = 10'000;
// Values looked at, moved aside or copied by all operations together. A few megabytes of patch could ask for hours.
constexpr std::size_t kWorkMax = 50'000'000;

using Pointer = std::vector<std::string>;
template <class T>
using OrError = std::expected<T, ApiError>;

ApiError error_of(int code, std::string_view reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  return error;
}

// RFC 6901; none if it is malformed.
std::optional<Pointer> parse_pointer(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      pointer.emplace_back();
    } else if (text[i] != '~') {
      pointer.back() += text[i];
    } else {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) return std::nullopt;
      pointer.back() += text[i] == '0' ? '~' : '/';
    }
  }
  return pointer;
}

// "0" to `last`, without signs or leading zeros.
std::optional<std::size_t> parse_index(std::string_view text, std::size_t last) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index > last) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return index;
}

struct Step {
  std::string name;
  std::string path_text, from_text;
  Pointer path, from;
  const Value* value = nullptr;
};

// One patch being carried out; `document` is what it has become so far.
class JsonPatch {
 public:
  explicit JsonPatch(Value document) : document_(std::move(document)) {}

  // What is wrong, in words; none if it was done.
  std::optional<ApiError> apply(const Value& operation, std::size_t position);
  Value take() { return std::move(document_); }

 private:
  OrError<Step> read(const Value& operation) const;
  std::optional<ApiError> carry_out(const Step& step);
  std::optional<ApiError> add(const Step& step, Value value);
  std::optional<ApiError> remove(const Step& step, const Pointer& pointer, std::string_view text);
  Value* locate(const Pointer& pointer, std::size_t length);
  ApiError malformed(std::string why) const;
  ApiError unfit(const Step& step, std::string_view why) const;
  std::optional<ApiError> exhausted() const;

  Value document_;
  std::size_t position_ = 0;
  std::size_t work_ = 0;
  std::size_t copied_bytes_ = 0;
};

ApiError JsonPatch::malformed(std::string why) const {
  return bad_request("json patch operation " + std::to_string(position_) + ": " + why);
}

ApiError JsonPatch::unfit(const Step& step, std::string_view why) const {
  return error_of(422, "Invalid",
                  "the server rejected our request due to an error in our request: json patch operation " +
                      std::to_string(position_) + " (" + step.name + " " + quote(step.path_text) +
                      "): " + std::string(why));
}

std::optional<ApiError> JsonPatch::exhausted() const {
  if (work_ <= kWorkMax) return std::nullopt;
  return error_of(413, "RequestEntityTooLarge",
                  "json patch operation " + std::to_string(position_) +
                      ": the patch is too much work for one request; change fewer or smaller lists at once");
}

OrError<Step> JsonPatch::read(const Value& operation) const {
  Step step;
  if (!operation.is_map()) return std::unexpected(malformed("is no object with the fields op and path"));
  step.name = operation["op"].text();
  constexpr std::string_view kNames[] = {"add", "remove", "replace", "move", "copy", "test"};
  if (std::ranges::find(kNames, step.name) == std::end(kNames)) {
    return std::unexpected(malformed("op " + quote(step.name) + " is none of add, remove, replace, move, copy, test"));
  }
  if (!operation["path"].is_text()) return std::unexpected(malformed("has no path"));
  step.path_text = operation["path"].text();
  const auto path = parse_pointer(step.path_text);
  constexpr std::string_view kForm = " is no JSON pointer such as /spec/containers/0/image";
  if (!path) return std::unexpected(malformed("path " + quote(step.path_text) + std::string(kForm)));
  step.path = *path;
  step.value = operation.find("value");
  const bool needs_value = step.name == "add" || step.name == "replace" || step.name == "test";
  if (needs_value && step.value == nullptr) return std::unexpected(malformed(step.name + " has no value"));
  if (step.name == "move" || step.name == "copy") {
    if (!operation["from"].is_text()) return std::unexpected(malformed(step.name + " has no from"));
    step.from_text = operation["from"].text();
    const auto from = parse_pointer(step.from_text);
    if (!from) return std::unexpected(malformed("from " + quote(step.from_text) + std::string(kForm)));
    step.from = *from;
  }
  return step;
}

// The value at the first `length` parts of the pointer, or nullptr.
Value* JsonPatch::locate(const Pointer& pointer, std::size_t length) {
  Value* value = &document_;
  for (std::size_t i = 0; i < length; ++i) {
    work_ += 1 + value->members().size();
    if (work_ > kWorkMax) return nullptr;
    if (value->is_list()) {
      const auto index = parse_index(pointer[i], value->items().size());
      if (!index || *index == value->items().size()) return nullptr;
      value = &value->edit_items()[*index];
    } else {
      value = value->find(pointer[i]);
      if (value == nullptr) return nullptr;
    }
  }
  return value;
}

std::optional<ApiError> JsonPatch::add(const Step& step, Value value) {
  if (step.path.size() + depth_of(value) > kDepthMax) return unfit(step, "the object would be nested too deeply");
  if (step.path.empty()) {
    document_ = std::move(value);
    return std::nullopt;
  }
  Value* parent = locate(step.path, step.path.size() - 1);
  if (parent == nullptr) return unfit(step, "there is nothing at the path above it");
  const std::string& last = step.path.back();
  if (parent->is_map()) {
    work_ += parent->members().size();
    parent->set(last, std::move(value));
    return std::nullopt;
  }
  if (!parent->is_list()) return unfit(step, "what is above it is neither an object nor a list");
  Value::List& items = parent->edit_items();
  const auto index = last == "-" ? std::optional(items.size()) : parse_index(last, items.size());
  if (!index) return unfit(step, "the list has " + std::to_string(items.size()) + " items; '-' adds one at its end");
  work_ += items.size() - *index;
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return std::nullopt;
}

std::optional<ApiError> JsonPatch::remove(const Step& step, const Pointer& pointer, std::string_view text) {
  if (pointer.empty()) return unfit(step, "the whole object cannot be removed");
  Value* parent = locate(pointer, pointer.size() - 1);
  const std::string missing = "there is nothing at " + quote(text);
  if (parent == nullptr) return unfit(step, missing);
  if (parent->is_list()) {
    Value::List& items = parent->edit_items();
    const auto index = parse_index(pointer.back(), items.size());
    if (!index || *index == items.size()) return unfit(step, missing);
    work_ += items.size() - *index;
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(*index));
    return std::nullopt;
  }
  work_ += 2 * parent->members().size();
  if (!parent->is_map() || !parent->erase(pointer.back())) return unfit(step, missing);
  return std::nullopt;
}

std::optional<ApiError> JsonPatch::carry_out(const Step& step) {
  if (step.name == "add") return add(step, *step.value);
  if (step.name == "remove") return remove(step, step.path, step.path_text);
  if (step.name == "replace" || step.name == "test") {
    Value* there = locate(step.path, step.path.size());
    if (there == nullptr) return unfit(step, "there is nothing at the path");
    if (step.name == "test") {
      if (*there == *step.value) return std::nullopt;
      return unfit(step, "the value there is another one");
    }
    if (step.path.size() + depth_of(*step.value) > kDepthMax)
      return unfit(step, "the object would be nested too deeply");
    *there = *step.value;
    return std::nullopt;
  }
  const Value* source = locate(step.from, step.from.size());
  if (source == nullptr) return unfit(step, "there is nothing at from " + quote(step.from_text));
  if (step.name == "copy") {
    copied_bytes_ += approximate_bytes(*source);
    if (copied_bytes_ > kObjectBytesMax) {
      return error_of(413, "RequestEntityTooLarge",
                      "json patch operation " + std::to_string(position_) +
                          ": the copies of the patch together exceed " + std::to_string(kObjectBytesMax) + " bytes");
    }
    return add(step, Value(*source));
  }
  if (step.path == step.from) return std::nullopt;
  if (step.from.size() < step.path.size() && std::equal(step.from.begin(), step.from.end(), step.path.begin())) {
    return unfit(step, "a value cannot be moved into itself");
  }
  work_ += approximate_bytes(*source);
  Value moved = *source;
  if (auto error = remove(step, step.from, step.from_text)) return error;
  return add(step, std::move(moved));
}

std::optional<ApiError> JsonPatch::apply(const Value& operation, std::size_t position) {
  position_ = position;
  const OrError<Step> step = read(operation);
  if (!step) return step.error();
  auto error = carry_out(*step);
  if (auto tired = exhausted()) return tired;
  return error;
}

}  // namespace

std::expected<Value, ApiError> apply_json_patch(const Value& object, const Value& patch) {
  if (!patch.is_list()) {
    return std::unexpected(
        bad_request("a json patch is a list of operations, such as [{\"op\": \"replace\", \"path\": \"/spec/suspend\", "
                    "\"value\": true}]"));
  }
  const Value::List& operations = patch.items();
  if (operations.size() > kOperationsMax) {
    return std::unexpected(error_of(413, "RequestEntityTooLarge",
                                    "The allowed maximum operations in a JSON patch is " +
                                        std::to_string(kOperationsMax) + ", got " + std::to_string(operations.size())));
  }
  JsonPatch work(object);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (auto error = work.apply(operations[i], i)) return std::unexpected(std::move(*error));
  }
  Value patched = work.take();
  if (!patched.is_map()) {
    return std::unexpected(
        error_of(422, "Invalid",
                 "the server rejected our request due to an error in our request: after the json patch "
                 "the object would be no object"));
  }
  if (auto error = refuse_growth(object, patched)) return std::unexpected(std::move(*error));
  return patched;
}

}  // namespace berth
