// What the command line asks of an API server, and what a "no" means for whoever typed the command.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/transport.h"
#include "manifest/value.h"

namespace berth {

// Exit codes beside those of every command (0 done, 1 failed, 2 wrong usage or input).
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitForbidden = 4;  // not signed in, or without the right
inline constexpr int kExitConflict = 5;   // it exists already, or has changed meanwhile
inline constexpr int kExitRefused = 6;    // by a quota or another rule of admission
inline constexpr int kExitWaits = 7;      // what was asked about waits for a place
inline constexpr int kExitTimedOut = 8;

struct AskFailure {
  int exit_code = 1;
  std::string text;  // what went wrong, why, and what to do; one line
};
template <class T>
using Asked = std::expected<T, AskFailure>;

// Of an answer that is not ok().
int exit_code_of(const ApiAnswer& answer);
// What the server said, or why it said nothing, whole: a refusal's remedy often stands at its end. One line.
std::string message_of(const ApiAnswer& answer);
// `what` was wanted: "list jobs".
AskFailure failure_of(const ApiAnswer& answer, std::string_view what);

// All objects of a kind, or those of which these fields are so ("reason=Evicted"); an empty namespace: of all namespaces.
Asked<std::vector<Value>> list_objects(Transport& transport, std::string_view qualified, std::string_view name_space,
                                       std::string_view fields = {});
// The same, page by page, for those who need not keep them all.
Asked<void> for_each_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                            const std::function<void(Value&)>& visit, std::string_view fields = {});
Asked<Value> read_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                         std::string_view name);
// Whether a watch of them could begin at all.
Asked<void> may_list_objects(Transport& transport, std::string_view qualified, std::string_view name_space);
enum class Creation : bool { kDone, kOnlyChecked };  // the latter by the server's dry run
// `warned`, if there is one, hears what the server warns of.
Asked<Value> create_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                           const Value& object, Creation creation = Creation::kDone,
                           const std::function<void(const std::string&)>& warned = nullptr);
// By a merge patch.
Asked<Value> change_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                           std::string_view name, const Value& patch);
// What it owns is deleted after it.
Asked<Value> delete_object(Transport& transport, std::string_view qualified, std::string_view name_space,
                           std::string_view name);

}  // namespace berth
