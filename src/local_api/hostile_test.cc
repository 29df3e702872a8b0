// Bodies and paths that nobody means well by: each is answered with a 4xx, soon.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "local_api/api_answers.h"
#include "local_api/test_server.h"

namespace berth::hostile_test {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::vector<std::string> hostile_bodies() {
  std::vector<std::string> bodies = {
      "",
      "{",
      "null",
      "[]",
      "1",
      "\"text\"",
      "{}{}",
      "\xff\xfe",
      "{\"metadata\":\"\xff\"}",
      std::string("k8s\0\xff\xff", 6),
      repeated("[", 100'000),
      repeated("{\"a\":", 100'000),
      R"({"metadata":)" + repeated("[", 500) + repeated("]", 500) + "}",
      R"({"metadata":{"name":")" + std::string(300'000, 'a') + R"("}})",
      R"({"metadata":{"name":"p","labels":{"a":")" + std::string(300'000, 'a') + R"("}}})",
      R"({"metadata":{"name":"p","annotations":{"a":")" + std::string(300'000, 'a') +
          R"("}},"spec":{"containers":[{"name":"c","image":"i"}]}})",
      R"({"metadata":{"name":"p"},"spec":{"activeDeadlineSeconds":1e999}})",
      R"({"metadata":{"name":"p"},"spec":{"activeDeadlineSeconds":999999999999999999999999}})",
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1e999999999"}}}]}})",
      R"({"metadata":{"name":"../../etc"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
      R"({"metadata":{"name":"p","namespace":"../x"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
      R"({"kind":"Nothing","apiVersion":"v9"})",
  };
  // A wrong type in every place that the server itself looks at.
  for (const char* const wrong : {"1", "\"x\"", "[]", "[1]", "{\"a\":1}", "true"}) {
    for (const char* const place :
         {R"({"metadata":@})", R"({"metadata":{"name":@}})", R"({"metadata":{"name":"P_","labels":@}})",
          R"({"metadata":{"name":"P_","annotations":@}})", R"({"metadata":{"name":"P_","finalizers":@}})",
          R"({"metadata":{"name":"P_","ownerReferences":@}})", R"({"metadata":{"name":"P_"},"spec":@})",
          R"({"metadata":{"name":"P_"},"spec":{"containers":@}})",
          R"({"metadata":{"name":"P_"},"spec":{"template":@}})", R"({"metadata":{"name":"P_"},"status":@})",
          R"({"kind":@})", R"({"apiVersion":@})"}) {
      std::string body = place;
      body.replace(body.find('@'), 1, wrong);
      bodies.push_back(std::move(body));
    }
  }
  return bodies;
}

TEST(Hostile, EveryBodyIsAnsweredWithItsFault) {
  TestServer server;
  for (const std::string& body : hostile_bodies()) {
    for (const char* const path :
         {"/api/v1/namespaces/default/pods", "/apis/batch/v1/namespaces/default/jobs",
          "/api/v1/namespaces/default/pods/p/binding", "/apis/authorization.k8s.io/v1/subjectaccessreviews"}) {
      const ApiAnswer answer = server.call("POST", path, body);
      EXPECT_EQ(answer.status / 100, 4) << path << " " << body.substr(0, 200) << answer.body.substr(0, 300);
      EXPECT_EQ(object_of(answer)["kind"].text(), "Status") << body.substr(0, 200);
      EXPECT_LT(answer.body.size(), 700'000U);
    }
  }
}

TEST(Hostile, EveryPatchIsAnsweredWithItsFault) {
  TestServer server;
  const std::string pod = "/api/v1/namespaces/default/pods/p";
  ASSERT_EQ(server.call("POST", "/api/v1/namespaces/default/pods", pod_named("p")).status, 201);
  const Revision before = server.store().revision();
  for (const char* const type :
       {"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
        "application/apply-patch+yaml", "text/html"}) {
    for (const std::string& body :
         {std::string(), std::string("{"), std::string("7"), std::string("[{\"op\":\"nothing\"}]"),
          repeated("[", 50'000), std::string(R"({"metadata":5})"), std::string(R"({"metadata":{"name":"other"}})"),
          std::string(R"({"spec":"x"})"), std::string(R"({"kind":"Job"})"),
          std::string(R"([{"op":"copy","from":"","path":"/metadata/labels/a"}])")}) {
      ApiCall call;
      call.method = "PATCH";
      call.path = pod;
      call.content_type = type;
      call.body = body;
      const ApiAnswer answer = server.call(std::move(call));
      EXPECT_EQ(answer.status / 100, 4) << type << " " << body.substr(0, 200) << answer.body.substr(0, 300);
    }
  }
  EXPECT_EQ(server.store().revision(), before);
}

// Small words that would become large ones: refused, or done, with one write at most.
TEST(Hostile, WhatSwellsIsBounded) {
  TestServer server;
  const std::string pods = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(server.call("POST", pods, pod_named("p", "{}", R"({"seed":")" + std::string(1'000, 'x') + R"("})")).status,
            201);
  std::string laughs = "metadata:\n  name: laughs\n  annotations:\n    a0: &a0 {x: ha}\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "    a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + ", " + before +
              ", " + before + "]\n";
  }
  std::string labels;
  for (int i = 0; i < 100'000; ++i) labels += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"v\"";
  std::string copies;
  for (int i = 0; i < 40; ++i) {
    copies += std::string(i == 0 ? "" : ",") +
              R"({"op":"copy","from":"/metadata/annotations","path":"/metadata/annotations/a)" + std::to_string(i) +
              R"("})";
  }
  const auto call_of = [&](const char* method, const std::string& path, const char* type, const std::string& body) {
    ApiCall call;
    call.method = method;
    call.path = path;
    call.content_type = type;
    call.body = body;
    return call;
  };
  const ApiCall calls[] = {
      call_of("POST", pods, "application/yaml", laughs),
      call_of("POST", pods, "application/json", pod_named("many", "{" + labels + "}")),
      call_of("PATCH", pods + "/p", "application/merge-patch+json", R"({"metadata":{"labels":{)" + labels + "}}}"),
      call_of("PATCH", pods + "/p", "application/strategic-merge-patch+json",
              R"({"metadata":{"labels":{)" + labels + "}}}"),
      call_of("PATCH", pods + "/p", "application/json-patch+json", "[" + copies + "]"),
      call_of("PATCH", pods + "/p?fieldManager=m", "application/apply-patch+yaml", laughs),
      call_of("GET", pods + "?labelSelector=" + std::string(1 << 20, 'a'), "application/json", ""),
      call_of("GET", pods + "?labelSelector=" + repeated("a,", 1 << 19) + "b", "application/json", ""),
      call_of("GET", pods + "?labelSelector=" + "a+in+(" + repeated("b,", 1 << 18) + "b)", "application/json", ""),
      call_of("GET", pods + "?fieldSelector=" + repeated("metadata.name%3Da,", 20'000) + "spec.nodeName%3Db",
              "application/json", ""),
      call_of("DELETE", pods + "?labelSelector=" + repeated("!p,", 1 << 18) + "q", "application/json", ""),
  };
  for (const ApiCall& call : calls) {
    const Revision before = server.store().revision();
    const ApiAnswer answer = server.call(call);
    EXPECT_TRUE(answer.status / 100 == 4 || answer.status / 100 == 2)
        << call.path.substr(0, 100) << " " << call.body.substr(0, 100) << answer.status;
    EXPECT_LE(server.store().revision(), before + 1) << call.path.substr(0, 100);
    EXPECT_LT(answer.body.size(), std::size_t{4} << 20) << call.path.substr(0, 100);
  }
}

TEST(Hostile, PathsAndQuestionsAreBounded) {
  TestServer server;
  const std::string pods = "/api/v1/namespaces/default/pods";
  const std::string paths[] = {"/" + std::string(60'000, 'a'),
                               repeated("/a", 30'000),
                               pods + "/" + std::string(60'000, 'x'),
                               pods + "/..",
                               pods + "/%00",
                               pods + "/%2e%2e%2fsecrets",
                               pods + "?labelSelector=" + repeated("a,", 10'000) + "(((",
                               pods + "?fieldSelector=" + std::string(40'000, '='),
                               pods + "?limit=-1",
                               pods + "?limit=99999999999999999999",
                               pods + "?resourceVersion=abc",
                               pods + "?timeoutSeconds=x&watch=1",
                               pods + "?continue=" + std::string(50'000, 'A'),
                               pods + "?resourceVersionMatch=Exact",
                               pods + "?resourceVersionMatch=Sometimes&resourceVersion=1"};
  for (const std::string& path : paths) {
    const ApiAnswer answer = server.call("GET", path);
    EXPECT_EQ(answer.status / 100, 4) << path.substr(0, 200);
  }
}

}  // namespace berth::hostile_test
