#include "kube/mirror.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/wording.h"
#include "kube/backoff.h"
#include "kube/gate.h"
#include "manifest/json.h"

namespace berth {
namespace {

// A watch that has been open for so long has reached the server: longer than any connection takes to fail.
constexpr Duration kSettled = seconds(10);
// Beyond the time at which the server should have ended a watch by itself, it is taken for dead.
constexpr Duration kOverdue = seconds(60);
constexpr int kRetryAfterMax_s = 300;
constexpr Duration kNotServedAgain = seconds(60);
// Far above any cluster; a server that never ends its list must not take all memory.
constexpr std::size_t kObjectsMax = 5'000'000;
constexpr int kPagesMax = 100'000;

std::optional<std::int64_t> revision_in(const Value& metadata) {
  const std::string_view text = metadata["resourceVersion"].text();
  std::int64_t revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || end != text.data() + text.size() || revision < 0) return std::nullopt;
  return revision;
}

std::string key_of(const Value& object) {
  const Value& metadata = object["metadata"];
  return std::string(metadata["namespace"].text()) + "/" + std::string(metadata["name"].text());
}

std::string_view uid_of(const Value& object) { return object["metadata"]["uid"].text(); }

struct Seen {
  ObjectPtr object;
  std::int64_t revision = 0;
};

struct Listed {
  std::string key;
  Seen seen;
};

class Reflector : public std::enable_shared_from_this<Reflector> {
 public:
  Reflector(Transport& transport, Alarm& alarm, MirrorOptions options, std::function<void(ObjectChange)> on_change,
            std::function<void()> on_synced)
      : transport_(transport),
        alarm_(alarm),
        options_(std::move(options)),
        on_change_(std::move(on_change)),
        on_synced_(std::move(on_synced)),
        rng_({options_.jitter_seed}),
        backoff_({mix64(options_.jitter_seed)}) {}

  void begin() {
    const auto hold = gate_.lock();
    list();
  }

  void close() {
    const auto hold = gate_.lock();
    gate_.close();
    let_go();
  }

  std::int64_t revision() const {
    const std::lock_guard hold(told_mutex_);
    return told_revision_;
  }
  std::string trouble() const {
    const std::lock_guard hold(told_mutex_);
    return trouble_;
  }

 private:
  // What this reflector does from now on; whatever an earlier step still has under way is no longer listened to.
  std::uint64_t next_step() {
    let_go();
    return step_;
  }
  void let_go() {
    ++step_;
    stream_.reset();
    retry_.reset();
    settle_.reset();
    overdue_.reset();
  }
  // Whether a callback of that step is still of interest; false too when our own callback has destroyed the mirror.
  bool is_current(std::uint64_t step) const { return gate_.is_open() && step == step_; }

  template <class Callback>
  auto in_step(std::uint64_t step, Callback callback) {
    return gate_.guarded([self = shared_from_this(), step, callback = std::move(callback)](auto&&... arguments) {
      if (self->is_current(step)) callback(*self, std::forward<decltype(arguments)>(arguments)...);
    });
  }

  std::string selectors() const {
    std::string query;
    if (!options_.label_selector.empty()) query += "&labelSelector=" + percent_encoded(options_.label_selector);
    if (!options_.field_selector.empty()) query += "&fieldSelector=" + percent_encoded(options_.field_selector);
    return query;
  }

  // ---- list ----

  // Without a revision in the query: the newest state, not a cache's.
  void list() {
    listed_.clear();
    pages_ = 0;
    list_page("");
  }

  void list_page(const std::string& continued) {
    const std::uint64_t step = next_step();
    std::string path = api_path(options_.qualified, options_.name_space);
    path += "?limit=" + std::to_string(options_.page_size) + selectors();
    if (!continued.empty()) path += "&continue=" + percent_encoded(continued);
    transport_.send({.path = std::move(path)},
                    in_step(step, [](Reflector& self, const ApiAnswer& answer) { self.take_page(answer); }));
  }

  void take_page(const ApiAnswer& answer) {
    if (answer.status == 404 && options_.on_not_served && objects_.empty()) return do_without();
    if (!answer.ok()) {
      list_again(delay_after(answer), "cannot list: " + text_of_failure(answer));
      return;
    }
    Result<Value> page = parse_json(answer.body);
    if (!page) {
      refuse_list(page.error().to_string());
      return;
    }
    const std::optional<std::int64_t> revision = revision_in((*page)["metadata"]);
    if (!revision) {
      refuse_list("metadata.resourceVersion of the list is no number");
      return;
    }
    const std::string complaint = keep_items(*page);
    if (!complaint.empty()) {
      refuse_list(complaint);
      return;
    }
    const std::string continued((*page)["metadata"]["continue"].text());
    if (continued.empty()) {
      finish_list(*revision);
    } else if (++pages_ > kPagesMax || listed_.size() > kObjectsMax) {
      refuse_list("it does not end after " + std::to_string(listed_.size()) + " objects");
    } else {
      list_page(continued);
    }
  }

  // Whoever makes the kind known later is seen then.
  void do_without() {
    const std::uint64_t step = step_;
    all_is_well();
    if (!std::exchange(synced_, true)) {
      options_.on_not_served();
      if (is_current(step)) on_synced_();
    }
    if (is_current(step)) list_again(kNotServedAgain, "");
  }

  void refuse_list(const std::string& why) { list_again(backoff_.next(), "cannot read the server's list: " + why); }

  // What is wrong with the page, if anything.
  std::string keep_items(Value& page) {
    std::string_view kind = page["kind"].text();
    if (kind.ends_with("List")) kind.remove_suffix(4);
    Value* const items = page.find("items");
    if (items == nullptr || items->is_null()) return "";
    if (!items->is_list()) return "'items' is no list";
    for (Value& item : items->edit_items()) {
      // Items of a list may leave out what the list says for all.
      if (item["kind"].is_empty()) item.set("kind", kind);
      if (item["apiVersion"].is_empty()) item.set("apiVersion", page["apiVersion"]);
      std::optional<Listed> listed = take_object(std::move(item));
      if (!listed) return "there is an object without name, or with a resourceVersion that is no number, in it";
      listed_.push_back(std::move(*listed));
    }
    return "";
  }

  std::optional<Listed> take_object(Value object) const {
    Value* const metadata = object.find("metadata");
    if (metadata == nullptr || (*metadata)["name"].is_empty()) return std::nullopt;
    const std::optional<std::int64_t> revision = revision_in(*metadata);
    if (!revision) return std::nullopt;
    metadata->erase("managedFields");
    if (options_.slim) options_.slim(object);
    std::string key = key_of(object);
    return Listed{std::move(key), {std::make_shared<const Value>(std::move(object)), *revision}};
  }

  void finish_list(std::int64_t revision) {
    if (revision < revision_) {
      list_again(backoff_.next(), "the server lists its objects as of revision " + std::to_string(revision) +
                                      ", but revision " + std::to_string(revision_) +
                                      " was seen before; if its data was put back by hand, restart this program");
      return;
    }
    const std::uint64_t step = step_;
    const std::vector<Listed> listed = std::exchange(listed_, {});
    tell_gone(listed);
    for (const Listed& item : listed) {
      if (!is_current(step)) return;
      tell(item.key, item.seen);
    }
    if (!is_current(step)) return;
    see(revision);
    all_is_well();
    if (!std::exchange(synced_, true)) on_synced_();
    if (is_current(step)) watch();
  }

  // Before anything new is told: what is gone has made room.
  void tell_gone(const std::vector<Listed>& listed) {
    std::map<std::string_view, std::string_view> uids;  // by key
    for (const Listed& item : listed) uids.emplace(item.key, uid_of(*item.seen.object));
    std::vector<std::string> gone;
    for (const auto& [key, seen] : objects_) {
      const auto still = uids.find(key);
      if (still == uids.end() || still->second != uid_of(*seen.object)) gone.push_back(key);
    }
    for (const std::string& key : gone) {
      if (!gate_.is_open()) return;
      forget(key);
    }
  }

  // ---- telling ----

  void forget(const std::string& key) {
    const auto node = objects_.extract(key);
    if (!node.empty()) on_change_({.before = node.mapped().object, .after = nullptr});
  }

  // The object is as it was seen; says so if that is new.
  void tell(const std::string& key, const Seen& seen) {
    const auto known = objects_.find(key);
    if (known == objects_.end()) {
      objects_.emplace(key, seen);
      on_change_({.before = nullptr, .after = seen.object});
      return;
    }
    if (uid_of(*known->second.object) != uid_of(*seen.object)) {
      forget(key);
      if (!gate_.is_open()) return;
      objects_.insert_or_assign(key, seen);
      on_change_({.before = nullptr, .after = seen.object});
      return;
    }
    if (seen.revision <= known->second.revision) return;
    const ObjectPtr before = std::exchange(known->second, seen).object;
    on_change_({.before = before, .after = seen.object});
  }

  // ---- watch ----

  void watch() {
    const std::uint64_t step = next_step();
    settled_ = false;
    // Five to ten minutes: so many clients do not come back at one moment.
    const std::int64_t timeout_s = rng_.between(300, 600);
    std::string path = api_path(options_.qualified, options_.name_space);
    path += "?watch=true&allowWatchBookmarks=true&resourceVersion=" + std::to_string(revision_) +
            "&timeoutSeconds=" + std::to_string(timeout_s) + selectors();
    settle_ = alarm_.after(kSettled, in_step(step, [](Reflector& self) { self.settle(); }));
    overdue_ = alarm_.after(seconds(timeout_s) + kOverdue, in_step(step, [](Reflector& self) {
                              self.watch_again(self.backoff_.next(), "a watch did not end at its time: taken for dead");
                            }));
    std::unique_ptr<ApiStream> stream = transport_.stream(
        {.path = std::move(path)}, in_step(step, [](Reflector& self, std::string_view line) { self.take_line(line); }),
        in_step(step, [](Reflector& self, const ApiAnswer& answer) { self.end_watch(answer); }));
    // It may have ended, and another step begun, within the call.
    if (is_current(step)) stream_ = std::move(stream);
  }

  void settle() {
    settled_ = true;
    backoff_.reset();
    all_is_well();
  }

  void take_line(std::string_view line) {
    Result<Value> parsed = parse_json(line);
    Value* const object = parsed ? parsed->find("object") : nullptr;
    if (object == nullptr) {
      watch_again(backoff_.next(),
                  "a watch's line cannot be read: " + (parsed ? "it has no 'object'" : parsed.error().to_string()));
      return;
    }
    const std::string type((*parsed)["type"].text());
    if (type == "ERROR") {
      fail_watch(answer_of(*object));
      return;
    }
    if (type == "BOOKMARK") {
      if (const std::optional<std::int64_t> revision = revision_in((*object)["metadata"])) see(*revision);
      settle();
      return;
    }
    const bool gone = type == "DELETED";
    std::optional<Listed> listed = take_object(std::move(*object));
    if (!listed || (!gone && type != "ADDED" && type != "MODIFIED")) {
      watch_again(backoff_.next(), "a watch's line is none of Kubernetes: type " + quote(type) +
                                       (listed ? "" : ", object without name or numeric resourceVersion"));
      return;
    }
    settle();
    take_event(gone, *listed);
  }

  void take_event(bool gone, const Listed& listed) {
    const std::int64_t before = revision_;
    see(listed.seen.revision);
    if (gone) {
      // Whatever its revision: servers of old name that of the last state. A repeated one finds nothing, or another
      // uid.
      const auto known = objects_.find(listed.key);
      if (known == objects_.end() || uid_of(*known->second.object) != uid_of(*listed.seen.object)) return;
      if (listed.seen.revision >= known->second.revision) forget(listed.key);
    } else if (listed.seen.revision > before) {  // otherwise it was told before, perhaps of an object gone since
      tell(listed.key, listed.seen);
    }
  }

  static ApiAnswer answer_of(const Value& status) {
    const std::string body = to_json(status);
    return {.status = static_cast<int>(std::clamp<std::int64_t>(status["code"].integer(500), 400, 599)),
            .body = body,
            .retry_after_s = retry_after_s_in(body)};
  }

  void end_watch(const ApiAnswer& answer) {
    if (!answer.ok()) {
      fail_watch(answer);
    } else if (settled_) {
      watch_again({0}, "");
    } else {
      watch_again(backoff_.next(), "the server ends watches as soon as they begin");
    }
  }

  void fail_watch(const ApiAnswer& answer) {
    const std::string what = "cannot watch: " + text_of_failure(answer);
    if (answer.status == 410) {
      // Nothing is wrong: we were away for longer than the server remembers. Unless it happens again at once.
      list_again(settled_ ? Duration{0} : backoff_.next(), settled_ ? "" : what);
    } else if (answer.status == 504 || answer.status == 404 || answer.status == 400 || answer.status == 422) {
      // 504: the server is behind our revision. The others: perhaps the kind came anew.
      list_again(delay_after(answer), what);
    } else {
      watch_again(delay_after(answer), what);
    }
  }

  // ---- trying again ----

  Duration delay_after(const ApiAnswer& answer) {
    const Duration asked_for = seconds(std::clamp(answer.retry_after_s, 0, kRetryAfterMax_s));
    return std::max(backoff_.next(), asked_for);
  }

  void list_again(Duration delay, const std::string& why) {
    again(delay, why, [](Reflector& self) { self.list(); });
  }
  void watch_again(Duration delay, const std::string& why) {
    again(delay, why, [](Reflector& self) { self.watch(); });
  }
  // By the alarm even when at once: a server that answers within the call must not lead us down the stack for ever.
  void again(Duration delay, const std::string& why, void (*go_on)(Reflector&)) {
    const std::uint64_t step = next_step();
    listed_.clear();
    if (!why.empty()) {
      const std::lock_guard hold(told_mutex_);
      trouble_ = options_.qualified + ": " + why;
    }
    retry_ = alarm_.after(delay, in_step(step, go_on));
  }

  void all_is_well() {
    const std::lock_guard hold(told_mutex_);
    trouble_.clear();
  }
  void see(std::int64_t revision) {
    revision_ = std::max(revision_, revision);
    const std::lock_guard hold(told_mutex_);
    told_revision_ = revision_;
  }

  Transport& transport_;
  Alarm& alarm_;
  const MirrorOptions options_;
  const std::function<void(ObjectChange)> on_change_;
  const std::function<void()> on_synced_;

  Gate gate_;  // its lock guards all that follows, up to told_mutex_
  Rng rng_;
  Backoff backoff_;
  std::uint64_t step_ = 0;
  std::vector<Listed> listed_;  // of the pages so far
  int pages_ = 0;
  std::map<std::string, Seen> objects_;  // by namespace/name
  std::int64_t revision_ = 0;
  bool synced_ = false;
  bool settled_ = false;  // the present watch has reached the server
  std::unique_ptr<ApiStream> stream_;
  std::unique_ptr<Alarm::Handle> retry_, settle_, overdue_;

  // Asked by others while a callback of ours may wait for them: a lock that is never held long.
  mutable std::mutex told_mutex_;
  std::int64_t told_revision_ = 0;
  std::string trouble_;
};

class ReflectedMirror : public Mirror {
 public:
  explicit ReflectedMirror(std::shared_ptr<Reflector> reflector) : reflector_(std::move(reflector)) {}
  ReflectedMirror(const ReflectedMirror&) = delete;
  ReflectedMirror& operator=(const ReflectedMirror&) = delete;
  ~ReflectedMirror() override { reflector_->close(); }

  std::int64_t revision() const override { return reflector_->revision(); }
  std::string trouble() const override { return reflector_->trouble(); }

 private:
  std::shared_ptr<Reflector> reflector_;
};

}  // namespace

std::unique_ptr<Mirror> Mirror::start(Transport& transport, Alarm& alarm, MirrorOptions options,
                                      std::function<void(ObjectChange)> on_change, std::function<void()> on_synced) {
  auto reflector =
      std::make_shared<Reflector>(transport, alarm, std::move(options), std::move(on_change), std::move(on_synced));
  auto mirror = std::make_unique<ReflectedMirror>(reflector);
  reflector->begin();
  return mirror;
}

}  // namespace berth
