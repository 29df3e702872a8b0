#include "rehearsal/testimony.h"

#include <charconv>
#include <functional>
#include <utility>

#include "manifest/json.h"

namespace berth {
namespace {

Revision revision_in(const Value& object) {
  const std::string_view text = object["metadata"]["resourceVersion"].text();
  Revision revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

}  // namespace

class ListeningTransport final : public Transport {
 public:
  ListeningTransport(Testimony& testimony, std::unique_ptr<Transport> inner)
      : testimony_(testimony), inner_(std::move(inner)) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    testimony_.note_call();
    const ApiCall asked{.method = call.method, .path = call.path};
    inner_->send(std::move(call), [this, asked, done = std::move(done)](ApiAnswer answer) {
      testimony_.note_answer(asked, answer);
      done(std::move(answer));
    });
  }

  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    const std::string path = call.path;
    return inner_->stream(
        std::move(call),
        [this, path, on_line = std::move(on_line)](std::string_view line) {
          testimony_.note_line(path, line);
          on_line(line);
        },
        std::move(on_end));
  }

 private:
  Testimony& testimony_;
  const std::unique_ptr<Transport> inner_;
};

std::unique_ptr<Transport> Testimony::listen_to(std::unique_ptr<Transport> transport) {
  return std::make_unique<ListeningTransport>(*this, std::move(transport));
}

void Testimony::note_call() {
  const std::lock_guard lock(mutex_);
  ++open_;
  ++heard_;
}

void Testimony::note_answer(const ApiCall& call, const ApiAnswer& answer) {
  // The disk first: what was durable when the answer was given, and not what became so while it was read.
  Word word;
  word.writes = disk_.writes();
  word.at = clock_();
  word.what = call.method + " " + call.path;
  const Value object = parse_json(answer.body).value_or(Value());
  {
    const std::lock_guard lock(mutex_);
    --open_;
    if (answer.status >= 500) troubles_.push_back(answer);
  }
  word.acknowledged = answer.ok() && call.method != "GET";
  const bool deleted = word.acknowledged && object["kind"].text() == "Status";
  word.uid = (deleted ? object["details"]["uid"] : object["metadata"]["uid"]).text();
  word.revision = revision_in(object);
  // What deletes a collection answers with a list, which speaks of a revision and of no object's change.
  word.acknowledged = word.acknowledged && !word.uid.empty();
  if (!answer.ok() || (word.revision == 0 && word.uid.empty())) word.what.clear();
  note(std::move(word));
}

void Testimony::note_line(const std::string& path, std::string_view line) {
  Word word;
  word.writes = disk_.writes();
  word.at = clock_();
  word.what = "watch " + path;
  const Value event = parse_json(line).value_or(Value());
  word.revision = revision_in(event["object"]);
  note(std::move(word));
}

void Testimony::note(Word word) {
  const std::lock_guard lock(mutex_);
  ++heard_;
  if (!word.what.empty()) words_.push_back(std::move(word));
  said_.notify_all();
}

std::vector<Word> Testimony::words() const {
  const std::lock_guard lock(mutex_);
  return words_;
}

std::vector<ApiAnswer> Testimony::troubles() const {
  const std::lock_guard lock(mutex_);
  return troubles_;
}

int Testimony::open_calls() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void Testimony::listen_anew() {
  const std::lock_guard lock(mutex_);
  listened_ = heard_;
}

bool Testimony::hears_something(std::chrono::microseconds within) {
  std::unique_lock lock(mutex_);
  return said_.wait_for(lock, within, [this] { return heard_ != listened_; });
}

}  // namespace berth
