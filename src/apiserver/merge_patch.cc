#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/member_index.h"
#include "apiserver/object_size.h"
#include "apiserver/patches.h"

namespace berth {

namespace {

void merge(Value& target, const Value& patch) {
  if (!patch.is_map()) {
    target = patch;
    return;
  }
  if (!target.is_map()) target = Value::map();
  Value::Map& members = target.edit_members();
  const MemberIndex index(members);
  std::vector<bool> gone(members.size());
  for (const Value::Member& member : patch.members()) {
    const std::size_t at = index.find(member.key);
    if (at != MemberIndex::kNone) {
      if (member.value.is_null())
        gone[at] = true;
      else
        merge(members[at].value, member.value);
    } else if (!member.value.is_null()) {
      members.push_back({member.key, Value()});
      merge(members.back().value, member.value);  // into nothing: nulls inside go
    }
  }
  std::size_t at = 0;
  std::erase_if(members, [&](const Value::Member&) {
    const std::size_t here = at++;
    return here < gone.size() && gone[here];
  });
}

}  // namespace

std::expected<Value, ApiError> apply_merge_patch(const Value& object, const Value& patch) {
  if (!patch.is_map()) {
    return std::unexpected(
        bad_request("a merge patch is a JSON object with the fields to change, such as {\"spec\": {...}}"));
  }
  Value merged = object;
  merge(merged, patch);
  if (auto error = refuse_growth(object, merged)) return std::unexpected(std::move(*error));
  return merged;
}

}  // namespace berth
