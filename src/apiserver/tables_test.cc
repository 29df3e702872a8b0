#include "apiserver/tables.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apiserver/json_of_test.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"

namespace berth::tables_test {

const KindInfo& kind_of(std::string_view group, std::string_view version, std::string_view plural) {
  const KindInfo* const kind = find_served(group, version, plural);
  EXPECT_NE(kind, nullptr) << group << plural;
  return *kind;
}

const Time kNow = *parse_timestamp("2026-11-21T08:00:00Z");

// "Name|Ready|IP*": wide ones with a star, types other than text after a colon.
std::string columns_of(const KindInfo& kind) {
  std::string text;
  const Value columns = table_columns(kind);
  for (const Value& column : columns.items()) {
    if (!text.empty()) text += '|';
    text += column["name"].text();
    if (column["type"].text() != "string") text += ":" + std::string(column["type"].text());
    if (column["priority"].integer() == 1) text += '*';
  }
  return text;
}

TEST(Tables, HaveTheColumnsPeopleKnow) {
  const struct {
    const char *group, *version, *plural, *columns;
  } cases[] = {
      {"", "v1", "pods", "Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*"},
      {"", "v1", "nodes",
       "Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*"},
      {"", "v1", "namespaces", "Name|Status|Age"},
      {"", "v1", "resourcequotas", "Name|Request|Limit|Age"},
      {"", "v1", "events", "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*"},
      {"events.k8s.io", "v1", "events",
       "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*"},
      {"", "v1", "configmaps", "Name|Data|Age"},
      {"", "v1", "limitranges", "Name|Created At:date"},
      {"batch", "v1", "jobs", "Name|Status|Completions|Duration|Age|Containers*|Images*|Selector*"},
      {"scheduling.k8s.io", "v1", "priorityclasses", "Name|Value:integer|Global-Default:boolean|Age|PreemptionPolicy"},
      {"coordination.k8s.io", "v1", "leases", "Name|Holder|Age"},
      {"policy", "v1", "poddisruptionbudgets", "Name|Min Available|Max Unavailable|Allowed Disruptions:integer|Age"},
      {"rbac.authorization.k8s.io", "v1", "roles", "Name|Created At:date"},
      {"berth.dev", "v1alpha1", "queues",
       "Name|Order|Parent|Guarantee|Used|Budget|Pending:integer|Running:integer|Age"},
      {"berth.dev", "v1alpha1", "resourceflavors", "Name|GPU Model|Memory|Age"},
      {"berth.dev", "v1alpha1", "reservations", "Name|For|What|From|Length|Phase|Has|Age"},
      {"berth.dev", "v1alpha1", "trustcircles", "Name|Queues|In Force|Parting By|Age"},
      {"berth.dev", "v1alpha1", "defragmentations", "Name|GPUs|Hours|Phase|Moves|Fit|Then|Age"},
      {"berth.dev", "v1alpha1", "whatifs", "Name|Changes|State|Age"},
      {"berth.dev", "v1alpha1", "workloads", "Name|Queue|Status|Reason|Age"},
      {"jobset.x-k8s.io", "v1alpha2", "jobsets", "Name|TerminalState|Restarts|Completed|Suspended|Age"},
      {"leaderworkerset.x-k8s.io", "v1", "leaderworkersets",
       "Name|Ready:integer|Desired:integer|Up-to-date:integer|Age"},
      {"kubeflow.org", "v1", "pytorchjobs", "Name|State|Age"},
      {"ray.io", "v1", "rayclusters",
       "Name|Desired Workers:integer|Available Workers:integer|CPUs|Memory|GPUs|Status|Age"},
      {"ray.io", "v1", "rayjobs", "Name|Job Status|Deployment Status|Ray Cluster Name|Start Time|End Time|Age"},
      {"kubeflow.org", "v2beta1", "mpijobs", "Name|Age"},
      {"kueue.x-k8s.io", "v1beta2", "workloads", "Name|Queue|Reserved in|Admitted|Finished|Age"},
  };
  for (const auto& each : cases) EXPECT_EQ(columns_of(kind_of(each.group, each.version, each.plural)), each.columns);
  for (const KindInfo& kind : served_kinds()) {
    SCOPED_TRACE(kind.qualified());
    const Value row = table_row(kind, json("{}"), RowObject::kNone, kNow);
    EXPECT_EQ(row["cells"].items().size(), table_columns(kind).items().size());
    EXPECT_EQ(table_columns(kind).items()[0]["format"].text(), "name");
  }
}

TEST(Tables, SayInOneWordHowAPodStands) {
  const struct {
    const char* what;
    const char* pod;
    const char* cells;  // ready, status, restarts
  } cases[] = {
      {"waits for a node", R"({"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}})",
       R"(["0/1","Pending","0"])"},
      {"gated",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",)"
       R"("status":"False","reason":"SchedulingGated"}]}})",
       R"(["0/1","SchedulingGated","0"])"},
      {"starts",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{)"
       R"("reason":"ContainerCreating"}}}]}})",
       R"(["0/1","ContainerCreating","0"])"},
      {"runs",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[{"ready":true,"state":{)"
       R"("running":{}}}]}})",
       R"(["1/1","Running","0"])"},
      {"is going",
       R"({"metadata":{"deletionTimestamp":"2026-11-21T08:00:30Z"},"spec":{"containers":[{}]},"status":{)"
       R"("phase":"Running","containerStatuses":[{"ready":true,"state":{"running":{}}}]}})",
       R"(["1/1","Terminating","0"])"},
      {"done, and going",
       R"({"metadata":{"deletionTimestamp":"2026-11-21T08:00:30Z"},"spec":{"containers":[{}]},"status":{)"
       R"("phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}})",
       R"(["0/1","Completed","0"])"},
      {"its node is lost",
       R"({"metadata":{"deletionTimestamp":"2026-11-21T08:00:30Z"},"spec":{"containers":[{}]},"status":{)"
       R"("phase":"Running","reason":"NodeLost"}})",
       R"(["0/1","Unknown","0"])"},
      {"done",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Succeeded","containerStatuses":[{"state":{)"
       R"("terminated":{"exitCode":0,"reason":"Completed"}}}]}})",
       R"(["0/1","Completed","0"])"},
      {"failed",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{)"
       R"("exitCode":1,"reason":"Error"}}}]}})",
       R"(["0/1","Error","0"])"},
      {"failed without a reason",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{)"
       R"("exitCode":3}}}]}})",
       R"(["0/1","ExitCode:3","0"])"},
      {"killed",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{)"
       R"("signal":9}}}]}})",
       R"(["0/1","Signal:9","0"])"},
      {"evicted", R"({"spec":{"containers":[{}]},"status":{"phase":"Failed","reason":"Evicted"}})",
       R"(["0/1","Evicted","0"])"},
      {"one of two is done",
       R"({"spec":{"containers":[{},{}]},"status":{"phase":"Running","conditions":[{"type":"Ready",)"
       R"("status":"True"}],"containerStatuses":[{"state":{"terminated":{"reason":"Completed"}}},{"ready":true,)"
       R"("state":{"running":{}}}]}})",
       R"(["1/2","Running","0"])"},
      {"one of two is done and the other not ready",
       R"({"spec":{"containers":[{},{}]},"status":{"phase":"Running","containerStatuses":[{"state":{)"
       R"("terminated":{"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]}})",
       R"(["1/2","NotReady","0"])"},
      {"starts again and again",
       R"({"spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[{"restartCount":4,)"
       R"("state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{)"
       R"("finishedAt":"2026-11-21T07:59:15Z"}}}]}})",
       R"_(["0/1","CrashLoopBackOff","4 (45s ago)"])_"},
      {"initialises",
       R"({"spec":{"containers":[{}],"initContainers":[{"name":"a"},{"name":"b"}]},"status":{"phase":"Pending",)"
       R"("initContainerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0}}},{"name":"b","state":{)"
       R"("running":{}}}],"containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]}})",
       R"(["0/1","Init:1/2","0"])"},
      {"cannot initialise",
       R"({"spec":{"containers":[{}],"initContainers":[{"name":"a"}]},"status":{"phase":"Pending",)"
       R"("initContainerStatuses":[{"name":"a","restartCount":2,"state":{"terminated":{"exitCode":1,)"
       R"("reason":"Error"}}}]}})",
       R"(["0/1","Init:Error","2"])"},
      {"the first image is missing",
       R"({"spec":{"containers":[{}],"initContainers":[{"name":"a"}]},"status":{"phase":"Pending",)"
       R"("initContainerStatuses":[{"name":"a","state":{"waiting":{"reason":"ErrImagePull"}}}]}})",
       R"(["0/1","Init:ErrImagePull","0"])"},
      {"with a sidecar",
       R"({"spec":{"containers":[{}],"initContainers":[{"name":"s","restartPolicy":"Always"}]},"status":{)"
       R"("phase":"Running","initContainerStatuses":[{"name":"s","started":true,"ready":true,"restartCount":1,)"
       R"("state":{"running":{}}}],"containerStatuses":[{"ready":true,"state":{"running":{}}}]}})",
       R"(["2/2","Running","1"])"},
  };
  for (const auto& each : cases) {
    const Value row = table_row(kind_of("", "v1", "pods"), json(each.pod), RowObject::kNone, kNow);
    const Value::List& cells = row["cells"].items();
    EXPECT_EQ(to_json(Value(Value::List(cells.begin() + 1, cells.begin() + 4))), each.cells) << each.what;
  }
}

TEST(Tables, ShowTheOtherKinds) {
  const struct {
    const char *group, *version, *plural, *object, *cells;
  } cases[] = {
      {"", "v1", "pods",
       R"({"metadata":{"name":"p","creationTimestamp":"2026-11-21T07:48:00Z"},"spec":{"nodeName":"n1",)"
       R"("containers":[{}],"readinessGates":[{"conditionType":"G"}]},"status":{"phase":"Running",)"
       R"("podIP":"10.0.0.1","conditions":[{"type":"G","status":"True"}]}})",
       R"(["p","0/1","Running","0","12m","10.0.0.1","n1","<none>","1/1"])"},
      {"", "v1", "nodes",
       R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/gpu":"","kubernetes.io/role":"big"}},)"
       R"("spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{)"
       R"("type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"kubeletVersion":"v1"}}})",
       R"(["n","Ready,SchedulingDisabled","big,gpu","<unknown>","v1","10.0.0.1","<none>","<unknown>",)"
       R"("<unknown>","<unknown>"])"},
      {"batch.volcano.sh", "v1alpha1", "jobs",
       R"({"metadata":{"name":"j"},"spec":{"queue":"research"},"status":{"state":{"phase":"Running"},)"
       R"("minAvailable":3,"running":2}})",
       R"(["j","Running",3,2,"<unknown>","research"])"},
      {"", "v1", "namespaces", R"({"metadata":{"name":"a"},"status":{"phase":"Active"}})",
       R"(["a","Active","<unknown>"])"},
      {"", "v1", "resourcequotas",
       R"({"metadata":{"name":"q"},"status":{"hard":{"pods":"10","limits.cpu":"2","cpu":"4"},"used":{"pods":"1",)"
       R"("cpu":"500m"}}})",
       R"(["q","cpu: 500m/4, pods: 1/10","limits.cpu: 0/2","<unknown>"])"},
      {"", "v1", "events",
       R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p"},"reason":"Failed","message":"no",)"
       R"("type":"Warning","source":{"component":"berth","host":"h"},"firstTimestamp":"2026-11-21T07:00:00Z",)"
       R"("lastTimestamp":"2026-11-21T07:59:55Z","count":3})",
       R"(["5s","Warning","Failed","pod/p","","berth, h","no","60m",3,"e"])"},
      {"events.k8s.io", "v1", "events",
       R"({"metadata":{"name":"e"},"regarding":{"kind":"Node","name":"n"},"reason":"R","note":"yes",)"
       R"("type":"Normal","reportingController":"berth","eventTime":"2026-11-21T07:59:00.000000Z"})",
       R"(["60s","Normal","R","node/n","","berth","yes","60s",1,"e"])"},
      {"batch", "v1", "jobs",
       R"({"metadata":{"name":"j"},"spec":{"completions":4,"selector":{"matchLabels":{"b":"2","a":"1"}},)"
       R"("template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"k"}]}}},"status":{)"
       R"("succeeded":1,"startTime":"2026-11-21T07:59:50Z"}})",
       R"(["j","Running","1/4","10s","<unknown>","c,d","i,k","a=1,b=2"])"},
      {"batch", "v1", "jobs",
       R"({"metadata":{"name":"j"},"spec":{"parallelism":3},"status":{"startTime":"2026-11-21T07:59:00Z",)"
       R"("conditions":[{"type":"Failed","status":"True","lastTransitionTime":"2026-11-21T07:59:30Z"}]}})",
       R"(["j","Failed","0/1 of 3","30s","<unknown>","","","<none>"])"},
      {"batch", "v1", "jobs", R"({"status":{"conditions":[{"type":"Suspended","status":"True"}]}})",
       R"(["","Suspended","0/1","","<unknown>","","","<none>"])"},
      {"batch", "v1", "jobs",
       R"({"spec":{"completions":1},"status":{"succeeded":1,"startTime":"2026-11-21T07:00:00Z",)"
       R"("completionTime":"2026-11-21T07:00:45Z","conditions":[{"type":"Complete","status":"True"}]}})",
       R"(["","Complete","1/1","45s","<unknown>","","","<none>"])"},
      {"", "v1", "secrets", R"({"metadata":{"name":"s"},"type":"Opaque","data":{"a":"","b":""}})",
       R"(["s","Opaque",2,"<unknown>"])"},
      {"policy", "v1", "poddisruptionbudgets",
       R"({"metadata":{"name":"b"},"spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":1}})",
       R"(["b","50%","N/A",1,"<unknown>"])"},
      {"rbac.authorization.k8s.io", "v1", "rolebindings",
       R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User",)"
       R"("name":"u"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]})",
       R"(["b","ClusterRole/view","<unknown>","u","","n/s"])"},
      {"rbac.authorization.k8s.io", "v1", "roles",
       R"({"metadata":{"name":"r","creationTimestamp":"2026-11-21T07:36:25Z"}})", R"(["r","2026-11-21T07:36:25Z"])"},
      {"scheduling.k8s.io", "v1", "priorityclasses", R"({"metadata":{"name":"p"},"value":1000,"globalDefault":true})",
       R"(["p",1000,true,"<unknown>","PreemptLowerPriority"])"},
      {"berth.dev", "v1alpha1", "queues",
       R"({"metadata":{"name":"q"},"spec":{"order":"sjf","parent":"root","guarantee":{"h100":8,"h100.memory":"1Ti"},)"
       R"("budget":{"gpuHours":100,"grants":[{"gpuHours":"500m"}]}},)"
       R"("status":{"used":{"h100":"4"},"budget":{"left":"12.5"},"pending":3,"running":2}})",
       R"(["q","sjf","root","h100:8,h100.memory:1Ti","h100:4","12.5 left of 100+500m",3,2,"<unknown>"])"},
      {"berth.dev", "v1alpha1", "resourceflavors",
       R"({"metadata":{"name":"f"},"spec":{"gpuModel":"H100","memoryMiB":81559}})",
       R"(["f","H100","81559Mi","<unknown>"])"},
      {"berth.dev", "v1alpha1", "reservations",
       R"({"metadata":{"name":"r"},"spec":{"queue":"research","gpus":16,"from":"2026-11-20T09:00:00Z","for":"4h",)"
       R"("daily":true},"status":{"phase":"Coming","from":"2026-11-22T09:00:00.000000Z","gpus":12,"short":4}})",
       R"(["r","research","16 GPUs","2026-11-22T09:00:00Z","4h daily","Coming","12","<unknown>"])"},
      {"berth.dev", "v1alpha1", "reservations",
       R"({"metadata":{"name":"r"},"spec":{"queue":"q","gpus":1,"from":"2026-11-20T09:00:00Z","for":"4h",)"
       R"("days":"mon-fri","zone":"Europe/Berlin"}})",
       R"(["r","q","1 GPU","2026-11-20T09:00:00Z","4h mon-fri Europe/Berlin","","","<unknown>"])"},
      {"berth.dev", "v1alpha1", "reservations",
       R"({"metadata":{"name":"r"},"spec":{"nodes":["n1","n2"],"from":"2026-11-20T09:00:00Z","for":"4h"}})",
       R"(["r","maintenance","2 nodes","2026-11-20T09:00:00Z","4h","","","<unknown>"])"},
      {"berth.dev", "v1alpha1", "reservations",
       R"({"metadata":{"name":"r"},"spec":{"nodes":["n1"],"from":"2026-11-20T09:00:00Z","for":"4h"}})",
       R"(["r","maintenance","1 node","2026-11-20T09:00:00Z","4h","","","<unknown>"])"},
      {"berth.dev", "v1alpha1", "defragmentations",
       R"({"metadata":{"name":"d"},"spec":{"gpus":4,"hours":"02:00-05:00"},"status":{"phase":"Planned",)"
       R"("plan":{"podsBefore":3,"podsAfter":5,"moves":[{},{}]}}})",
       R"(["d","4","02:00-05:00","Planned","2","3","5","<unknown>"])"},
      {"berth.dev", "v1alpha1", "defragmentations", R"({"metadata":{"name":"d"},"spec":{"slice":"3g.40gb"}})",
       R"(["d","3g.40gb","","","","","","<unknown>"])"},
      {"berth.dev", "v1alpha1", "defragmentations", R"({"metadata":{"name":"d"}})",
       R"(["d","8","","","","","","<unknown>"])"},
      {"berth.dev", "v1alpha1", "whatifs",
       R"({"metadata":{"name":"w"},"spec":{"changes":["drain node n1","end a"]},"status":{"problem":"no"}})",
       R"(["w","2","Refused","<unknown>"])"},
      {"berth.dev", "v1alpha1", "trustcircles",
       R"({"metadata":{"name":"c"},"spec":{"queues":["a","clusterqueue/b"]},"status":{"parting":[)"
       R"({"by":"2026-11-21T08:00:01.5Z"},{"by":"2026-11-21T08:00:00Z"}],)"
       R"("conditions":[{"type":"InForce","status":"False"}]}})",
       R"(["c","a,clusterqueue/b","False","2026-11-21T08:00:01Z","<unknown>"])"},
      {"berth.dev", "v1alpha1", "workloads",
       R"({"metadata":{"name":"w"},"spec":{"queue":"q"},"status":{"reason":"no room","conditions":[{)"
       R"("type":"Admitted","status":"False"}]}})",
       R"(["w","q","Pending","no room","<unknown>"])"},
      {"jobset.x-k8s.io", "v1alpha2", "jobsets", R"({"metadata":{"name":"s"},"spec":{}})",
       R"(["s","","","","","<unknown>"])"},
      {"jobset.x-k8s.io", "v1alpha2", "jobsets",
       R"({"metadata":{"name":"s"},"spec":{"suspend":false},"status":{"restarts":2,"terminalState":"Completed",)"
       R"("conditions":[{"type":"Completed","status":"True"}]}})",
       R"(["s","Completed","2","True","false","<unknown>"])"},
      {"leaderworkerset.x-k8s.io", "v1", "leaderworkersets",
       R"({"metadata":{"name":"s"},"spec":{},"status":{"readyReplicas":1}})", R"(["s",1,1,0,"<unknown>"])"},
      {"ray.io", "v1", "rayclusters",
       R"({"metadata":{"name":"c"},"status":{"desiredWorkerReplicas":2,"desiredCPU":3,"desiredGPU":"4","state":"ready"}})",
       R"(["c",2,0,"3","","4","ready","<unknown>"])"},
      {"ray.io", "v1", "rayjobs",
       R"({"metadata":{"name":"j"},"status":{"jobStatus":"RUNNING","rayClusterName":"j-x"}})",
       R"(["j","RUNNING","","j-x","","","<unknown>"])"},
      {"kubeflow.org", "v1", "tfjobs",
       R"({"metadata":{"name":"t"},"status":{"conditions":[{"type":"Created"},{"type":"Running"}]}})",
       R"(["t","Running","<unknown>"])"},
      {"trainer.kubeflow.org", "v1alpha1", "trainjobs", R"({"metadata":{"name":"t"}})", R"(["t","","<unknown>"])"},
      {"kueue.x-k8s.io", "v1beta1", "workloads",
       R"({"metadata":{"name":"w"},"spec":{"queueName":"q"},"status":{"admission":{"clusterQueue":"c"},"conditions":[{)"
       R"("type":"Admitted","status":"True"}]}})",
       R"(["w","q","c","True","","<unknown>"])"},
  };
  for (const auto& each : cases) {
    const Value row =
        table_row(kind_of(each.group, each.version, each.plural), json(each.object), RowObject::kNone, kNow);
    EXPECT_EQ(to_json(row), R"({"cells":)" + std::string(each.cells) + "}");
  }
}

TEST(Tables, CarryAsMuchOfTheObjectAsWasAsked) {
  const Value object = json(R"({"kind":"Namespace","metadata":{"name":"a"},"status":{}})");
  const KindInfo& kind = kind_of("", "v1", "namespaces");
  EXPECT_EQ(table_row(kind, object, RowObject::kNone, kNow).find("object"), nullptr);
  EXPECT_EQ(to_json(table_row(kind, object, RowObject::kMetadata, kNow)["object"]),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}})");
  EXPECT_EQ(table_row(kind, object, RowObject::kObject, kNow)["object"], object);
}

}  // namespace berth::tables_test
