#include "apiserver/watching.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/other_views.h"
#include "apiserver/reading.h"
#include "apiserver/selection.h"
#include "apiserver/sight.h"
#include "manifest/json.h"

namespace berth {
namespace {

// Enough for the watchers of a busy second to share, little enough to forget about.
constexpr std::size_t kLinesKept = 1024;
constexpr std::size_t kLineBytesKeptMax = 32 << 10;

constexpr Duration kBookmarkEvery = seconds(60);
constexpr Duration kAskAgainEvery = seconds(10);
// Of a watch that names no time: 30 to 60 minutes, spread so that clients do not come back together.
constexpr std::int64_t kTimeoutMin_s = 1800;

std::string event_line(const char* type, std::string_view object) {
  std::string line;
  line.reserve(object.size() + 40);
  line += R"({"type":")";
  line += type;
  line += R"(","object":)";
  line += object;
  line += "}\n";
  return line;
}

std::optional<ApiError> wrong_start(const ListOptions& options, const Store& store) {
  // "At least as new as" cannot be promised for what is not yet.
  if (options.initial_events.value_or(false) && options.revision && *options.revision > store.revision()) {
    return revision_too_large(*options.revision, store.revision());
  }
  return std::nullopt;
}

}  // namespace

EventLines::EventLines() : slots_(kLinesKept) {}

SharedText EventLines::line(const char* type, Revision revision, const RecordPtr& object) {
  if (object->bytes.size() > kLineBytesKeptMax) return shared_text(event_line(type, object->bytes));
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[static_cast<std::size_t>(revision) % slots_.size()];
  if (slot.revision != revision || slot.type == nullptr || std::strcmp(slot.type, type) != 0) {
    slot = {revision, type, shared_text(event_line(type, object->bytes))};
  }
  return slot.line;
}

// One client's watch. Lines are written in order: those of the beginning before the store is asked for more, the
// others on the store's publishing thread alone.
class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  WatchSession(const ServerParts& parts, EventLines& lines, Exchange& exchange, Presentation presentation,
               Selection selection, const ListOptions& options)
      : parts_(parts),
        lines_(lines),
        user_(exchange.user),
        question_(exchange.question),
        only_usable_(exchange.only_usable),
        kind_(*exchange.route.kind),
        ticket_(std::move(exchange.ticket)),
        presentation_(presentation),
        selection_(std::move(selection)),
        bookmarks_(options.bookmarks) {
    const std::int64_t timeout_s = options.timeout_s > 0
                                       ? options.timeout_s
                                       : kTimeoutMin_s + static_cast<std::int64_t>(parts.dice.below(kTimeoutMin_s));
    const Time now = parts.now();
    deadline_ = now + seconds(timeout_s);
    bookmark_due_ = now + kBookmarkEvery;
    ask_again_due_ = now + kAskAgainEvery;
  }

  void run(std::shared_ptr<HttpStream> stream, const ListOptions& options) {
    stream_ = std::move(stream);
    stream_->on_closed([self = shared_from_this()] { self->let_go(); });
    const bool from_now = !options.revision || *options.revision == 0;
    Revision after = options.revision.value_or(0);
    if (options.initial_events.value_or(from_now)) {
      after = tell_all();
      if (options.initial_events.value_or(false) && bookmarks_) write(bookmark(after, true));
    } else if (from_now) {
      after = parts_.store.revision();
    }
    seen_ = after;
    follow(after);
  }

  // Any thread, any number of times.
  void end() { stream_->end(); }

  // Stops listening to the store, which waits for a notice that is running elsewhere.
  void drop() {
    std::shared_ptr<Watching> watching;
    {
      const std::lock_guard lock(mutex_);
      watching = std::move(watching_);
    }
  }

 private:
  void write(const SharedText& line) {
    if (!stream_->write(line)) stream_->end();
  }

  SharedText line_of(const char* type, Revision revision, const RecordPtr& record) {
    const RecordPtr shown = only_usable_ ? without_others(record) : record;
    // Kept lines are everybody's, and tell all.
    if (presentation_.as_kept() && shown == record) return lines_.line(type, revision, record);
    const bool first = !std::exchange(columns_told_, true);
    return shared_text(event_line(type, *presentation_.text(shown, parts_.now(), first)));
  }

  Revision tell_all() {
    const Store::Listing listing = parts_.store.list(selection_.only_key().value_or(selection_.prefix()));
    // In one piece: who reads as fast as he can is not cut off because there is much.
    std::string all;
    for (const RecordPtr& record : listing.records) {
      if (!stream_->open()) break;
      if (selection_.matches(*record)) all += *line_of("ADDED", record->revision, record);
    }
    write(shared_text(std::move(all)));
    return listing.revision;
  }

  void follow(Revision after) {
    auto watching = parts_.store.watch(selection_.only_key().value_or(selection_.prefix()), after,
                                       [self = shared_from_this()](const ChangePtr& change, Revision seen) {
                                         // The notice itself may end the watch, and this function object with it.
                                         const auto alive = self;
                                         alive->notice(change, seen);
                                       });
    if (!watching) {
      return fail(expired("too old resource version: " + std::to_string(after) + " (" +
                          std::to_string(parts_.store.oldest_watchable()) + ")"));
    }
    const std::lock_guard lock(mutex_);
    watching_ = std::move(watching);
  }

  // The connection is gone, or was ended. Whoever closed it may hold locks that a running notice waits for, so it
  // does not wait here: the next notice, within a second or so, is the last.
  void let_go() {
    gone_ = true;
    ticket_.reset();
  }

  void notice(const ChangePtr& change, Revision seen) {
    if (!gone_ && seen == Store::kFellBehind) fail(expired("the watch fell too far behind: list again"));
    if (!gone_) take_in(change, seen);
    if (gone_) drop();
  }

  void take_in(const ChangePtr& change, Revision seen) {
    if (change) tell(*change);
    seen_ = std::max(seen_, seen);
    const Time now = parts_.now();
    if (now >= deadline_) {
      if (bookmarks_) write(bookmark(seen_, false));
      return end();
    }
    if (now >= ask_again_due_) {
      // Who lost the right to look is shown changes for a few seconds more at most.
      if (!parts_.authorizer.decide(user_, question_).allowed) return end();
      ask_again_due_ = now + kAskAgainEvery;
    }
    if (bookmarks_ && now >= bookmark_due_) {
      write(bookmark(seen_, false));
      bookmark_due_ = now + kBookmarkEvery;
    }
  }

  void fail(const ApiError& error) {
    write(shared_text(event_line("ERROR", to_json(status_of(error)))));
    end();
  }

  void tell(const Change& change) {
    const bool was = change.before && selection_.matches(*change.before);
    const bool is = change.after && selection_.matches(*change.after);
    if (is) {
      write(line_of(was ? "MODIFIED" : "ADDED", change.revision, change.after));
    } else if (was) {
      write(line_of("DELETED", change.revision, change.after ? last_seen(change) : change.before));
    }
  }

  // An object that left the selection: as it was last seen in it, with the revision at which it left.
  static RecordPtr last_seen(const Change& change) {
    Value object = kept_value(*change.before);
    object.at("metadata").set("resourceVersion", std::to_string(change.revision));
    auto record = std::make_shared<Record>();
    record->key = change.before->key;
    record->bytes = to_json(object);
    record->revision = change.revision;
    return record;
  }

  SharedText bookmark(Revision revision, bool ends_initial_events) {
    Value metadata = Value::map_of({{"resourceVersion", std::to_string(revision)}});
    if (ends_initial_events) metadata.set("annotations", Value::map_of({{"k8s.io/initial-events-end", "true"}}));
    Value object = Value::map();
    switch (presentation_.form()) {
      case Presentation::Form::kWhole:
        object = Value::map_of({{"kind", kind_.kind}, {"apiVersion", kind_.api_version()}});
        break;
      case Presentation::Form::kMetadata:
        object = Value::map_of({{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}});
        break;
      case Presentation::Form::kTable:
        object = Value::map_of({{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}, {"rows", Value::list()}});
        break;
    }
    object.set("metadata", std::move(metadata));
    return shared_text(event_line("BOOKMARK", to_json(object)));
  }

  const ServerParts& parts_;
  EventLines& lines_;
  const User user_;
  const AccessQuestion question_;
  const bool only_usable_;
  const KindInfo& kind_;
  Ticket ticket_;
  const Presentation presentation_;
  const Selection selection_;
  const bool bookmarks_;
  std::shared_ptr<HttpStream> stream_;
  Time deadline_, bookmark_due_, ask_again_due_;
  Revision seen_ = 0;
  bool columns_told_ = false;

  std::atomic<bool> gone_ = false;
  std::mutex mutex_;
  std::shared_ptr<Watching> watching_;  // leads back here: a circle that drop() opens
};

Watches::~Watches() {
  std::vector<std::weak_ptr<WatchSession>> open;
  {
    const std::lock_guard lock(mutex_);
    open.swap(sessions_);
  }
  for (const auto& each : open) {
    if (const auto session = each.lock()) {
      session->end();
      session->drop();
    }
  }
}

void Watches::remember(const std::shared_ptr<WatchSession>& session) {
  const std::lock_guard lock(mutex_);
  // Forgets those that have ended whenever their number may have doubled.
  if (sessions_.size() == sessions_.capacity()) {
    std::erase_if(sessions_, [](const std::weak_ptr<WatchSession>& each) { return each.expired(); });
    sessions_.reserve(std::max<std::size_t>(16, sessions_.size() * 2));
  }
  sessions_.push_back(session);
}

void Watches::start(Exchange& exchange, const ListOptions& options) {
  const auto presentation = Presentation::negotiate(exchange.request, *exchange.route.kind, true);
  if (!presentation) return answer_error(exchange, presentation.error());
  auto selection = selection_in_sight(parts_, exchange, options);
  if (!selection) return answer_error(exchange, selection.error());
  if (const auto wrong = wrong_start(options, parts_.store)) return answer_error(exchange, *wrong);
  const auto session =
      std::make_shared<WatchSession>(parts_, lines_, exchange, *presentation, *std::move(selection), options);
  remember(session);
  session->run(exchange.responder->start_stream(200, "application/json", {{"Cache-Control", "no-cache, private"}}),
               options);
}

}  // namespace berth
