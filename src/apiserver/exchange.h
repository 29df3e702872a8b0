// One request on its way through the server, with all that is known of it, and how it is answered.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/api_error.h"
#include "apiserver/authentication.h"
#include "apiserver/authorization.h"
#include "apiserver/object_meta.h"
#include "apiserver/route.h"
#include "apiserver/user.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"
#include "store/store.h"
#include "web_server/http.h"

namespace berth {

class NodeAmounts;

// What everything that answers requests works with.
struct ServerParts {
  Store& store;
  const Authorizer& authorizer;
  const Authenticator& authenticator;
  WallClock now;
  NameDice& dice;
  NodeAmounts& node_amounts;
};

// Held as long as something counts against its user's limit.
using Ticket = std::shared_ptr<void>;

struct Exchange {
  HttpRequest request;
  User user;
  Route route;
  AccessQuestion question;   // what was allowed; streams ask it again
  bool only_usable = false;  // shows no queues and priority classes but those that the user may use (sight.h)
  std::shared_ptr<Responder> responder;
  Ticket ticket;
  std::vector<std::string> warnings;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// Each once, and never two.
void answer_error(Exchange& exchange, const ApiError& error);
void answer_value(Exchange& exchange, int code, const Value& value);
void answer_json(Exchange& exchange, int code, std::string_view object);  // what is JSON already
void answer_text(Exchange& exchange, int code, std::string text);
void answer(Exchange& exchange, HttpReply reply);  // with the warnings

}  // namespace berth
