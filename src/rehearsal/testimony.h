// Who was told what by an API server, and when, counted in writes to its disk: what a crash after so many writes must
// not take back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/transport.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"
#include "store/faulty_disk.h"
#include "store/store.h"

namespace berth {

// One word of the server: somebody saw this revision, or heard that his change was made.
struct Word {
  std::int64_t writes = 0;  // to the disk when it was said
  Time at = {};             // by the plane's clock
  Revision revision = 0;    // 0: of a deletion, whose revision nobody is told
  bool acknowledged = false;
  std::string uid = {};   // of the object; empty: none in particular
  std::string what = {};  // "POST /api/v1/namespaces/default/pods"
};

// INVARIANT: nothing is ever taken out of it. Used by all threads.
class Testimony {
 public:
  Testimony(const FaultyDisk& disk, WallClock clock) : disk_(disk), clock_(std::move(clock)) {}

  // A transport that notes what comes through it. PRE: it outlives it.
  std::unique_ptr<Transport> listen_to(std::unique_ptr<Transport> transport);

  std::vector<Word> words() const;
  // Answers that speak of trouble of the server's own.
  std::vector<ApiAnswer> troubles() const;
  // Calls that have no answer yet.
  int open_calls() const;
  // Whether anything was said or asked since listen_anew(), or is before so long has passed.
  void listen_anew();
  bool hears_something(std::chrono::microseconds within);

 private:
  friend class ListeningTransport;
  void note_call();
  void note_answer(const ApiCall& call, const ApiAnswer& answer);
  void note_line(const std::string& path, std::string_view line);
  void note(Word word);

  const FaultyDisk& disk_;
  const WallClock clock_;
  mutable std::mutex mutex_;
  std::condition_variable said_;
  std::vector<Word> words_;
  std::vector<ApiAnswer> troubles_;
  int open_ = 0;
  std::uint64_t heard_ = 0, listened_ = 0;
};

}  // namespace berth
