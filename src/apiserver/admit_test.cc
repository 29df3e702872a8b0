#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>

#include "apiserver/admission_world.h"

namespace berth::admit_test {

std::string pod(const std::string& name, const std::string& metadata = "", const std::string& spec = "",
                const std::string& resources = "{}") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default" +
         (metadata.empty() ? "" : ", ") + metadata +
         "}, spec: {containers: [{name: c, image: b, resources: " + resources + "}]" + (spec.empty() ? "" : ", ") +
         spec + "}}";
}

std::string gpu_pod(const std::string& name, int gpus, const std::string& metadata = "") {
  return pod(name, metadata, "", "{limits: {nvidia.com/gpu: " + std::to_string(gpus) + "}}");
}

std::string job(const std::string& name, const std::string& metadata = "", const std::string& template_text = "") {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", namespace: default" +
         (metadata.empty() ? "" : ", ") + metadata + "}, spec: {template: {" +
         (template_text.empty() ? "" : "metadata: {" + template_text + "}, ") +
         "spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}";
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_EQ(message.empty(), part.empty()) << message << " / " << part;
  EXPECT_NE(message.find(part), std::string::npos) << message << " / " << part;
}

TEST(Admit, NeedsANamespaceThatStays) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: v1, kind: Namespace, metadata: {name: going, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: "
      "{phase: Terminating}}");
  EXPECT_EQ(world.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: nons}}"),
            "namespaces \"nons\" not found");
  EXPECT_EQ(
      world.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: going}}"),
      "configmaps \"c\" is forbidden: unable to create new content in namespace going because it is being terminated");
  EXPECT_EQ(world.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}}"), "");
}

TEST(Admit, PodsGetTheirPriorityFromTheirClass) {
  AdmissionWorld world;
  const std::string kClass = "apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, preemptionPolicy: Never";
  world.put("{" + kClass + ", metadata: {name: high}, value: 100}");
  world.put("{" + kClass + ", metadata: {name: closed, annotations: {berth.dev/restricted: 'true'}}, value: 200}");
  world.put("{" + kClass + ", metadata: {name: system-node-critical}, value: 2000001000}");
  const auto priority_of = [&](const std::string& name) {
    return to_json(world.at("pods/default/" + name)["spec"]["priority"]);
  };

  EXPECT_EQ(world.create(pod("p1")), "");
  EXPECT_EQ(priority_of("p1"), "0");
  EXPECT_EQ(world.at("pods/default/p1")["spec"]["preemptionPolicy"].text(), "PreemptLowerPriority");
  EXPECT_EQ(world.create(pod("p2", "", "priorityClassName: high")), "");
  EXPECT_EQ(priority_of("p2"), "100");
  EXPECT_EQ(world.at("pods/default/p2")["spec"]["preemptionPolicy"].text(), "Never");
  world.authorizer.allowed = {"ann get priorityclasses"};
  EXPECT_EQ(world.create(pod("p3", "", "priorityClassName: none")),
            "pods \"p3\" is forbidden: no PriorityClass with name none was found");
  world.authorizer.allowed = {};
  for (const char* const name : {"closed", "none"}) {
    expect_part(world.create(pod("p3", "", std::string("priorityClassName: ") + name)),
                std::string("no PriorityClass with name ") + name + " was found that user \"ann\" may use");
  }
  world.authorizer.allowed = {"ann get priorityclasses"};
  expect_part(world.create(pod("p3", "", "priority: 7")),
              "the integer value of priority (7) must not be provided in pod spec");
  for (const char* const name : {"closed", "system-node-critical"}) {
    expect_part(world.create(pod("p3", "", std::string("priorityClassName: ") + name)),
                "user \"ann\" may not use the PriorityClass");
    Value with_class = yaml_object(job("j3"));
    with_class.at("spec").at("template").at("spec").set("priorityClassName", name);
    expect_part(world.create_value(with_class),
                "jobs.batch \"j3\" is forbidden: user \"ann\" may not use the PriorityClass");
  }
  world.authorizer.allowed = {"ann use priorityclasses"};
  EXPECT_EQ(world.create(pod("p3", "", "priorityClassName: closed")), "");
  EXPECT_EQ(priority_of("p3"), "200");

  EXPECT_EQ(world.create("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 10, "
                         "globalDefault: true}"),
            "");
  EXPECT_EQ(world.create(pod("p4")), "");
  EXPECT_EQ(priority_of("p4"), "10");
  EXPECT_EQ(world.at("pods/default/p4")["spec"]["priorityClassName"].text(), "usual");
  expect_part(world.create("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: also}, value: 1, "
                           "globalDefault: true}"),
              "PriorityClass usual is already marked as default");
}

// Its value decides who goes first, like that of a priority class: a label is no way around the right to it.
TEST(Admit, ARestrictedWorkloadPriorityClassTakesTheRightToUseIt) {
  AdmissionWorld world;
  const std::string kind = "apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass";
  world.put("{" + kind + ", metadata: {name: open}, value: 5}");
  world.put("{" + kind + ", metadata: {name: closed, annotations: {berth.dev/restricted: 'true'}}, value: 1000}");
  const auto label = [](const std::string& name) { return "labels: {kueue.x-k8s.io/priority-class: " + name + "}"; };
  const std::string refusal =
      "is forbidden: user \"ann\" may not use the WorkloadPriorityClass \"closed\": it takes the verb use on "
      "workloadpriorityclasses with this name";
  EXPECT_EQ(world.create(pod("p", label("closed"))), "pods \"p\" " + refusal);
  EXPECT_EQ(world.create(job("j", label("closed"))), "jobs.batch \"j\" " + refusal);
  EXPECT_EQ(world.create(job("j", label("open"), label("closed"))), "jobs.batch \"j\" " + refusal);
  EXPECT_EQ(world.create(pod("p", label("open"))), "");
  EXPECT_EQ(world.create(pod("early", label("none"))), "") << "the scheduler tells it what is missing";
  EXPECT_EQ(world.create(job("j", "uid: u-j")), "");

  const auto name_closed = [](Value& object) {
    object.at("metadata").at("labels").set("kueue.x-k8s.io/priority-class", "closed");
  };
  EXPECT_EQ(world.update("pods/default/p", name_closed), "pods \"p\" " + refusal);
  EXPECT_EQ(world.update("pods/default/p", name_closed, "status"), "pods \"p\" " + refusal) << "labels and all";
  EXPECT_EQ(world.update("jobs.batch/default/j", name_closed), "jobs.batch \"j\" " + refusal);
  world.authorizer.allowed = {"ann use priorityclasses"};
  EXPECT_EQ(world.update("pods/default/p", name_closed), "pods \"p\" " + refusal);
  world.authorizer.allowed = {"ann use workloadpriorityclasses"};
  EXPECT_EQ(world.update("pods/default/p", name_closed), "");
  EXPECT_EQ(world.update("jobs.batch/default/j", name_closed), "");
  world.authorizer.allowed = {};
  EXPECT_EQ(world.update("pods/default/p", [](Value& object) { object.at("metadata").at("labels").set("x", "y"); }), "")
      << "it had the class before";

  // The Job's owner was asked.
  world.user.name = "system:berth-controllers";
  const std::string of_job =
      ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u-j, controller: true}]";
  EXPECT_EQ(world.create(pod("j-1", label("closed") + of_job)), "");
  expect_part(world.create(pod("j-2", label("closed"))), "may not use the WorkloadPriorityClass");
}

TEST(Admit, QueuesSayWhoMaySubmit) {
  AdmissionWorld world;
  const auto queue = [&](const std::string& name, const std::string& spec) {
    world.put("{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: " + name + "}, spec: {" + spec + "}}");
  };
  queue("default", "");
  queue("open", "submitters: {}");
  queue("anns", "submitters: {users: [ann]}");
  queue("devs", "submitters: {groups: [dev]}");
  queue("spaces", "submitters: {namespaces: [default]}");
  queue("others", "submitters: {users: [bob], groups: [ops], namespaces: [ml]}");
  queue("closed", "submitters: {users: []}");
  const std::pair<const char*, const char*> cases[] = {
      {"open", ""},
      {"anns", ""},
      {"devs", ""},
      {"spaces", ""},
      {"others", "queue \"others\" takes nothing from user \"ann\" in namespace \"default\""},
      {"closed", "takes nothing"},
      {"missing", "queue \"missing\" takes nothing from user \"ann\" in namespace \"default\": there is none"},
  };
  world.user.groups.emplace_back("dev");
  for (const auto& [name, part] : cases) {
    const std::string label = std::string("labels: {berth.dev/queue: ") + name + "}";
    expect_part(world.create(pod(std::string("p-") + name, label)), part);
    expect_part(world.create(job(std::string("j-") + name, label)), part);
    expect_part(world.create(job(std::string("t-") + name, "", label)), part);
  }
  world.authorizer.allowed = {"ann get queues"};
  expect_part(world.create(pod("p-missing", "labels: {berth.dev/queue: missing}")),
              "names the queue \"missing\", which does not exist");
  EXPECT_EQ(world.create(pod("plain")), "");
  const auto move_to = [&](const std::string& name) {
    return world.update("pods/default/plain",
                        [&](Value& object) { object.at("metadata").at("labels").set("berth.dev/queue", name); });
  };
  EXPECT_EQ(move_to("anns"), "");
  expect_part(move_to("others"), "takes nothing from user \"ann\"");
  queue("anns", "submitters: {users: [bob]}");
  EXPECT_EQ(world.update("pods/default/plain", [](Value& object) { object.at("metadata").at("labels").set("x", "y"); }),
            "");
  queue("default", "submitters: {users: [bob]}");
  expect_part(world.create(pod("no-label")), "queue \"default\" takes nothing");
}

// Kueue's and Volcano's queues say themselves whom they let in; Berth's own, where one is named too, is asked all the same.
TEST(Admit, WhoNamesAQueueOfAnotherKindDoesNotWaitInTheDefaultOne) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: default}, spec: {submitters: {users: [bob]}}}");
  EXPECT_EQ(world.create(pod("k", "labels: {kueue.x-k8s.io/queue-name: main}")), "");
  EXPECT_EQ(world.create(job("kj", "", "labels: {kueue.x-k8s.io/queue-name: main}")), "");
  EXPECT_EQ(world.create(pod("v", "annotations: {scheduling.volcano.sh/queue-name: main}")), "");
  expect_part(world.create(pod("b", "labels: {kueue.x-k8s.io/queue-name: main, berth.dev/queue: default}")),
              "queue \"default\" takes nothing");
}

TEST(Admit, AJobThatKueueWouldLetGoIsNotSuspended) {
  AdmissionWorld world;
  const auto suspended = [](const std::string& name, const std::string& metadata) {
    Value made = yaml_object(job(name, metadata));
    made.at("spec").set("suspend", true);
    return made;
  };
  EXPECT_EQ(world.create_value(suspended("k", "labels: {kueue.x-k8s.io/queue-name: main}")), "");
  EXPECT_FALSE(world.at("jobs.batch/default/k")["spec"]["suspend"].truth());
  ASSERT_EQ(world.warnings.size(), 1U);
  EXPECT_TRUE(world.warnings[0].starts_with("spec.suspend is taken back"));
  EXPECT_EQ(world.update("jobs.batch/default/k", [](Value& object) { object.at("spec").set("suspend", true); }), "");
  EXPECT_TRUE(world.at("jobs.batch/default/k")["spec"]["suspend"].truth()) << "its owner stops it";
  EXPECT_EQ(world.create_value(suspended("b", "")), "");
  EXPECT_TRUE(world.at("jobs.batch/default/b")["spec"]["suspend"].truth());
}

TEST(Admit, WorkStaysInTheQueueInWhichItStarted) {
  struct Case {
    const char* what;
    const char* key;
    const char* list;
    const char* word;
    const char* pod;  // beside its owner
    const char* refused;
  };
  const char* const kRuns = "spec: {nodeName: n}";
  const Case cases[] = {
      {"all wait", "jobs.batch/default/j", "labels", "berth.dev/queue", "", ""},
      {"one has a node", "jobs.batch/default/j", "labels", "berth.dev/queue", kRuns,
       "metadata.labels[berth.dev/queue]: its pod j-1 has a node, and work stays in the queue in which it started; "
       "suspend "
       "it first (spec.suspend: true), or delete it and create it anew in the other queue"},
      {"it has ended", "jobs.batch/default/j", "labels", "berth.dev/queue",
       "spec: {nodeName: n}, status: {phase: Succeeded}", ""},
      {"another word", "jobs.batch/default/j", "labels", "team", kRuns, ""},
      {"Kueue's", "jobs.batch/default/j", "labels", "kueue.x-k8s.io/queue-name", kRuns,
       "metadata.labels[kueue.x-k8s.io/queue-name]: its pod j-1 has a node"},
      {"Volcano's", "jobs.batch/default/j", "annotations", "scheduling.volcano.sh/queue-name", kRuns,
       "metadata.annotations[scheduling.volcano.sh/queue-name]: its pod j-1 has a node"},
      {"of a set", "jobs.batch/default/of-set", "labels", "berth.dev/queue", "",
       "its JobSet says in which queue it is; change it there, on jobset s"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    AdmissionWorld world;
    EXPECT_EQ(world.create(job("j", "uid: u-j")), "");
    EXPECT_EQ(world.create(job("of-set",
                               "ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, "
                               "name: s, uid: u-s, controller: true}]")),
              "");
    world.put(
        "{apiVersion: v1, kind: Pod, metadata: {name: j-1, namespace: default, ownerReferences: [{apiVersion: "
        "batch/v1, kind: Job, name: j, uid: u-j, controller: true}]}, " +
        std::string(each.pod) + "}");
    world.put("{apiVersion: v1, kind: Pod, metadata: {name: i-1, namespace: default}, spec: {nodeName: n}}");
    const auto change = [&](Value& object) { object.at("metadata").at(each.list).set(each.word, "default"); };
    const std::string answer = world.update(each.key, change);
    if (*each.refused != 0) {
      expect_part(answer, each.refused);
    } else {
      EXPECT_EQ(answer, "");
    }
    world.user.name = "system:berth-controllers";
    EXPECT_EQ(world.update(each.key, change), "") << "they know what they do";
  }
}

TEST(Admit, PodsOfAJobWereAllowedWithTheJob) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: anns}, spec: {submitters: {users: [ann]}}}");
  EXPECT_EQ(world.create(job("j", "uid: u-j, labels: {berth.dev/queue: anns}")), "");
  const auto pod_of = [](const std::string& name, const std::string& uid) {
    return pod(name,
               "labels: {berth.dev/queue: anns}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: " +
                   uid + ", controller: true}]");
  };
  world.user.name = "bob";
  expect_part(world.create(pod_of("j-1", "u-j")), "takes nothing from user \"bob\"");
  world.user.name = "system:berth-controllers";
  EXPECT_EQ(world.create(pod_of("j-1", "u-j")), "");
  expect_part(world.create(pod_of("j-2", "u-other")), "takes nothing");
  expect_part(world.create(pod("j-3", "labels: {berth.dev/queue: anns}")), "takes nothing");
}

TEST(Admit, TheQueuesStayATree) {
  AdmissionWorld world;
  const auto queue = [&](const std::string& name, const std::string& parent) {
    return world.create("{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: " + name + "}, spec: {" +
                        (parent.empty() ? "" : "parent: " + parent) + "}}");
  };
  EXPECT_EQ(queue("a", ""), "");
  EXPECT_EQ(queue("b", "a"), "");
  EXPECT_EQ(queue("c", "b"), "");
  expect_part(queue("d", "nowhere"), "there is no queue \"nowhere\"; create it first");
  expect_part(world.update("queues.berth.dev//a", [](Value& object) { object.at("spec").set("parent", "c"); }),
              "queues would be each other's parents: a -> c -> b -> a");
  expect_part(world.erase("queues.berth.dev//b"), "queue \"c\" stands below it");
  EXPECT_EQ(world.erase("queues.berth.dev//c"), "");
  EXPECT_EQ(world.erase("queues.berth.dev//b"), "");
  EXPECT_EQ(queue("default", ""), "");
  expect_part(world.erase("queues.berth.dev//default"), "what names no queue waits in this one");
}

TEST(Admit, ThereAre64CirclesOfTrust) {
  AdmissionWorld world;
  const auto circle = [&](int number) {
    return world.create("{apiVersion: berth.dev/v1alpha1, kind: TrustCircle, metadata: {name: c" +
                        std::to_string(number) + "}, spec: {queues: [a]}}");
  };
  for (int i = 0; i < 64; ++i) ASSERT_EQ(circle(i), "");
  expect_part(circle(64),
              "there are 64 circles of trust, and no more may be; put queues into one circle that trust each");
  EXPECT_EQ(world.update("trustcircles.berth.dev//c0", [](Value& object) { object.at("spec").set("within", "1m"); }),
            "");
  EXPECT_EQ(world.erase("trustcircles.berth.dev//c0"), "");
  EXPECT_EQ(circle(64), "");
}

TEST(Admit, ThereAre100ReservationsThatAreNotOver) {
  AdmissionWorld world;
  const auto reservation = [&](int number, const char* from) {
    return world.create("{apiVersion: berth.dev/v1alpha1, kind: Reservation, metadata: {name: r" +
                        std::to_string(number) + "}, spec: {nodes: [n1], from: '" + from + "', for: 1h}}");
  };
  world.now = Time{0};
  ASSERT_EQ(reservation(100, "1970-01-02T20:00:00Z"), "");
  world.now = Time{1'700'000'000'000};
  for (int i = 0; i < 100; ++i) ASSERT_EQ(reservation(i, "2126-12-01T09:00:00Z"), "");
  expect_part(reservation(101, "2126-12-01T09:00:00Z"), "there are 100 reservations that are not over");
  EXPECT_EQ(world.erase("reservations.berth.dev//r0"), "");
  EXPECT_EQ(reservation(101, "2126-12-01T09:00:00Z"), "");
}

TEST(Admit, LimitRangesGiveDefaultsAndBounds) {
  AdmissionWorld world;
  EXPECT_EQ(world.create("{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: default}, spec: {limits: "
                         "[{type: Container, "
                         "default: {cpu: '1'}, defaultRequest: {cpu: 500m}, max: {cpu: '2', memory: 4Gi}, min: {cpu: "
                         "100m}}, {type: Pod, max: {cpu: '3'}}]}}"),
            "");
  EXPECT_EQ(world.create(pod("p1")), "");
  EXPECT_EQ(to_json(world.at("pods/default/p1")["spec"]["containers"].items()[0]["resources"]),
            R"({"limits":{"cpu":"1","memory":"4Gi"},"requests":{"cpu":"500m","memory":"4Gi"}})");
  EXPECT_EQ(world.at("pods/default/p1")["status"]["qosClass"].text(), "Burstable");
  EXPECT_EQ(world.create(pod("p2", "", "", "{limits: {cpu: '4'}}")),
            "pods \"p2\" is forbidden: [maximum cpu usage per Container is 2, but limit is 4, maximum cpu usage per "
            "Pod is 3, but limit is 4]");
  EXPECT_EQ(world.create(pod("p2", "", "", "{requests: {cpu: 50m}}")),
            "pods \"p2\" is forbidden: minimum cpu usage per Container is 100m, but request is 50m");
}

TEST(Admit, NobodyGivesAwayWhatHeDoesNotHave) {
  AdmissionWorld world;
  const std::string kApi = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ";
  const std::string role =
      kApi +
      "Role, metadata: {name: r, namespace: default}, rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]}";
  const std::string binding = kApi +
                              "RoleBinding, metadata: {name: b, namespace: default}, roleRef: {kind: Role, name: r}, "
                              "subjects: [{kind: User, name: u}]}";
  world.authorizer.beyond = {"RULE"};
  expect_part(world.create(role),
              "user \"ann\" is attempting to grant RBAC permissions not currently held: RULE; to give away more than "
              "one has takes the verb escalate");
  expect_part(world.create(binding), "may not bind Role \"r\": there is none of this name, or it grants");
  world.authorizer.allowed = {"ann get roles"};
  expect_part(world.create(binding), "Role \"r\" does not exist; create it first");
  world.authorizer.allowed = {"ann escalate roles"};
  EXPECT_EQ(world.create(role), "");
  expect_part(world.create(binding), "may not bind Role \"r\": there is none of this name, or it grants");
  world.authorizer.allowed = {"ann get roles"};
  expect_part(world.create(binding), "not currently held: RULE");
  world.authorizer.allowed = {"ann bind roles"};
  EXPECT_EQ(world.create(binding), "");
  world.authorizer.allowed = {"ann get roles"};
  const auto label = [](Value& object) { object.at("metadata").at("labels").set("x", "y"); };
  EXPECT_EQ(world.update("roles.rbac.authorization.k8s.io/default/r", label), "");
  EXPECT_EQ(world.update("rolebindings.rbac.authorization.k8s.io/default/b", label), "");
  expect_part(
      world.update("rolebindings.rbac.authorization.k8s.io/default/b",
                   [](Value& object) { object.at("subjects").push_back(yaml_object("{kind: User, name: v}")); }),
      "not currently held: RULE");
  world.authorizer.beyond = {};
  EXPECT_EQ(world.erase("roles.rbac.authorization.k8s.io/default/r"), "");
  EXPECT_EQ(world.create(role), "");
}

class GpuWorld : public AdmissionWorld {
 public:
  GpuWorld() { put("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {nvidia.com/gpu: '4'}}}"); }
  std::string bind(const std::string& name, const std::string& gpus, const std::string& node = "n1") {
    return update(
        "pods/default/" + name,
        [&](Value& object) {
          object.at("spec").set("nodeName", node);
          if (!gpus.empty()) object.at("metadata").at("annotations").set("berth.dev/gpus", gpus);
        },
        "binding");
  }
  std::string end(const std::string& name, const std::string& phase) {
    return update("pods/default/" + name, [&](Value& object) { object.at("status").set("phase", phase); }, "status");
  }
};

struct BindCase {
  const char* name;
  const char* gpus;
  const char* node;
  const char* refused;  // a part of what it is told; empty: it is bound
};

void expect_each(GpuWorld& world, std::span<const BindCase> cases) {
  for (const BindCase& each : cases) {
    SCOPED_TRACE(std::string(each.name) + " " + each.gpus + " " + each.node);
    expect_part(world.bind(each.name, each.gpus, each.node), each.refused);
  }
}

TEST(AdmitBinding, GivesNoDeviceTwice) {
  GpuWorld world;
  for (const char* const name : {"a", "b", "d", "e"}) EXPECT_EQ(world.create(gpu_pod(name, 2)), "");
  EXPECT_EQ(world.create(pod("cpu")), "");
  const std::string refused = "Operation cannot be fulfilled on pods/binding \"b\": ";
  EXPECT_EQ(world.bind("cpu", ""), "");
  EXPECT_EQ(world.bind("a", "0,3"), "");
  EXPECT_EQ(world.bind("b", "1,3"), refused + "GPU 3 of node \"n1\" is held by pod \"default/a\"");
  expect_part(world.bind("b", "1"), "the pod asks for 2 GPU(s), and annotation berth.dev/gpus names 1");
  expect_part(world.bind("b", ""), "names 0; bind it with as many device indexes");
  for (const char* const list : {"1,x", "1,1", "1,", ",1", "-1,2", "1;2", "1,64"})
    expect_part(world.bind("b", list), "which is no list of device indexes");
  expect_part(world.bind("b", "1,4"), "names device 4, but node \"n1\" has 4 GPU(s)");
  EXPECT_EQ(world.bind("b", "1,2"), "");
  EXPECT_EQ(world.bind("d", "0,1", "elsewhere"), "");

  EXPECT_EQ(world.end("a", "Running"), "");
  expect_part(world.bind("e", "0,3"), "is held by pod \"default/a\"");
  EXPECT_EQ(world.end("a", "Succeeded"), "");
  EXPECT_EQ(world.bind("e", "0,3"), "");
  for (const char* const name : {"a", "b", "e", "cpu"}) EXPECT_EQ(world.erase(std::string("pods/default/") + name), "");
  EXPECT_EQ(world.at("_gpus//n1"), Value());
}

TEST(AdmitBinding, PartsOfADeviceAddUpToOne) {
  GpuWorld world;
  const auto part = [](const std::string& name, int milli) {
    return gpu_pod(name, 1, "annotations: {berth.dev/gpu-milli: '" + std::to_string(milli) + "'}");
  };
  EXPECT_EQ(world.create(part("a", 600)), "");
  EXPECT_EQ(world.create(part("b", 400)), "");
  EXPECT_EQ(world.create(part("d", 1)), "");
  EXPECT_EQ(world.create(gpu_pod("e", 1)), "");
  EXPECT_EQ(world.bind("a", "2"), "");
  expect_part(world.bind("e", "2"), "is held by pod \"default/a\"");
  EXPECT_EQ(world.bind("b", "2"), "");
  expect_part(world.bind("d", "2"), "less than the part asked for is left");
  EXPECT_EQ(world.end("b", "Failed"), "");
  EXPECT_EQ(world.bind("d", "2"), "");
}

TEST(AdmitBinding, GivesPartsWhereTheyAreShared) {
  GpuWorld world;
  const auto node = [&](const std::string& name, const std::string& labels) {
    world.put("{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {berth.dev/gpu-mode: " + labels +
              ", nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100, nvidia.com/gpu.memory: '80000'}}}");
  };
  node("shares", "mps");
  node("turns", "timeslice, nvidia.com/gpu.replicas: '3'");
  node("both", "timeslice, nvidia.com/gpu.sharing-strategy: mps");
  const auto part = [&](const std::string& name, const std::string& annotations, const std::string& resources = "{}") {
    EXPECT_EQ(world.create(pod(name, "annotations: {" + annotations + "}", "", resources)), "");
  };
  const std::string mps = ", berth.dev/gpu-sharing: mps", replica = "{limits: {nvidia.com/gpu.shared: 1}}";
  part("half", "gpu-fraction: '0.5'");
  part("other-half", "gpu-fraction: '0.5'");
  part("bit", "gpu-fraction: '0.001'");
  part("share", "gpu-fraction: '0.6'" + mps);
  part("more", "gpu-fraction: '0.5'" + mps);
  part("memory", "gpu-memory: '32000'" + mps);
  part("too-much", "gpu-memory: '80001'" + mps);
  for (const char* const name : {"r1", "r2", "r3", "r4"}) part(name, "berth.dev/coverage: best-effort", replica);
  EXPECT_EQ(world.create(gpu_pod("whole", 1)), "");
  const BindCase cases[] = {
      {"half", "", "n1",
       "the pod asks for a part of one GPU, and annotation berth.dev/gpus is \"\"; bind it with the index of a device "
       "and the part, as in \"0:0.5\""},
      {"half", "0,1", "n1", "the pod asks for a part of one GPU"},
      {"half", "4:0.5", "n1", "names device 4, but node \"n1\" has 4 GPU(s)"},
      {"half", "0:0.4", "n1", "annotation berth.dev/gpus is \"0:0.4\", and the pod asks for 0.5 of a GPU there"},
      {"half", "0:0.6", "n1", "and the pod asks for 0.5 of a GPU there"},
      {"half", "0:0.5", "shares", "the GPUs of node \"shares\" are shared by MPS"},
      {"half", "0:0.5", "both", "node \"both\" is not used: label nvidia.com/gpu.replicas: "},
      {"half", "0:0.5", "n1", ""},
      {"other-half", "0", "n1", ""},
      {"bit", "0:0.001", "n1", "less than the part asked for is left"},
      {"whole", "0:1", "n1", "which is no list of device indexes"},
      {"whole", "0", "n1", "is held by pod \"default/half\""},
      {"whole", "0", "shares", "names device 0, but node \"shares\" has 0 GPU(s)"},
      {"share", "0:0.6", "n1", "the GPUs of node \"n1\" are not shared by MPS"},
      {"share", "0:0.6", "nowhere", "are not shared by MPS"},
      {"share", "2:0.6", "shares", "names device 2, but node \"shares\" has 2 GPU(s)"},
      {"share", "0:0.6", "shares", ""},
      {"more", "0:0.5", "shares", "less than the part asked for is left"},
      {"memory", "0:0.399", "shares", "and the pod asks for 0.4 of a GPU there"},
      {"too-much", "1:0.5", "shares", "asks for 80001 MiB of a GPU, and those of node \"shares\" have 80000"},
      {"memory", "0:0.4", "shares", ""},
      {"r1", "0:0.333", "shares", "the GPUs of node \"shares\" are not time-sliced"},
      {"r1", "0:0.25", "turns", "and the pod asks for 0.333 of a GPU there"},
      {"r1", "0:0.333", "turns", ""},
      {"r2", "0", "turns", ""},
      {"r3", "0:0.333", "turns", ""},
      {"r4", "0:0.333", "turns", "less than the part asked for is left"},
      {"r4", "1:0.333", "turns", ""},
  };
  expect_each(world, cases);
}

TEST(AdmitBinding, GivesVgpusOfOneProfileOnAGpu) {
  GpuWorld world;
  world.put(
      "{apiVersion: v1, kind: Node, metadata: {name: vms, labels: {berth.dev/gpu-mode: vgpu, nvidia.com/gpu.count: "
      "'2', "
      "nvidia.com/gpu.product: A100-SXM4-40GB}}}");
  const auto vgpu = [&](const std::string& name, const std::string& profile) {
    EXPECT_EQ(world.create(pod(name, "", "", "{limits: {nvidia.com/NVIDIA_" + profile + ": 1}}")), "");
  };
  for (const char* const name : {"a", "b", "c", "d", "e"}) vgpu(name, "A100X-10C");
  vgpu("half", "A100X-20C");
  vgpu("other", "A100-10C");
  const BindCase cases[] = {
      {"a", "0:0.25", "n1", "the GPUs of node \"n1\" are not shared as vGPUs"},
      {"a", "0:0.5", "vms", "and the pod asks for 0.25 of a GPU there"},
      {"other", "0:0.25", "vms", "the GPUs of node \"vms\" have no vGPUs A100-10C"},
      {"a", "0:0.25", "vms", ""},
      {"half", "0:0.5", "vms",
       "GPU 0 of node \"vms\" has vGPUs of another profile than A100X-20C as long as pod \"default/a\" and others have "
       "some of them"},
      {"half", "1:0.5", "vms", ""},
      {"b", "0:0.25", "vms", ""},
      {"c", "0:0.25", "vms", ""},
      {"d", "0", "vms", ""},
      {"e", "0:0.25", "vms", "less than the part asked for is left"},
  };
  expect_each(world, cases);
}

TEST(AdmitBinding, ANodeThatTurnsIsOneThingAtATime) {
  GpuWorld world;
  world.put(
      "{apiVersion: v1, kind: Node, metadata: {name: turns, labels: {berth.dev/gpu-mode: exclusive.mig.mps, "
      "nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100, nvidia.com/gpu.memory: '80000'}}, status: {capacity: "
      "{nvidia.com/gpu: '2'}}}");
  const std::string share = "annotations: {gpu-fraction: '0.5', berth.dev/gpu-sharing: mps}";
  EXPECT_EQ(world.create(pod("share", share)), "");
  EXPECT_EQ(world.create(pod("slice", "", "", "{limits: {nvidia.com/mig-1g.10gb: 1}}")), "");
  EXPECT_EQ(world.create(gpu_pod("whole", 1)), "");
  EXPECT_EQ(world.create(pod("half", "annotations: {gpu-fraction: '0.5'}")), "");
  const BindCase first[] = {
      {"share", "0:0.5", "turns", ""},
      {"whole", "1", "turns",
       "the GPUs of node \"turns\" are shared by MPS as long as pod \"default/share\" and others have some of them"},
      {"half", "1:0.5", "turns", "are shared by MPS as long as"},
      {"slice", "1:1g.10gb@0", "turns", "are shared by MPS as long as"},
  };
  expect_each(world, first);
  EXPECT_EQ(world.end("share", "Succeeded"), "");
  const BindCase then[] = {
      {"slice", "1:1g.10gb@0", "turns", ""},
      {"whole", "0", "turns", "are cut into slices as long as pod \"default/slice\""},
  };
  expect_each(world, then);
  world.store.erase("pods/default/slice", "{}");  // and nobody said so
  EXPECT_EQ(world.bind("whole", "0", "turns"), "");
  EXPECT_EQ(world.bind("half", "1:0.5", "turns"), "");
  EXPECT_EQ(world.create(pod("late", "", "", "{limits: {nvidia.com/mig-1g.10gb: 1}}")), "");
  expect_part(world.bind("late", "1:1g.10gb@0", "turns"), "are not shared as long as pod");
}

TEST(AdmitBinding, ASliceByNeedHasWhatThePodNeeds) {
  GpuWorld world;
  world.put(
      "{apiVersion: v1, kind: Node, metadata: {name: cut, labels: {berth.dev/gpu-mode: mig, nvidia.com/gpu.count: '1', "
      "nvidia.com/gpu.product: H100}}}");
  const auto needs = [&](const std::string& name, const std::string& what) {
    EXPECT_EQ(world.create(pod(name, "annotations: {" + what + "}")), "");
  };
  needs("part", "berth.dev/gpu-slice: 2/7");
  needs("memory", "berth.dev/gpu-slice: smallest, berth.dev/gpu-memory: 15Gi");
  const BindCase cases[] = {
      {"part", "", "cut", "the pod asks a slice by what it needs, and annotation berth.dev/gpus is \"\"; bind it with"},
      {"part", "0", "cut", "the pod asks a slice by what it needs"},
      {"part", "0:1g.20gb@0", "cut", "a 1g.20gb of a H100 has less than the pod needs"},
      {"memory", "0:1g.10gb@0", "cut", "a 1g.10gb of a H100 has less than the pod needs"},
      {"part", "0:2g.20gb@0", "cut", ""},
      {"memory", "0:1g.20gb@0", "cut", "beside what pod \"default/part\""},
      {"memory", "0:3g.40gb@4", "cut", ""},  // more than it needs is no harm
  };
  expect_each(world, cases);
  EXPECT_NE(world.create(pod("none", "annotations: {berth.dev/gpu-slice: smallest}")), "");
}

TEST(AdmitBinding, GivesNoPlaceOfADeviceTwice) {
  GpuWorld world;
  world.put(
      "{apiVersion: v1, kind: Node, metadata: {name: cut, labels: {berth.dev/gpu-mode: mig, nvidia.com/gpu.count: '2', "
      "nvidia.com/gpu.product: H100}}}");
  const auto slice_pod = [&](const std::string& name, const std::string& profile) {
    EXPECT_EQ(world.create(pod(name, "", "", "{limits: {nvidia.com/mig-" + profile + ": 1}}")), "");
  };
  for (const char* const name : {"a", "b", "c"}) slice_pod(name, "1g.10gb");
  slice_pod("large", "4g.40gb");
  slice_pod("images", "1g.10gb.me");
  slice_pod("more-images", "1g.10gb.me");
  EXPECT_EQ(world.create(gpu_pod("whole", 1)), "");
  const BindCase cases[] = {
      {"a", "", "cut",
       "the pod asks for a 1g.10gb, and annotation berth.dev/gpus is \"\"; bind it with a device, the "
       "profile and the first memory slice, as in \"0:1g.10gb@0\""},
      {"a", "0", "cut", "the pod asks for a 1g.10gb, and annotation berth.dev/gpus is \"0\""},
      {"a", "0:2g.20gb@0", "cut", "the pod asks for a 1g.10gb, and annotation"},
      {"a", "0:1g.10gb@7", "cut", "no 1g.10gb of a H100 begins at memory slice 7"},
      {"a", "2:1g.10gb@0", "cut", "names device 2, but node \"cut\" has 2 GPU(s)"},
      {"a", "0:1g.10gb@0", "n1", "the GPUs of node \"n1\" are not cut into slices"},
      {"a", "0:1g.10gb@0", "nowhere", "the GPUs of node \"nowhere\" are not cut into slices"},
      {"whole", "0", "cut", "names device 0, but node \"cut\" has 0 GPU(s)"},
      {"whole", "0:1g.10gb@0", "n1", "which is no list of device indexes"},
      {"a", "0:1g.10gb@3", "cut", ""},
      {"b", "0:1g.10gb@3", "cut",
       "GPU 0 of node \"cut\" has no room for a 1g.10gb@3 beside what pod \"default/a\" and "
       "others hold of it"},
      {"large", "0:4g.40gb@0", "cut", "beside what pod \"default/a\""},
      {"b", "0:1g.10gb@4", "cut", ""},
      {"large", "1:4g.40gb@0", "cut", ""},
      {"c", "1:1g.10gb@3", "cut", "beside what pod \"default/large\""},
      {"images", "1:1g.10gb+me@4", "cut", ""},
      {"more-images", "1:1g.10gb+me@5", "cut", "has no room for a 1g.10gb+me@5"},
  };
  expect_each(world, cases);
  EXPECT_EQ(world.end("images", "Succeeded"), "");
  EXPECT_EQ(world.bind("more-images", "1:1g.10gb+me@5", "cut"), "");
  world.store.erase("pods/default/large", "{}");  // and nobody said so
  EXPECT_EQ(world.bind("c", "1:1g.10gb@3", "cut"), "");
  // What was held before the node was cut is held still.
  EXPECT_EQ(world.bind("whole", "2"), "");
  world.put(
      "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {berth.dev/gpu-mode: mig, nvidia.com/gpu.count: '4', "
      "nvidia.com/gpu.product: H100}}}");
  slice_pod("late", "1g.10gb");
  expect_part(world.bind("late", "2:1g.10gb@0", "n1"), "beside what pod \"default/whole\"");
  EXPECT_EQ(world.bind("late", "3:1g.10gb@0", "n1"), "");
  world.put("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {nvidia.com/gpu: '4'}}}");
  EXPECT_EQ(world.create(gpu_pod("whole-again", 1)), "");
  expect_part(world.bind("whole-again", "3"), "GPU 3 of node \"n1\" is held by pod \"default/late\"");
  for (const char* const name : {"a", "b", "c", "more-images"})
    EXPECT_EQ(world.erase(std::string("pods/default/") + name), "");
  EXPECT_EQ(world.at("_gpus//cut"), Value());
}

TEST(AdmitBinding, GivesNoSliceThatNobodyCut) {
  GpuWorld world;
  world.put(
      "{apiVersion: v1, kind: Node, metadata: {name: cut, labels: {nvidia.com/gpu.count: '2', nvidia.com/gpu.product: "
      "H100}}, status: {allocatable: {nvidia.com/mig-3g.40gb: '2', nvidia.com/mig-1g.10gb: '2'}}}");
  for (const char* const name : {"a", "b", "c"})
    EXPECT_EQ(world.create(pod(name, "", "", "{limits: {nvidia.com/mig-1g.10gb: 1}}")), "");
  const BindCase cases[] = {
      {"a", "0:1g.10gb@0", "cut",
       "the GPUs of node \"cut\" were cut beforehand, and none has a 1g.10gb that begins at memory slice 0"},
      {"a", "0:1g.10gb@3", "cut", ""},
      {"b", "0:1g.10gb@3", "cut", "has no room for a 1g.10gb@3 beside what pod \"default/a\""},
      {"b", "1:1g.10gb@3", "cut", ""},
      {"c", "2:1g.10gb@3", "cut", "names device 2, but node \"cut\" has 2 GPU(s)"},
  };
  expect_each(world, cases);
}

TEST(AdmitBinding, AHolderThatIsGoneHoldsNothing) {
  GpuWorld world;
  EXPECT_EQ(world.create(gpu_pod("a", 4)), "");
  EXPECT_EQ(world.create(gpu_pod("b", 4)), "");
  EXPECT_EQ(world.bind("a", "0,1,2,3"), "");
  world.store.erase("pods/default/a", "{}");  // and nobody said so
  EXPECT_EQ(world.create(gpu_pod("a", 4)), "");
  EXPECT_EQ(world.bind("b", "0,1,2,3"), "");
  expect_part(world.bind("a", "0,1,2,3"), "is held by pod \"default/b\"");
}

TEST(Admit, OnlyWhoMayBindPutsAPodOnANode) {
  GpuWorld world;
  const std::string direct =
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, annotations: {berth.dev/gpus: '0'}}, spec: "
      "{nodeName: n1, containers: [{name: c, image: b, resources: {limits: {nvidia.com/gpu: 1}}}]}}";
  expect_part(world.create(direct), "would need the verb create on pods/binding");
  world.authorizer.allowed = {"ann create pods/binding"};
  EXPECT_EQ(world.create(direct), "");
  EXPECT_EQ(world.create(gpu_pod("q", 1)), "");
  expect_part(world.bind("q", "0"), "is held by pod \"default/p\"");
}

TEST(AdmitEviction, KeepsWhatABudgetAsksFor) {
  struct Case {
    const char* budget;
    int ready;
    int unready;
    bool evict_ready_one;
    bool allowed;
  };
  const Case cases[] = {
      {"minAvailable: 1", 1, 0, true, false},
      {"minAvailable: 1", 2, 0, true, true},
      {"minAvailable: 50%", 4, 0, true, true},
      {"minAvailable: 50%", 2, 2, true, false},
      {"maxUnavailable: 1", 3, 0, true, true},
      {"maxUnavailable: 1", 2, 1, true, false},
      {"maxUnavailable: 0", 3, 0, true, false},
      {"minAvailable: 1", 0, 1, false, false},
      {"minAvailable: 1", 1, 1, false, true},
      {"minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow", 0, 1, false, true},
  };
  for (const Case& each : cases) {
    AdmissionWorld world;
    world.put(std::string("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: d, namespace: default}, "
                          "spec: {selector: {matchLabels: {app: a}}, ") +
              each.budget + "}}");
    for (int i = 0; i < each.ready + each.unready; ++i) {
      world.put("{apiVersion: v1, kind: Pod, metadata: {name: p" + std::to_string(i) +
                ", namespace: default, labels: {app: a}}, status: {phase: Running, conditions: "
                "[{type: Ready, status: '" +
                (i < each.ready ? "True" : "False") + "'}]}}");
    }
    world.put(
        "{apiVersion: v1, kind: Pod, metadata: {name: z, namespace: default, labels: {app: b}}, status: {phase: "
        "Running}}");
    const std::string victim = "pods/default/p" + std::to_string(each.evict_ready_one ? 0 : each.ready);
    const auto refused = admit_eviction(world.at(victim), world.store, world.now);
    EXPECT_EQ(!refused, each.allowed) << each.budget << " " << each.ready << " " << each.unready;
    EXPECT_FALSE(admit_eviction(world.at("pods/default/z"), world.store, world.now));
    if (!refused) continue;
    EXPECT_EQ(refused->code, 429);
    EXPECT_EQ(refused->causes.at(0).reason, "DisruptionBudget");
  }
}

TEST(AdmitEviction, CountsWhatTheOwnerWantsNotWhatIsLeft) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: d, namespace: default}, spec: {selector: "
      "{matchLabels: {app: a}}, maxUnavailable: 1}}");
  world.put(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, uid: u}, spec: {parallelism: 3}}");
  for (const char* const name : {"p1", "p2", "p3"}) {
    world.put(
        std::string("{apiVersion: v1, kind: Pod, metadata: {name: ") + name +
        ", namespace: default, labels: {app: a}, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
        "name: j, uid: u, controller: true}]}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}");
  }
  EXPECT_FALSE(admit_eviction(world.at("pods/default/p1"), world.store, world.now));
  world.store.erase("pods/default/p1", "{}");
  const auto refused = admit_eviction(world.at("pods/default/p2"), world.store, world.now);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->causes.at(0).message, "The disruption budget d needs 2 healthy pods and has 2 currently");
}

}  // namespace berth::admit_test
