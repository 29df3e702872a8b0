#include "manifest/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "base/assert.h"
#include "manifest/schema_texts.h"

namespace berth {
namespace {

// Words, quoted texts, and { } : ; of a schema text; "#" begins a comment.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { next(); }

  bool at_end() const { return token_.empty(); }
  bool at(std::string_view token) const { return token_ == token; }
  bool at_quoted() const { return token_.starts_with('"'); }

  std::string_view take() {
    BERTH_ASSERT(!at_end());
    const std::string_view taken = token_;
    next();
    return taken;
  }
  void expect(std::string_view token) { BERTH_ASSERT(take() == token); }
  // Quoted texts that follow each other are one; none is the empty one.
  std::string take_quoted() {
    std::string text;
    while (at_quoted()) {
      const std::string_view quoted = take();
      text += quoted.substr(1, quoted.size() - 2);
    }
    return text;
  }

 private:
  void next() {
    skip_space();
    if (text_.empty()) {
      token_ = {};
      return;
    }
    std::size_t length = 1;
    if (text_[0] == '"') {
      const std::size_t end = text_.find('"', 1);
      BERTH_ASSERT(end != text_.npos);
      length = end + 1;
    } else if (!kMarks.contains(text_[0])) {
      length = std::min(text_.size(), text_.find_first_of(" \n{}:;\"#"));
    }
    token_ = text_.substr(0, length);
    text_.remove_prefix(length);
  }
  void skip_space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '#')) {
      text_.remove_prefix(text_[0] == '#' ? std::min(text_.size(), text_.find('\n')) : 1);
    }
  }

  static constexpr std::string_view kMarks = "{}:;";
  std::string_view text_, token_;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

bool take_suffix(std::string_view& text, char suffix) {
  const bool there = text.ends_with(suffix);
  if (there) text.remove_suffix(1);
  return there;
}

constexpr std::array<std::pair<std::string_view, Scalar>, 9> kScalars = {{
    {"text", Scalar::kText},
    {"int", Scalar::kInteger},
    {"bool", Scalar::kBool},
    {"quantity", Scalar::kQuantity},
    {"time", Scalar::kTime},
    {"microtime", Scalar::kMicroTime},
    {"intortext", Scalar::kIntOrText},
    {"bytes", Scalar::kBytes},
    {"any", Scalar::kAny},
}};

class Tables {
 public:
  explicit Tables(std::initializer_list<const char*> texts) {
    for (const char* const text : texts) read(Tokens(text));
    for (const Reference& each : references_) {
      const auto target = types_.find(each.target);
      BERTH_ASSERT(target != types_.end());
      each.owner->fields[each.index].type = &target->second;
    }
  }

  const std::map<std::string, Type, std::less<>>& types() const { return types_; }

 private:
  // Types are named before they are read, so references are followed at the end.
  struct Reference {
    Type* owner;
    std::size_t index;
    std::string target;
  };

  void read(Tokens tokens) {
    std::string package;
    while (!tokens.at_end()) {
      if (tokens.at("package")) {
        tokens.take();
        package = tokens.take();
        tokens.expect(";");
      } else {
        read_type(tokens, package);
      }
    }
  }

  void read_type(Tokens& tokens, const std::string& package) {
    const std::string_view word = tokens.take();
    BERTH_ASSERT(word == "type" || word == "kind");
    const std::string name(tokens.take());
    const auto [place, is_new] = types_.try_emplace(name);
    BERTH_ASSERT(is_new);
    Type& type = place->second;
    type.name = name;
    type.package = package;
    type.description = tokens.take_quoted();
    if (word == "kind") {
      for (const char* const each : {"apiVersion", "kind"}) {
        Field& field = type.fields.emplace_back();
        field.name = each;
      }
    }
    tokens.expect("{");
    while (!tokens.at("}")) read_field(tokens, type);
    tokens.expect("}");
  }

  void read_field(Tokens& tokens, Type& type) {
    Field field;
    const std::string_view number = tokens.take();
    const auto [end, error] = std::from_chars(number.begin(), number.end(), field.number);
    BERTH_ASSERT(error == std::errc() && end == number.end());
    field.name = tokens.take();
    BERTH_ASSERT(std::ranges::none_of(type.fields, [&](const Field& each) { return each.name == field.name; }));
    BERTH_ASSERT(field.number == 0 || type.find_number(field.number) == nullptr);
    tokens.expect(":");
    read_shape(tokens.take(), field, type);
    while (!tokens.at(";") && !tokens.at_quoted()) read_word(tokens.take(), field);
    field.description = tokens.take_quoted();
    tokens.expect(";");
    type.fields.push_back(std::move(field));
  }

  void read_shape(std::string_view shape, Field& field, Type& owner) {
    field.required = take_suffix(shape, '!');
    field.pointer = take_suffix(shape, '?');
    if (shape.starts_with('[')) field.plurality = Plurality::kList;
    if (shape.starts_with('<')) field.plurality = Plurality::kMap;
    if (field.plurality != Plurality::kOne) shape = shape.substr(1, shape.size() - 2);
    const auto scalar = std::ranges::find(kScalars, shape, [](const auto& each) { return each.first; });
    if (scalar != kScalars.end()) {
      field.scalar = scalar->second;
    } else {
      field.scalar = Scalar::kObject;
      references_.push_back({&owner, owner.fields.size(), std::string(shape)});
    }
  }

  static void read_word(std::string_view word, Field& field) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = equals == word.size() ? std::string_view() : word.substr(equals + 1);
    if (name == "merge") {
      field.merge_key = value;
    } else if (name == "keys") {
      field.ownership = ListOwnership::kKeyed;
      field.owner_keys = split(value, ',');
    } else if (name == "set") {
      field.ownership = ListOwnership::kSet;
    } else if (name == "atomic") {
      field.atomic = true;
    } else if (name == "retain") {
      field.retain_keys = true;
    } else if (name == "oneof") {
      field.allowed = split(value, '|');
    } else {
      BERTH_ASSERT(name == "inlined");
      field.inlined = true;
    }
  }

  std::map<std::string, Type, std::less<>> types_;
  std::vector<Reference> references_;
};

const Tables& tables() {
  static const Tables built({kMetaSchema, kPodSchema, kContainerSchema, kVolumeSchema, kPodStatusSchema, kCoreSchema,
                             kNodeSchema, kBatchSchema, kPolicySchema, kAccessSchema, kBerthSchema, kKueueSchema,
                             kPodGroupSchema, kJobSetSchema, kVolcanoJobSchema, kLeaderWorkerSetSchema, kKubeflowSchema,
                             kRaySchema});
  return built;
}

}  // namespace

const Field* Type::find(std::string_view field) const {
  for (const Field& each : fields) {
    if (!each.inlined) {
      if (each.name == field) return &each;
    } else if (each.type != nullptr) {
      if (const Field* const inner = each.type->find(field)) return inner;
    }
  }
  return nullptr;
}

const Field* Type::find_number(std::uint32_t number) const {
  const auto found = std::ranges::find(fields, number, &Field::number);
  return found == fields.end() ? nullptr : &*found;
}

const Field* Type::wrapped_list() const {
  const bool wraps = fields.size() == 1 && fields[0].inlined && fields[0].plurality == Plurality::kList;
  return wraps ? &fields[0] : nullptr;
}

const Type& type_named(std::string_view name) {
  const auto found = tables().types().find(name);
  BERTH_ASSERT(found != tables().types().end());
  return found->second;
}

std::vector<const Type*> all_types() {
  std::vector<const Type*> all;
  for (const auto& [name, type] : tables().types()) all.push_back(&type);
  return all;
}

}  // namespace berth
