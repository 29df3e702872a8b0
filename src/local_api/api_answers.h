// Objects and answers as the tests of the API server write and read them.
#pragma once

#include <string>

#include "kube/transport.h"
#include "manifest/json.h"
#include "manifest/value.h"

namespace berth {

// The object in an answer; null if it is none.
inline Value object_of(const ApiAnswer& answer) {
  auto parsed = parse_json(answer.body);
  return parsed ? *std::move(parsed) : Value();
}

inline std::string pod_named(const std::string& name, const std::string& labels = "{}",
                             const std::string& annotations = "{}") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(","labels":)" + labels +
         R"(,"annotations":)" + annotations + R"(},"spec":{"containers":[{"name":"c","image":"i:1"}]}})";
}

inline std::string binding_to(const std::string& node, const std::string& uid = "") {
  return R"({"apiVersion":"v1","kind":"Binding","metadata":{"uid":")" + uid + R"("},"target":{"kind":"Node","name":")" +
         node + R"("}})";
}

}  // namespace berth
