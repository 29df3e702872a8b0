// What a request's query says beside its path: options of reads, writes and deletions, each checked once, at the door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/api_error.h"
#include "apiserver/route.h"
#include "manifest/selector.h"
#include "manifest/value.h"
#include "store/store.h"
#include "web_server/http.h"

namespace berth {

enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

// `name` is what they are called when one is wrong: CreateOptions, UpdateOptions, PatchOptions.
struct WriteOptions {
  bool dry_run = false;
  bool force = false;         // of server-side apply
  std::string field_manager;  // as given, or the User-Agent up to its "/"
  bool field_manager_given = false;
  FieldValidation validation = FieldValidation::kWarn;
};
std::expected<WriteOptions, ApiError> read_write_options(const HttpRequest& request,
                                                         std::string_view name = "CreateOptions");

enum class RevisionMatch : std::uint8_t { kUnset, kExact, kNotOlderThan };

struct ListOptions {
  LabelSelector labels;
  FieldSelector fields;
  std::size_t limit = 0;       // 0 = all
  std::string continue_after;  // the key to go on after; empty = from the start
  Revision continue_revision = 0;
  std::optional<Revision> revision;  // resourceVersion
  RevisionMatch match = RevisionMatch::kUnset;
  bool watch = false;
  bool bookmarks = false;              // allowWatchBookmarks
  std::optional<bool> initial_events;  // sendInitialEvents
  std::int64_t timeout_s = 0;          // 0 = the server's choice
};
std::expected<ListOptions, ApiError> read_list_options(const HttpRequest& request, const Route& route);

// "true" and "1", and a parameter without a value, as Kubernetes reads them.
bool is_set(const HttpRequest& request, std::string_view parameter);

// Opaque to clients: where the next page begins, and the revision that all pages show.
std::string continue_token(Revision revision, std::string_view after_key);

enum class Propagation : std::uint8_t { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_s;
  Propagation propagation = Propagation::kBackground;
  std::string uid, revision;  // preconditions; empty = none
};
// From the query and the body, of which the body wins. `body` may be null.
std::expected<DeleteOptions, ApiError> read_delete_options(const HttpRequest& request, const Value& body);

}  // namespace berth
