#include "apiserver/api_server.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "apiserver/authorization.h"
#include "apiserver/backups.h"
#include "apiserver/bootstrap.h"
#include "apiserver/deleting.h"
#include "apiserver/discovery.h"
#include "apiserver/exchange.h"
#include "apiserver/health.h"
#include "apiserver/long_reads.h"
#include "apiserver/metrics.h"
#include "apiserver/node_amounts.h"
#include "apiserver/pod_actions.h"
#include "apiserver/pod_log.h"
#include "apiserver/reading.h"
#include "apiserver/request_limits.h"
#include "apiserver/reviews.h"
#include "apiserver/sight.h"
#include "apiserver/watching.h"
#include "apiserver/writing.h"
#include "base/wording.h"
#include "manifest/selector.h"

namespace berth {
namespace {

constexpr std::size_t kBodyBytesMax = 3 << 20;

// Whatever a reply may repeat of a request must be text.
bool is_text(const HttpRequest& request) {
  if (!is_utf8(request.path)) return false;
  for (const auto& [name, value] : request.query) {
    if (!is_utf8(name) || !is_utf8(value)) return false;
  }
  return true;
}

ApiError method_not_allowed(std::string allowed) {
  ApiError error =
      generic_error(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
  error.allowed_methods = std::move(allowed);
  return error;
}

ApiError no_such_resource() {
  return generic_error(404, "NotFound", "the server could not find the requested resource");
}

bool only_looks(const HttpRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

// What else of the discovery answers HEAD in Kubernetes: the paths that are one document for all groups.
bool may_be_headed(std::string_view path) { return path == "/" || path == "/apis" || path.starts_with("/openapi/"); }

// As in Kubernetes, who may look at one object of a collection by its name may also select it by its name.
std::string name_selected(const HttpRequest& request) {
  const std::string* const text = request.parameter("fieldSelector");
  if (text == nullptr) return {};
  const auto selector = FieldSelector::parse(*text);
  if (!selector) return {};  // told so when it is read for use
  for (const FieldSelector::Requirement& each : selector->requirements()) {
    if (each.field == "metadata.name" && each.equal) return each.value;
  }
  return {};
}

AccessQuestion question_about(const Route& route, std::string_view verb) {
  AccessQuestion question;
  question.verb = std::string(verb);
  question.group = route.kind->group;
  question.resource = route.kind->plural;
  question.subresource = route.subresource;
  question.name_space = route.name_space;
  question.name = route.name;
  if (route.kind->kind == "Namespace") question.name_space = route.name;  // as in Kubernetes: a namespace is in itself
  return question;
}

ApiError access_refused(const Exchange& exchange) {
  const AccessQuestion& asked = exchange.question;
  const Route& route = exchange.route;
  std::string resource = asked.resource;
  if (!asked.subresource.empty()) resource += "/" + asked.subresource;
  std::string why = "User \"" + exchange.user.name + "\" cannot " + asked.verb + " resource \"" + resource +
                    "\" in API group \"" + asked.group + "\"";
  why += route.name_space.empty() ? " at the cluster scope" : " in the namespace \"" + route.name_space + "\"";
  return forbidden(*route.kind, asked.name, why);
}

ApiError path_refused(const Exchange& exchange) {
  const AccessQuestion& asked = exchange.question;
  return generic_error(
      403, "Forbidden",
      "forbidden: User \"" + exchange.user.name + "\" cannot " + asked.verb + " path \"" + asked.path + "\"");
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

class EmbeddedApiServer final : public ApiServer {
 public:
  EmbeddedApiServer(Store& store, ApiServerOptions options)
      : authorizer_(make_rbac_authorizer(store)),
        authenticator_(std::move(options.tokens), *authorizer_),
        dice_(options.seed),
        node_amounts_(store),
        parts_{store, *authorizer_, authenticator_, std::move(options.now), dice_, node_amounts_},
        limits_(options.in_flight_per_user_max, options.watches_per_user_max),
        watches_(parts_),
        logs_(parts_, std::move(options.log_folder)),
        backups_(store, std::move(options.backup_folder)),
        health_(store),
        long_reads_(std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 4)) {}

  // What was handed to the store refers to this.
  ~EmbeddedApiServer() override { parts_.store.drain(); }
  EmbeddedApiServer(const EmbeddedApiServer&) = delete;
  EmbeddedApiServer& operator=(const EmbeddedApiServer&) = delete;

  const ServerParts& parts() const { return parts_; }

  void handle(HttpRequest request, std::shared_ptr<Responder> responder) override {
    if (is_open_health(request)) return say_health(std::move(request), std::move(responder));
    auto user = authenticator_.authenticate(request);
    if (user) return handle_as(*user, std::move(request), std::move(responder));
    Exchange exchange;
    exchange.responder = std::move(responder);
    answer_error(exchange, user.error());
  }

  void handle_as(const User& user, HttpRequest request, std::shared_ptr<Responder> responder) override {
    if (is_open_health(request)) return say_health(std::move(request), std::move(responder));
    auto exchange = std::make_shared<Exchange>();
    exchange->user = user;
    exchange->request = std::move(request);
    exchange->responder = std::move(responder);
    exchange->ticket = limits_.begin_request(user);
    if (!exchange->ticket) {
      return answer_error(*exchange,
                          too_many_requests("too many requests of this user are in flight, please try again later", 1));
    }
    if (!is_text(exchange->request))
      return answer_error(*exchange, bad_request("the path or the query is no valid UTF-8"));
    if (exchange->request.body.size() > kBodyBytesMax) {
      return answer_error(*exchange,
                          plain_error(413, "RequestEntityTooLarge",
                                      "Request entity too large: limit is " + std::to_string(kBodyBytesMax)));
    }
    exchange->route = parse_route(exchange->request.path);
    switch (exchange->route.what) {
      case Route::What::kOther:
        return serve_path(exchange);
      case Route::What::kUnknownResource:
        return answer_error(*exchange, no_such_resource());
      case Route::What::kResource:
        return serve_resource(exchange);
    }
  }

 private:
  // For load balancers and people before they have signed in.
  static bool is_open_health(const HttpRequest& request) { return only_looks(request) && is_health_path(request.path); }

  void say_health(HttpRequest request, std::shared_ptr<Responder> responder) const {
    Exchange exchange;
    exchange.request = std::move(request);
    exchange.responder = std::move(responder);
    HealthReport report = health_.report(exchange.request);
    answer_text(exchange, report.code, std::move(report.text));
  }

  void say_metrics(Exchange& exchange) const {
    HttpReply reply;
    reply.content_type = kMetricsType;
    reply.body = metrics_text(parts_.store.figures(), parts_.store.revision());
    answer(exchange, std::move(reply));
  }

  void serve_path(const ExchangePtr& exchange) {
    exchange->question.path = exchange->request.path;
    exchange->question.verb = lower(exchange->request.method);
    // What kubectl asks before it knows who it is.
    const bool open_to_all = exchange->request.path == "/version";
    if (!open_to_all && !authorizer_->decide(exchange->user, exchange->question).allowed) {
      return answer_error(*exchange, path_refused(*exchange));
    }
    if (exchange->request.path == kBackupPath) return backups_.serve(exchange);
    if (exchange->request.path == kMetricsPath && only_looks(exchange->request)) return say_metrics(*exchange);
    auto reply = discovery_reply(exchange->request);
    if (!reply) return answer_text(*exchange, 404, "404 page not found\n");
    const bool headed = may_be_headed(exchange->request.path);
    if (exchange->request.method != "GET" && !(headed && only_looks(exchange->request))) {
      return answer_error(*exchange, method_not_allowed(headed ? "GET, HEAD" : "GET"));
    }
    answer(*exchange, *std::move(reply));
  }

  void serve_resource(const ExchangePtr& exchange) {
    const Route& route = exchange->route;
    const bool watch = exchange->request.parameter("watch") != nullptr && is_set(exchange->request, "watch");
    const std::string_view verb = verb_of(exchange->request.method, route, watch);
    if (!method_fits(route, verb)) return answer_error(*exchange, method_not_allowed(allowed_methods(route)));
    exchange->question = question_about(route, verb);
    if (route.name.empty() && verb != "create") exchange->question.name = name_selected(exchange->request);
    if (!authorizer_->decide(exchange->user, exchange->question).allowed && !may_see_usable(*exchange)) {
      return answer_error(*exchange, access_refused(*exchange));
    }
    if (!route.subresource.empty() && route.subresource != "status") return serve_action(exchange);
    if (verb == "get") return read_one(parts_, *exchange);
    if (verb == "list" || verb == "watch") return serve_collection(exchange);
    if (verb == "create") return serve_create(exchange);
    if (verb == "update") return replace_object(parts_, exchange);
    if (verb == "patch") return patch_object(parts_, exchange);
    if (verb == "delete") return delete_object(parts_, exchange);
    if (is_long(*exchange)) {
      return long_reads_.run(exchange->user.name, [this, exchange] { delete_collection(parts_, exchange); });
    }
    return delete_collection(parts_, exchange);
  }

  // Who may not look at all of them is shown what he may use.
  bool may_see_usable(Exchange& exchange) const {
    const auto narrower = question_about_usable(exchange.question);
    if (!narrower || !authorizer_->decide(exchange.user, *narrower).allowed) return false;
    exchange.question = *narrower;
    exchange.only_usable = true;
    return true;
  }

  static bool method_fits(const Route& route, std::string_view verb) {
    if (verb.empty()) return false;
    if (route.subresource == "log") return verb == "get";
    if (route.subresource == "status") return verb == "get" || verb == "update" || verb == "patch";
    if (!route.subresource.empty()) return verb == "create";
    // All namespaces at once are for looking only.
    const bool in_no_namespace = route.kind->namespaced && route.name_space.empty();
    if (in_no_namespace && verb != "list" && verb != "watch") return false;
    return route.kind->has_verb(verb);
  }

  static std::string allowed_methods(const Route& route) {
    std::string all;
    for (const char* const method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
      if (method_fits(route, verb_of(method, route, false))) all += (all.empty() ? "" : ", ") + std::string(method);
    }
    return all;
  }

  void serve_action(const ExchangePtr& exchange) {
    const std::string& action = exchange->route.subresource;
    if (action == "binding") return bind_pod(parts_, exchange);
    if (action == "eviction") return evict_pod(parts_, exchange);
    if (action != "log") return answer_error(*exchange, no_such_resource());
    if (is_set(exchange->request, "follow") && !becomes_stream(*exchange)) return;
    logs_.serve(*exchange);
  }

  void serve_collection(const ExchangePtr& exchange) {
    const auto options = read_list_options(exchange->request, exchange->route);
    if (!options) return answer_error(*exchange, options.error());
    if (options->watch && !becomes_stream(*exchange)) return;
    const auto serve = [this, exchange, options = *options] {
      if (options.watch) return watches_.start(*exchange, options);
      read_list(parts_, *exchange, options);
    };
    const bool from_now = !options->revision || *options->revision == 0;
    const bool only_changes = options->watch && !options->initial_events.value_or(from_now);
    if (only_changes || !is_long(*exchange)) return serve();
    long_reads_.run(exchange->user.name, serve);
  }

  // Whether a collection has more objects than are read on the spot, or is asked for as it was: from the log.
  bool is_long(const Exchange& exchange) const {
    if (exchange.request.parameter("continue") != nullptr) return true;
    constexpr std::size_t kMax = LongReads::kObjectsAtOnceMax;
    return parts_.store.list(exchange.route.prefix(), {}, kMax + 1).records.size() > kMax;
  }

  void serve_create(const ExchangePtr& exchange) {
    const KindInfo& kind = *exchange->route.kind;
    if (is_review(kind)) return answer_review(parts_, *exchange);
    if (kind.kind == "Binding") return bind_pod(parts_, exchange);
    create_object(parts_, exchange);
  }

  // From a request that is counted until its answer to one that is counted until it ends.
  bool becomes_stream(Exchange& exchange) {
    Ticket ticket = limits_.begin_stream(exchange.user);
    if (!ticket) {
      answer_error(exchange, too_many_requests("too many watches of this user are open, please try again later", 1));
      return false;
    }
    exchange.ticket = std::move(ticket);
    return true;
  }

  const std::unique_ptr<Authorizer> authorizer_;
  const Authenticator authenticator_;
  NameDice dice_;
  NodeAmounts node_amounts_;
  const ServerParts parts_;
  RequestLimits limits_;
  Watches watches_;
  PodLogs logs_;
  Backups backups_;
  Health health_;
  LongReads long_reads_;  // ends first: what runs there uses the others
};

}  // namespace

Result<std::unique_ptr<ApiServer>> ApiServer::make(Store& store, ApiServerOptions options) {
  if (!options.now) options.now = system_wall_clock();
  auto server = std::make_unique<EmbeddedApiServer>(store, std::move(options));
  if (Complaints complaints = put_missing_beginnings(server->parts()); !complaints.empty()) return complaints;
  return std::unique_ptr<ApiServer>(std::move(server));
}

}  // namespace berth
