#include "client/asking.h"

#include <algorithm>
#include <utility>

#include "client/listing.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr int kPageSize = 500;

std::string_view remedy_for(int exit_code, int status, std::string_view message) {
  if (status == 0) return "; is the control plane up (`berth up`), and is it the one that the kubeconfig names?";
  if (status == 401) return "; the kubeconfig's user is unknown there: take another one by --kubeconfig or --context";
  if (exit_code == kExitForbidden) return "; ask an administrator for the right, or name another namespace by -n";
  // Rules of Berth say themselves what to do; quotas do not.
  if (message.find("exceeded quota") != std::string_view::npos)
    return "; ask for less, wait until others are done, or choose another queue";
  if (exit_code == kExitConflict) return "; choose another name, or delete the old one first (`berth cancel`)";
  return "";
}

using Warned = std::function<void(const std::string&)>;

Asked<Value> answer_of(Transport& transport, ApiCall call, std::string_view what, const Warned& warned = nullptr) {
  const ApiAnswer answer = send_and_wait(transport, std::move(call));
  if (warned) std::ranges::for_each(answer.warnings, warned);
  if (!answer.ok()) return std::unexpected(failure_of(answer, what));
  Result<Value> parsed = parse_json(answer.body);
  if (!parsed) {
    return std::unexpected(AskFailure{1, "cannot " + std::string(what) + ": the server's answer is no JSON (" +
                                             parsed.error().kept().front().to_string() +
                                             "); is it a Kubernetes API server?"});
  }
  return std::move(*parsed);
}

std::string what_of(std::string_view verb, std::string_view qualified, std::string_view name) {
  const std::string kinds(qualified.substr(0, qualified.find('.')));
  if (name.empty()) return std::string(verb) + " " + kinds;
  return std::string(verb) + " " + kinds.substr(0, kinds.size() - 1) + "/" + std::string(name);
}

}  // namespace

int exit_code_of(const ApiAnswer& answer) {
  switch (answer.status) {
    case 400:
    case 422:
      return 2;
    case 401:
      return kExitForbidden;
    case 403:
      // Both are 403: rights are spoken of as what a user cannot do; the rest are rules that the object broke.
      return message_of(answer).find("\" cannot ") != std::string::npos ? kExitForbidden : kExitRefused;
    case 404:
      return kExitNotFound;
    case 409:
      return kExitConflict;
    default:
      return 1;
  }
}

std::string message_of(const ApiAnswer& answer) {
  if (answer.status == 0) return printable(answer.body);
  const Result<Value> status = parse_json(answer.body);
  const std::string_view message = status ? (*status)["message"].text() : std::string_view();
  return message.empty() ? text_of_failure(answer) : printable(message);
}

AskFailure failure_of(const ApiAnswer& answer, std::string_view what) {
  const int exit_code = exit_code_of(answer);
  std::string text = "cannot " + std::string(what) + ": " + message_of(answer);
  std::string_view remedy = remedy_for(exit_code, answer.status, text);
  if (text.ends_with('?') && !remedy.empty()) remedy.remove_prefix(1);  // its semicolon
  text += remedy;
  return {exit_code, std::move(text)};
}

Asked<void> for_each_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                            const std::function<void(Value&)>& visit, std::string_view fields) {
  std::string continue_at;
  do {
    ApiCall call;
    call.path = api_path(qualified, name_space) + "?limit=" + std::to_string(kPageSize);
    if (!fields.empty()) call.path += "&fieldSelector=" + percent_encoded(fields);
    if (!continue_at.empty()) call.path += "&continue=" + percent_encoded(continue_at);
    Asked<Value> page = answer_of(transport, std::move(call), what_of("list", qualified, ""));
    if (!page) return std::unexpected(page.error());
    for (Value& each : page->at("items").edit_items()) visit(each);
    continue_at = (*page)["metadata"]["continue"].text();
  } while (!continue_at.empty());
  return {};
}

Asked<std::vector<Value>> list_objects(Transport& transport, std::string_view qualified, std::string_view name_space,
                                       std::string_view fields) {
  std::vector<Value> objects;
  const auto keep = [&](Value& each) { objects.push_back(std::move(each)); };
  const auto done = for_each_object(transport, qualified, name_space, keep, fields);
  if (!done) return std::unexpected(done.error());
  return objects;
}

Asked<Value> read_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                         std::string_view name) {
  ApiCall call;
  call.path = api_path(qualified, name_space, name);
  return answer_of(transport, std::move(call), what_of("read", qualified, name));
}

Asked<void> may_list_objects(Transport& transport, std::string_view qualified, std::string_view name_space) {
  ApiCall call;
  call.path = api_path(qualified, name_space) + "?limit=1";
  const Asked<Value> page = answer_of(transport, std::move(call), what_of("list", qualified, ""));
  if (!page) return std::unexpected(page.error());
  return {};
}

Asked<Value> create_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                           const Value& object, Creation creation, const Warned& warned) {
  ApiCall call;
  call.method = "POST";
  call.path = api_path(qualified, name_space) + "?fieldManager=berth&fieldValidation=Strict";
  if (creation == Creation::kOnlyChecked) call.path += "&dryRun=All";
  call.body = to_json(object);
  const Value& metadata = object["metadata"];
  const std::string_view name = metadata["name"].text(metadata["generateName"].text());
  return answer_of(transport, std::move(call), what_of("submit", qualified, name), warned);
}

Asked<Value> change_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                           std::string_view name, const Value& patch) {
  ApiCall call;
  call.method = "PATCH";
  call.path = api_path(qualified, name_space, name) + "?fieldManager=berth&fieldValidation=Strict";
  call.content_type = "application/merge-patch+json";
  call.body = to_json(patch);
  return answer_of(transport, std::move(call), what_of("change", qualified, name));
}

Asked<Value> delete_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                           std::string_view name) {
  ApiCall call;
  call.method = "DELETE";
  call.path = api_path(qualified, name_space, name);
  call.body =
      to_json(Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}}));
  return answer_of(transport, std::move(call), what_of("cancel", qualified, name));
}

}  // namespace berth
