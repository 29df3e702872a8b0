// How much one user may have going on at once, so that nobody's flood is everybody's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "apiserver/exchange.h"
#include "apiserver/user.h"

namespace berth {

class RequestLimits {
 public:
  RequestLimits(int in_flight_max, int watches_max) : in_flight_max_(in_flight_max), watches_max_(watches_max) {}

  // Counted until the ticket is dropped. None: the user has too many already. Masters and Berth's own components are not
  // counted: they bound themselves, and must get through when everybody else is turned away.
  Ticket begin_request(const User& user);
  Ticket begin_stream(const User& user);

 private:
  // Outlives the server's end if a ticket does.
  struct Counter {
    std::mutex mutex;
    std::map<std::string, int, std::less<>> per_user;
  };
  static Ticket count(const std::shared_ptr<Counter>& counter, const User& user, int max);

  const int in_flight_max_, watches_max_;
  std::shared_ptr<Counter> in_flight_ = std::make_shared<Counter>();
  std::shared_ptr<Counter> streams_ = std::make_shared<Counter>();
};

}  // namespace berth
