#include "kube/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kube/curl_transfer.h"

namespace berth {
namespace {

// Calls that may wait for their turn. Beyond it one is answered at once that it was not sent.
constexpr std::size_t kWaitingMax = 65'536;
constexpr int kPollMax_ms = 60'000;  // we are woken for everything; this is for nothing in particular

class CurlTransport : public Transport {
 public:
  CurlTransport(Endpoint endpoint, CURLM* multi) : endpoint_(std::move(endpoint)), multi_(multi) {
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(endpoint_.options.connections_max) * 2);
    thread_ = std::thread([this] { serve(); });
  }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  // PRE: not on the transport's own thread.
  ~CurlTransport() override {
    {
      const std::lock_guard hold(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    curl_multi_cleanup(multi_);
  }

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    hand_over(std::make_unique<CurlTransfer>(std::move(call), std::move(done)));
  }

  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view line)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    auto wanted = std::make_shared<std::atomic<bool>>(true);
    auto handle = std::make_unique<Handle>(*this, wanted);
    hand_over(
        std::make_unique<CurlTransfer>(std::move(call), std::move(on_line), std::move(on_end), std::move(wanted)));
    return handle;
  }

 private:
  using Transfers = std::map<const CurlTransfer*, std::unique_ptr<CurlTransfer>>;

  class Handle : public ApiStream {
   public:
    Handle(CurlTransport& transport, Wanted wanted) : transport_(transport), wanted_(std::move(wanted)) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() override {
      *wanted_ = false;
      transport_.some_stream_ended_ = true;
      curl_multi_wakeup(transport_.multi_);
    }

   private:
    CurlTransport& transport_;
    Wanted wanted_;
  };

  void hand_over(std::unique_ptr<CurlTransfer> transfer) {
    {
      const std::lock_guard hold(mutex_);
      (transfer->is_stream() ? new_streams_ : waiting_calls_).push_back(std::move(transfer));
    }
    curl_multi_wakeup(multi_);
  }

  // ---- on the transport's thread ----

  void serve() {
    while (take_work()) {
      int running = 0;
      curl_multi_perform(multi_, &running);
      if (!finish_what_ended()) curl_multi_poll(multi_, nullptr, 0, kPollMax_ms, nullptr);
    }
    fail_everything();
  }

  // Until HTTP/2 is known to be spoken, a call takes a connection. Streams have theirs beside, so that watches never
  // keep calls from being made.
  std::size_t calls_max() const {
    const auto connections = static_cast<std::size_t>(endpoint_.options.connections_max);
    return multiplexed_ ? endpoint_.options.in_flight_max : std::min(connections, endpoint_.options.in_flight_max);
  }

  // False: it is time to stop.
  bool take_work() {
    if (some_stream_ended_.exchange(false)) drop_unwanted();
    std::vector<std::unique_ptr<CurlTransfer>> taken;
    std::vector<std::unique_ptr<CurlTransfer>> refused;
    {
      const std::lock_guard hold(mutex_);
      if (stopping_) return false;
      while (!new_streams_.empty()) taken.push_back(take_first(new_streams_));
      while (!waiting_calls_.empty() && calls_ + taken_calls(taken) < calls_max()) {
        taken.push_back(take_first(waiting_calls_));
      }
      while (waiting_calls_.size() > kWaitingMax) {
        refused.push_back(std::move(waiting_calls_.back()));
        waiting_calls_.pop_back();
      }
    }
    for (auto& transfer : taken) begin(std::move(transfer));
    for (const auto& transfer : refused) {
      transfer->fail(std::to_string(kWaitingMax) + " calls wait for " + endpoint_.base +
                     " already; this one was not sent: try again later");
    }
    return true;
  }

  static std::unique_ptr<CurlTransfer> take_first(std::deque<std::unique_ptr<CurlTransfer>>& queue) {
    std::unique_ptr<CurlTransfer> first = std::move(queue.front());
    queue.pop_front();
    return first;
  }
  static std::size_t taken_calls(const std::vector<std::unique_ptr<CurlTransfer>>& taken) {
    return static_cast<std::size_t>(
        std::count_if(taken.begin(), taken.end(), [](const auto& transfer) { return !transfer->is_stream(); }));
  }

  void begin(std::unique_ptr<CurlTransfer> transfer) {
    if (!transfer->is_wanted()) return;
    void* const easy = transfer->prepare(endpoint_);
    if (easy == nullptr) {
      transfer->fail(transfer->refusal());
    } else if (const CURLMcode code = curl_multi_add_handle(multi_, easy); code != CURLM_OK) {
      transfer->fail("libcurl takes no more requests: " + std::string(curl_multi_strerror(code)));
    } else {
      if (!transfer->is_stream()) ++calls_;
      const CurlTransfer* const key = transfer.get();
      transfers_.emplace(key, std::move(transfer));
    }
  }

  // Whether any did: then others may take their place before we wait.
  bool finish_what_ended() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      const CURLcode code = message->data.result;  // the message is gone once the handle is removed
      char* key = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &key);
      const std::unique_ptr<CurlTransfer> ended = take_out(reinterpret_cast<const CurlTransfer*>(key));
      if (code == CURLE_OK) multiplexed_ = ended->was_multiplexed();
      ended->finish(code);
    }
    return any;
  }

  std::unique_ptr<CurlTransfer> take_out(const CurlTransfer* key) {
    const auto found = transfers_.find(key);
    std::unique_ptr<CurlTransfer> transfer = std::move(found->second);
    transfers_.erase(found);
    curl_multi_remove_handle(multi_, transfer->easy());
    if (!transfer->is_stream()) --calls_;
    return transfer;
  }

  void drop_unwanted() {
    std::vector<const CurlTransfer*> unwanted;
    for (const auto& [key, transfer] : transfers_) {
      if (!transfer->is_wanted()) unwanted.push_back(key);
    }
    for (const CurlTransfer* key : unwanted) take_out(key);
  }

  // Nobody is left waiting for an answer that will not come.
  void fail_everything() {
    const std::string why = "the connection to " + endpoint_.base + " was given up by this program";
    while (!transfers_.empty()) take_out(transfers_.begin()->first)->fail(why);
    // Whoever is told may ask again in vain; who does so for ever is left without an answer in the end.
    for (int round = 0; round < 3; ++round) {
      std::deque<std::unique_ptr<CurlTransfer>> streams;
      std::deque<std::unique_ptr<CurlTransfer>> calls;
      {
        const std::lock_guard hold(mutex_);
        streams.swap(new_streams_);
        calls.swap(waiting_calls_);
      }
      for (const auto& transfer : streams) transfer->fail(why);
      for (const auto& transfer : calls) transfer->fail(why);
    }
  }

  Endpoint endpoint_;
  CURLM* const multi_;
  std::atomic<bool> some_stream_ended_ = false;

  std::mutex mutex_;
  bool stopping_ = false;
  std::deque<std::unique_ptr<CurlTransfer>> waiting_calls_;
  std::deque<std::unique_ptr<CurlTransfer>> new_streams_;

  // The thread's own.
  Transfers transfers_;
  std::size_t calls_ = 0;
  bool multiplexed_ = false;

  std::thread thread_;  // last: it uses the others
};

}  // namespace

Result<std::unique_ptr<Transport>> connect_by_curl(ServerAccess access, CurlOptions options) {
  Result<Endpoint> endpoint = endpoint_of(std::move(access), std::move(options));
  if (!endpoint) return endpoint.error();
  CURLM* const multi = curl_multi_init();
  if (multi == nullptr) return Complaints("libcurl cannot start: no memory");
  return std::make_unique<CurlTransport>(std::move(*endpoint), multi);
}

}  // namespace berth
