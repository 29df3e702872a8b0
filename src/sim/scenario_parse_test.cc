#include "sim/scenario_parse.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sim/scenario_later.h"

namespace berth::scenario_parse_test {

std::string complaints_about(std::string_view text) {
  const Result<Scenario> scenario = parse_scenario("s.txt", text);
  return scenario ? "" : scenario.error().to_string();
}

TEST(ScenarioParse, SaysWhatIsWrongWhereAndWhatToWriteInstead) {
  struct Case {
    const char* text;
    const char* complaint;
  };
  const Case cases[] = {
      {"nods n 4", "s.txt:1:1: 'nods' is no statement; did you mean 'nodes'?\n"},
      {"gpus=8", "s.txt:1:1: 'gpus' is no statement"},
      {"seed x", "s.txt:1:6: 'x' is not a whole number; write a whole number from 0 to 9223372036854775807\n"},
      {"seed", "s.txt:1:1: something is missing; write seed 7\n"},
      {"seed 1 2", "s.txt:1:8: '2' is one word too many; end the line before it\n"},
      {"submit w queue = default gpus=8", "s.txt:1:10: no blanks around '='; write queue=default\n"},
      {"submit w queue =default", "s.txt:1:10: no blanks around '='; write queue=default\n"},
      {"flavor h model= H100", "s.txt:1:10: 'model=' has no value; write model=... without a blank\n"},
      {"seed 1 = 2", "s.txt:1:8: '=' is one word too many; end the line before it\n"},
      {"nodes n 1\nseed 2", "s.txt:2:1: 'seed' holds for the whole scenario; write it before all else\n"},
      {"nodes n 1\npolicy spread", "s.txt:2:1: 'policy' holds for the whole scenario; write it before all else\n"},
      {"policy sprad", "s.txt:1:8: there is no policy 'sprad'; did you mean 'spread'?\n"},
      {"policy fgd",
       "s.txt:1:8: 'fgd' is not known in scenarios: it measures by typical pods, which come from a trace; "},
      {"policy fgd-balanced", "s.txt:1:8: 'fgd-balanced' is not known in scenarios"},
      {"flavor h model=H10O", "s.txt:1:10: model: unknown GPU model 'H10O'; did you mean 'H100'?\n"},
      {"flavor h model=", "s.txt:1:10: 'model=' has no value; write model=... without a blank\n"},
      {"flavor h\nflavor h", "s.txt:2:8: there is a flavor 'h' already; choose another name\n"},
      {"flavor a:b", "s.txt:1:8: 'a:b' is no name; names have no ':', '=', ',' and no blanks\n"},
      {"flavor a/b", "s.txt:1:8: 'a/b' is no name; only queues have a '/'\n"},
      {"nodes n", "s.txt:1:1: something is missing; write how many nodes\n"},
      {"nodes n 0", "s.txt:1:9: '0' is out of range; write a whole number from 1 to 100000\n"},
      {"nodes n 1 gpus=65", "s.txt:1:11: gpus: '65' is out of range; write a whole number from 0 to 64\n"},
      {"cycle bogus=1", "s.txt:1:7: 'bogus=' is not known here; leave it out\n"},
      {"nodes n 1 gpu=8", "s.txt:1:11: 'gpu=' is not known here; did you mean 'gpus'?\n"},
      {"nodes n 1 gpus=8 gpus=8", "s.txt:1:18: 'gpus=' stands here twice; write it once\n"},
      {"nodes n 1 memory=64Ti", "s.txt:1:11: memory: '64Ti' is too much; write at most 32Ti\n"},
      {"nodes n 1 cpu=1x", "s.txt:1:11: cpu: '1x' is not a quantity; write 1500m, 1.5 or 2\n"},
      {"nodes n 1 flavor=gpu", "s.txt:1:11: flavor= says of which kind the GPUs are; write gpus=, too\n"},
      {"nodes n 1 gpus=8 flavor=gpo", "s.txt:1:18: there is no flavor 'gpo'; did you mean 'gpu'?\n"},
      {"flavor a\nflavor b\nqueue q guarantee=8",
       "s.txt:3:9: guarantee: there are several flavors, and each has its own guarantee; write a:8, or a:8,b:8\n"},
      {"flavor a\nflavor b\nqueue q lending_limit=8", "s.txt:3:9: lending_limit: there are several flavors, and "},
      {"flavor a\nflavor b\nnodes n 1 gpus=8", "s.txt:3:1: there are several flavors; write flavor=a\n"},
      {"nodes n 1 gpus=8\nflavor a", "s.txt:1:1: no flavor is declared yet; write flavor lines above\n"},
      {"nodes n 20\nnodes n1 1", "s.txt:2:7: there is a node 'n11' already; choose another name\n"},
      {"nodes n 90000\nadd nodes m 10001", "s.txt:2:1: more than 100,000 nodes in one scenario; take fewer\n"},
      {"add node n 1", "s.txt:1:5: only nodes can be added; write add nodes n 4 gpus=8\n"},
      {"queue a order=fofo", "s.txt:1:9: order: 'fofo' is none of these; did you mean 'fifo'?\n"},
      {"lint", "s.txt:1:1: something is missing; write lint expect \"text\" at=research, or lint expect nothing\n"},
      {"lint expects x",
       "s.txt:1:6: 'expects' is not known here; write lint expect \"text\" at=research, or lint expect"},
      {"lint expect", "s.txt:1:1: something is missing; write what the linter must say, in quotes, or nothing\n"},
      {"lint expect nothing at=q", "s.txt:1:21: there is no queue 'q'; known: default\n"},
      {"lint expect two words", "s.txt:1:17: 'words' is one word too many; end the line before it\n"},
      {"queue a half_life=59s", "s.txt:1:9: half_life: '59s' is out of range; write 1m to 3650d, or 0s for none\n"},
      {"queue a/", "s.txt:1:7: 'a/' is no path; write research/nlp\n"},
      {"queue a\nqueue a", "s.txt:2:7: there is a queue 'a' already; choose another name\n"},
      {"submit w near=app:web",
       "s.txt:1:10: near: 'app:web' says nothing of pods and a level; write a label of pods, '@', and a label of nodes "
       "or "
       "node, such as app:web@rack\n"},
      {"submit w apart=web@rack", "s.txt:1:10: apart: 'web' is no label; write one such as rack:r1\n"},
      {"submit w rather_near=app:web@rack:101", "s.txt:1:10: rather_near: '101' is no number from 1 to 100\n"},
      {"submit w even=app:web@zone:0", "s.txt:1:10: even: '0' is no number from 1 to 1000000\n"},
      {"submit w ports=80,81:IP",
       "s.txt:1:10: ports: '81:IP' is no port of a node; write one such as 8080, 53:UDP or 8080:TCP:10.0.0.1\n"},
      {"submit w ports=80:TCP:10.0.0.256",
       "s.txt:1:10: ports: '80:TCP:10.0.0.256' is no port of a node; write one such as 8080, 53:UDP or "
       "8080:TCP:10.0.0.1\n"},
      {"submit w ports=80:TCP:10.0.0.1,80:UDP:10.0.0.1,80:TCP:10.0.0.1",
       "s.txt:1:10: ports: '80:TCP:10.0.0.1' is given twice; write it once\n"},
      {"flavor a\nflavor h\nqueue q cells=h:rack:2",
       "s.txt:3:9: cells: nothing is guaranteed of 'h', and a floor comes in whole domains; write guarantee= with "
       "their "
       "GPUs\n"},
      {"queue q\nsubmit w max_wait=0s then=cancel",
       "s.txt:2:10: max_wait: '0s' is out of range; write 1ms to 10,000 years\n"},
      {"submit w ports=80 spread=zone",
       "s.txt:1:1: topology=, slice=, spread= and strategy= find places for all pods "},
      {"submit w labels=a:b,a:c", "s.txt:1:10: label 'a' stands here twice; write it once\n"},
      {"submit w queue=a", "s.txt:1:10: there is no queue 'a'; known: default\n"},
      {"queue a\nqueue b\nsubmit w", "s.txt:3:1: there are several queues; write queue=a\n"},
      {"submit w\nqueue a", "s.txt:1:1: no queue is declared yet; write queue lines above\n"},
      {"submit w\nsubmit w", "s.txt:2:8: there is a workload 'w' already; choose another name\n"},
      {"submit none", "s.txt:1:8: 'none' has a meaning of its own after expect; choose another name\n"},
      {"submit w pods=0", "s.txt:1:10: pods: '0' is out of range; write a whole number from 1 to 100000\n"},
      {"submit w pods=99999\nsubmit v pods=2", "s.txt:2:1: more than 100,000 pods in one scenario; take fewer\n"},
      {"submit w gpus=1500m", "s.txt:1:10: gpus: '1500m' is neither whole GPUs (2) nor a part of one (500m)\n"},
      {"submit w gpus=65", "s.txt:1:10: gpus: '65' is too much; write at most 64\n"},
      {"submit w gpus=1 gpu_memory=60",
       "s.txt:1:17: gpu_memory: '60' are that many bytes; write 60Gi, or another unit\n"},
      {"nodes n 1\nsubmit w topology=required:rack,preferred:zone",
       "s.txt:2:10: topology: 'required:rack,preferred:zone' is no topology; write required:LEVEL or preferred:LEVEL, "
       "with a label of nodes such as rack, or node\n"},
      {"submit w pods=4 slice=2:node,4:rack",
       "s.txt:1:17: slice: '2:node,4:rack' is no slice; write one such as 8:node, for eight pods at a time on a "
       "node\n"},
      {"submit w spread=rack,zone",
       "s.txt:1:10: spread: 'rack,zone' is no level; write one label of nodes, such as zone\n"},
      {"submit w select=rack:r1,rack:r2", "s.txt:1:10: select: no node has label 'rack' twice; write it once\n"},
      {"submit w gpus=1 exclusive=rack,zone",
       "s.txt:1:17: exclusive: 'rack,zone' is no level; write one label of nodes, such as rack, or rack:each\n"},
      {"submit w gpus=1 exclusive=rack:some", "s.txt:1:17: exclusive: 'rack:some' is no level; "},
      {"submit w\ngroup w a\ngroup w a", "s.txt:3:9: group 'a' of 'w' stands above already; choose another name\n"},
      {"nodes n 1 nvlink_domain=a,b",
       "s.txt:1:11: nvlink_domain: 'nvlink_domain:a,b' is no label; write one such as rack:r1\n"},
      {"submit w gpu_memory=1Gi", "s.txt:1:10: gpu_memory= is of each GPU; write gpus=, too\n"},
      {"submit w flavor=gpu", "s.txt:1:10: flavor= says something about GPUs; write gpus=, too\n"},
      {"submit w gpus=1 flavor=gpu,gpu", "s.txt:1:17: flavor 'gpu' stands here twice; write it once\n"},
      {"submit w gpus=1 flavor=gpu,",
       "s.txt:1:17: 'flavor=' has an empty part; write names with commas and no blanks\n"},
      {"queue a weight=0", "s.txt:1:9: weight: '0' is too little; write 0.001 to 1000\n"},
      {"submit w begin=2025-12-01T00:00:00Z",
       "s.txt:1:10: begin: '2025-12-01T00:00:00Z' is before now, which is 2026-01-05 00:00; write a later moment, or "
       "+10m\n"},
      {"submit w gpus=1 mixed=maybe", "s.txt:1:17: mixed: 'maybe' is neither yes nor no\n"},
      {"submit w gpus=1 movable=maybe", "s.txt:1:17: movable: 'maybe' is neither yes nor no\n"},
      {"submit w run=2", "s.txt:1:10: run: '2' has no unit; write 2s for seconds, or ms, m, h, d\n"},
      {"submit w run=0s", "s.txt:1:10: run: '0s' is out of range; write 1ms to 10,000 years\n"},
      {"window q daily 08:00-18:00 guarantee=8", "s.txt:1:8: there is no queue 'q'"},
      {"window default daily guarantee=8",
       "s.txt:1:1: something is missing; write window research daily 20:00-08:00 guarantee=24\n"},
      {"window default dayly 08:00-18:00 guarantee=8", "s.txt:1:16: 'dayly' are no days; "},
      {"window default daily 08:00-18:00 guarantee=8 zone=Mars", "s.txt:1:46: zone: 'Mars' is no time zone; "},
      {"window default daily 08:00-18:00",
       "s.txt:1:1: nothing changes while it is open; write guarantee=, limit=, borrowing_limit=, lending_limit= or "
       "weight=\n"},
      {"queue q budget=100", "s.txt:1:9: '100' has no unit; write 100s for seconds, or ms, m, h, d\n"},
      {"queue q budget=1000000001h", "s.txt:1:9: '1000000001h' is out of range; write up to 1000000000h\n"},
      {"queue q budget_end=wait", "s.txt:1:9: budget_end: 'wait' is none of these; known: stop, best-effort\n"},
      {"queue q budget=1h\ngrant q 5h",
       "s.txt:2:1: a grant ends; write until=2026-12-01T00:00:00Z, or a larger budget= with set queue\n"},
      {"queue q budget=1h\ngrant q 0h until=01:00", "s.txt:2:9: nothing is granted; write how much, such as 50h\n"},
      {"queue q\ngrant q 5h until=01:00",
       "s.txt:2:7: queue 'q' has no budget that a grant could go beside; write budget= on its line\n"},
      {"queue q\nexpect budget q 5h", "s.txt:2:1: something is missing; write expect budget research = used:30h,"},
      {"queue q\nexpect budget q = spent:5h", "s.txt:2:19: 'spent:5h' is nothing to expect of a budget; write expect "},
      {"flavor a\nflavor b\nqueue q\nwindow q daily 08:00-18:00 borrowing_limit=8",
       "s.txt:4:28: borrowing_limit: there are several flavors, and each has its own borrowing_limit; write a:8"},
      {"nodes n 1 gpus=8\nreserve r queue=x gpus=1 from=09:00 for=1h", "s.txt:2:11: there is no queue 'x'"},
      {"flavor a\nflavor b\nreserve r gpus=8 from=09:00 for=1h",
       "s.txt:3:11: gpus: there are several flavors; write gpus=a:8\n"},
      {"reserve r gpus=l4:8 from=09:00 for=1h", "s.txt:1:11: there is no flavor 'l4'"},
      {"reserve r gpus=500m from=09:00 for=1h",
       "s.txt:1:11: gpus: '500m' is no number of whole GPUs; write at least 1\n"},
      {"nodes n 2 gpus=8\nnodes m 1 gpus=8 mode=mps\nreserve r gpus=17 from=09:00 for=1h\nsubmit w pods=0",
       "s.txt:3:11: gpus: there are 16 GPUs of gpu that are not shared; reserve no more, or write all nodes lines "
       "above\ns.txt:4:10: "},
      {"reserve r gpus=0 from=09:00 for=1h", "s.txt:1:11: gpus: '0' is no number of whole GPUs; write at least 1\n"},
      {"reserve r gpus=gpu.cpu:8 from=09:00 for=1h", "s.txt:1:11: gpus: only GPUs are reserved; write gpus=h100:16\n"},
      {"reserve r from=09:00 for=1h", "s.txt:1:1: nothing is reserved; write gpus=, as in reserve r queue="},
      {"reserve r gpus=1 for=1h", "s.txt:1:1: nobody says when it begins; write from=, as in reserve r queue="},
      {"reserve r gpus=1 from=09:00", "s.txt:1:1: nobody says how long it lasts; write for=, as in reserve r queue="},
      {"reserve r gpus=1 from=09:00 for=0s", "s.txt:1:29: for: '0s' is out of range; write 1ms to 10,000 years\n"},
      {"reserve r gpus=1 from=09:00 for=25h daily",
       "s.txt:1:29: for: what comes every day lasts at most 24 hours; write at most for=24h, or leave daily out\n"},
      {"reserve r gpus=1 from=09:00 for=400d", "s.txt:1:29: for: it lasts at most 366 days; write less\n"},
      {"reserve r gpus=1 from=09:00 for=1h monthly",
       "s.txt:1:36: 'monthly' is not known here; write daily, weekly, or nothing for once\n"},
      {"reserve r gpus=1 from=09:00 for=1h weekly days=mon",
       "s.txt:1:43: days: weekly says on which; leave one of them out\n"},
      {"reserve r gpus=1 from=09:00 for=1h zone=Europe/Berlin",
       "s.txt:1:36: zone: it is of what comes again; write days=mon-fri beside it\n"},
      {"reserve r gpus=1 from=09:00 for=1h daily zone=Berlin", "s.txt:1:42: zone: 'Berlin' is no time zone; "},
      {"reserve r gpus=1 from=09:00 for=1h days=weekdays", "s.txt:1:36: 'weekdays' are no days; write daily, "},
      {"reserve r gpus=1 from=+1h for=1h days=mon",
       "s.txt:1:18: from: on days it is a time of the clock, or a moment "},
      {"reserve r gpus=1 from=09:00:30 for=1h days=mon",
       "s.txt:1:39: what comes on days of a calendar begins and ends "},
      {"reserve r gpus=1 from=09:00 for=25h days=mon",
       "s.txt:1:37: what comes on days of a calendar lasts at most 24 "},
      {"reserve r gpus=1 from=09:00 for=24h days=mon-sun", "s.txt:1:37: it would never end; write less than 24h, or "},
      {"at 2026-11-21T08:00:00Z\nreserve r gpus=1 from=2026-11-20T08:00:00Z for=1h", "s.txt:2:18: from: "},
      {"queue a\nqueue b\nreserve r gpus=1 from=09:00 for=1h", "s.txt:3:1: nobody says for whom; write queue=, as in "},
      {"reserve r gpus=1 from=09:00 for=1h\nreserve r gpus=1 from=12:00 for=1h",
       "s.txt:2:9: there is a reservation 'r' already"},
      {"submit r\nreserve r gpus=1 from=09:00 for=1h", "s.txt:2:9: there is a workload 'r' already"},
      {"reserve r gpus=1 from=09:00 for=1h\nsubmit r", "s.txt:2:8: there is a reservation 'r' already"},
      {"maintain n1 from=09:00 for=1h", "s.txt:1:10: there is no node 'n1'"},
      {"nodes n 1\nmaintain n1,n1 from=09:00 for=1h", "s.txt:2:10: 'n1' stands there twice\n"},
      {"expect reservation r", "s.txt:1:20: there is no reservation 'r'"},
      {"cancel r", "s.txt:1:8: there is no workload 'r'"},
      {"submit w limit=0s", "s.txt:1:10: limit: '0s' is out of range; write 1ms to 10,000 years\n"},
      {"submit w limit=10", "s.txt:1:10: limit: '10' has no unit; write 10s for seconds, or ms, m, h, d\n"},
      {"submit w\ngroup w x limit=1h", "s.txt:2:11: 'limit=' is not known here; known: "},
      {"submit w pods=4 min=5",
       "s.txt:1:17: min: it starts with 5 pods at least, and pods=4 are fewer; write pods=5 or more\n"},
      {"submit w pods=4 max=3", "s.txt:1:17: max: it has 3 pods at most, and pods=4 are more; write max=4 or more\n"},
      {"submit w pods=4 min=0", "s.txt:1:17: min: '0' is out of range; write a whole number from 1 to 100000\n"},
      {"submit w max=2000", "s.txt:1:1: max: 1999 pods above its minimum are more than 1000; take fewer\n"},
      {"submit w resize=often", "s.txt:1:10: resize: 'often' is "},
      {"submit w pods=8 max=16 gpus=1 slice=4:node", "s.txt:1:1: slice= and parallel= are of a size that stays, "},
      {"submit w pods=2 max=4\ngroup w+1 x pods=2", "s.txt:2:7: 'w+1' is one pod of another workload; write "},
      {"submit w+1\nsubmit w\ngroup w x max=2", "s.txt:3:7: there is a workload 'w+1' already"},
      {"submit w+1\nsubmit w max=2", "s.txt:2:8: there is a workload 'w+1' already"},
      {"submit w max=2\nexpect w shrunk", "s.txt:2:10: by how many pods it was shrunk is missing; write shrunk=3\n"},
      {"submit w gpus=mig:9/7", "s.txt:1:10: gpus: '9/7' is no part of a GPU; write one such as 1/7, or smallest\n"},
      {"flavor h model=H100\nqueue q guarantee=h200.mig-1g.10gb:4", "s.txt:2:9: there is no flavor 'h200'; known: h\n"},
      {"flavor h model=H100\nqueue q guarantee=h.mig-9g.90gb:4",
       "s.txt:2:9: GPUs of h cannot be cut into '9g.90gb'; they have 1g.10gb, "},
      {"flavor h model=H100\nqueue q guarantee=h.gpus:4",
       "s.txt:2:9: flavor h has no 'gpus'; write h for GPUs, h.cpu, h.memory or h.mig-1g.10gb\n"},
      {"submit w gpus=mps:25", "s.txt:1:10: gpus: 'mps:25' is no part of a GPU; write one such as mps:25%\n"},
      {"queue a\ncircle a,b", "s.txt:2:8: there is no queue 'b'"},
      {"queue a\ncircle a,a", "s.txt:2:8: 'a' stands there twice\n"},
      {"queue a\ncircle", "s.txt:2:1: something is missing; write circle a,b\n"},
      {"queue a\nqueue b\ncircle a,b\ncircle b,a", "s.txt:4:1: there is a circle of just these already\n"},
      {"queue a\nqueue b\ncircle a,b isolate=node", "s.txt:3:12: 'isolate=' is not known here"},
      {"queue a\ncircle a apart=node",
       "s.txt:2:10: apart: 'node' is no mode of GPUs and a level; write such as exclusive:node, mig:node\n"},
      {"queue a\ncircle a apart=mig:device",
       "s.txt:2:10: slices of one GPU are kept apart by the hardware, of whomever they are; write mig:slice for that, "
       "or "
       "mig:node\n"},
      {"trust mps=slice", "s.txt:1:7: only GPUs that are cut have slices; write mps:device, or mps:node\n"},
      {"trust within=5m", "s.txt:1:1: nothing is said; write trust exclusive=node mig=node within=10m\n"},
      {"queue a\nqueue b\ndissolve circle a,b",
       "s.txt:3:1: there is no circle of just these; name those of one circle line above\n"},
      {"queue a\ndissolve queue a", "s.txt:2:10: 'queue' cannot be dissolved; write dissolve circle a,b within=10m\n"},
      {"scrub 2", "s.txt:1:7: scrub: '2' has no unit; write 2s for seconds, or ms, m, h, d\n"},
      {"submit w\nscrub 2m",
       "s.txt:2:1: how long a scrub takes holds for the whole scenario; write it above the first submit\n"},
      {"nodes n 1 gpus=1\nscrub_fails n1", "s.txt:2:13: a GPU is a node and a number from 0; write scrub_fails n1/0\n"},
      {"nodes n 1 gpus=1\nscrub_fails m1/0", "s.txt:2:13: there is no node 'm1'"},
      {"nodes n 1 gpus=1\nexpect device n1/0 tidy", "s.txt:2:20: 'tidy' is no state of a device"},
      {"submit w gpus=mps:101%", "s.txt:1:10: gpus: 'mps:101%' is no part of a GPU; write one such as mps:25%\n"},
      {"flavor f model=A100-40GB\nsubmit w gpus=vgpu:A100X-11C flavor=f",
       "s.txt:2:10: gpus: no GPU that it accepts has a vGPU 'A100X-11C'; write one of A100X-40C, A100X-20C, A100X-10C, "
       "A100X-8C, A100X-5C, A100X-4C\n"},
      {"flavor f model=A100-40GB\nsubmit w gpus=vgpu:A100X-10C gpu_memory=5Gi flavor=f",
       "s.txt:2:30: gpu_memory= is of GPUs that are not shared; a vGPU has its own. Write gpus=vgpu:smallest for the "
       "smallest that has so much\n"},
      {"submit w gpus=vgpu:A100X-10C",
       "s.txt:1:10: gpus: no GPU that it accepts has a vGPU 'A100X-10C'; declare flavors with a model, as in "
       "model=H100\n"},
      {"flavor f model=G2\nnodes n 1 gpus=1 flavor=f mode=vgpu",
       "s.txt:2:27: mode: GPUs of 'f' are not known to have vGPUs; write a flavor with model=H100 or another that "
       "has\n"},
      {"submit w gpus=mps:2%",
       "s.txt:1:10: gpus: 'mps:2%' would let more share a GPU than MPS serves; write mps:3% or more\n"},
      {"submit w gpus=1 latency=high",
       "s.txt:1:17: latency: 'high' is not known; write latency=critical, or leave it out\n"},
      {"submit w gpus=mig:1g.10gb",
       "s.txt:1:10: gpus: no GPU that it accepts can be cut into '1g.10gb'; declare flavors with a model, as in "
       "model=H100\n"},
      {"flavor f model=A30\nsubmit w gpus=mig:1g.10g",
       "s.txt:2:10: gpus: no GPU that it accepts can be cut into '1g.10g'; write one of 1g.6gb, 1g.6gb+me, "},
      {"flavor f\nsubmit w gpus=mig:1/7", "s.txt:2:10: gpus: declare flavors with a model, as in model=H100\n"},
      {"flavor f model=A30\nsubmit w gpus=mig:1g.6gb gpu_memory=1Gi",
       "s.txt:2:26: gpu_memory= is of GPUs that are not cut; a slice has its own. Write "
       "gpus=mig:smallest for the smallest slice that has so much\n"},
      {"flavor f model=A30\nsubmit w gpus=mig:1g.6gb mixed=yes",
       "s.txt:2:10: mixed=yes is for whole GPUs: slices of one name are not the same on two models\n"},
      {"flavor f model=A30\nnodes n 1 mode=mig",
       "s.txt:2:11: mode=mig says how the GPUs are shared; write gpus=, too\n"},
      {"nodes n 1 gpus=1 mode=mig",
       "s.txt:1:18: mode: GPUs of 'gpu' are not known to be cut into slices; write a flavor with model=H100 or "},
      {"nodes n 1 mode=mps", "s.txt:1:11: mode=mps says how the GPUs are shared; write gpus=, too\n"},
      {"nodes n 1 gpus=1 mode=exclusive,mps,exclusive",
       "s.txt:1:18: mode: 'exclusive' is there twice; name each once\n"},
      {"nodes n 1 gpus=1 mode=exclusive,timeslice",
       "s.txt:1:18: mode: time-sliced GPUs count for nothing, so their nodes are nothing else besides; write "
       "mode=timeslice, and other nodes for the rest\n"},
      {"flavor f model=L4\nnodes n 1 gpus=1 mode=exclusive,mig",
       "s.txt:2:18: mode: GPUs of 'f' are not known to be cut into slices; write a flavor with model=H100 or another "
       "that can be\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mode=mig,exclusive mig=1g.10gb",
       "s.txt:2:37: mig: what is cut beforehand stays so; write mode=mig alone\n"},
      {"nodes n 1 gpus=1 mode=shared",
       "s.txt:1:18: 'shared' is no way to share GPUs; known: exclusive, mig, mps, timeslice, vgpu\n"},
      {"nodes n 1 gpus=1 mode=timeslice replicas=33",
       "s.txt:1:33: replicas: '33' is out of range; write a whole number from 2 to 32\n"},
      {"nodes n 1 gpus=1 replicas=4",
       "s.txt:1:18: replicas= is of GPUs on which work takes turns; write mode=timeslice, too\n"},
      {"nodes n 1 cpu=8 kept=cpu:1", "s.txt:1:17: kept= is kept for each GPU; write gpus=, too\n"},
      {"nodes n 1 gpus=4 cpu=8 kept=2",
       "s.txt:1:24: kept: '2' is no amount to keep; write kept=cpu:12,memory:100Gi, for each GPU\n"},
      {"nodes n 1 gpus=4 cpu=9 kept=cpu:2500m",
       "s.txt:1:24: kept: cpu of 4 GPUs is more than the node has; write cpu:2 or less\n"},
      {"nodes n 1 gpus=4 memory=8Gi kept=memory:3Gi",
       "s.txt:1:29: kept: memory of 4 GPUs is more than the node has; write memory:2Gi or less\n"},
      {"nodes n 1 gpus=4 kept=cpu:x", "s.txt:1:18: kept: cpu: 'x' is not a quantity; write 1500m, 1.5 or 2\n"},
      {"nodes n 1 cpu=8 overcommit=1.5",
       "s.txt:1:17: overcommit: '1.5' does not say how many times what it has a node promises; write 1 to 10 for CPUs, "
       "memory or both, such as cpu:1.5,memory:1.2\n"},
      {"nodes n 1 gpus=8 numa=2",
       "s.txt:1:18: numa= matters where a kubelet has a policy; write numa_policy=single-numa-node, too\n"},
      {"nodes n 1 gpus=8 numa_policy=restricted",
       "s.txt:1:18: a policy is about NUMA zones; write how many, as in numa=2\n"},
      {"nodes n 1 gpus=8 numa=9 numa_policy=none",
       "s.txt:1:18: numa: '9' is out of range; write a whole number from 1 to 8\n"},
      {"nodes n 1 gpus=8 numa=2 numa_policy=strict",
       "s.txt:1:25: numa_policy: 'strict' is no policy of a kubelet; known: none, best-effort, restricted, "
       "single-numa-node\n"},
      {"nodes n 1 gpus=8 mode=mps numa=2 numa_policy=restricted",
       "s.txt:1:34: NUMA zones are counted of whole GPUs; write gpus= and no other mode=\n"},
      {"nodes n 1 numa=2 numa_policy=restricted",
       "s.txt:1:18: NUMA zones are counted of whole GPUs; write gpus= and no other mode=\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mig=1g.10gb",
       "s.txt:2:18: mig= says into which slices GPUs are cut beforehand; write mode=mig, too\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mode=mps mig=1g.10gb",
       "s.txt:2:27: mig= says into which slices GPUs are cut beforehand; write mode=mig, too\n"},
      {"flavor f model=L4\nnodes n 1 gpus=1 mode=mig mig=1g.10gb",
       "s.txt:2:18: mode: GPUs of 'f' are not known to be cut into slices; write a flavor with model=H100 or another "
       "that can be\n"},
      {"flavor f model=A30\nnodes n 1 gpus=1 mode=mig mig=1g.10gb",
       "s.txt:2:27: mig: a A30 has no slice '1g.10gb'; it has 4g.24gb, 2g.12gb+me, 2g.12gb, 1g.6gb+me, 1g.6gb\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mode=mig mig=4g.40gb,3g.40gb,1g.10gb",
       "s.txt:2:27: mig: a H100 has no room for a 1g.10gb beside 4g.40gb, 3g.40gb; leave it out\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mode=mig recut=60s",
       "s.txt:2:27: recut= is of slices that were cut beforehand; write mode=mig mig=3g.40gb, too\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mode=mig mig=3g.40gb recut=0s",
       "s.txt:2:39: recut: cutting a GPU anew takes more than nothing and an hour at most, as in recut=60s\n"},
      {"flavor f model=H100\nnodes n 1 gpus=1 mode=mig mig=3g.40gb recut=61m",
       "s.txt:2:39: recut: cutting a GPU anew takes more than nothing and an hour at most, as in recut=60s\n"},
      {"set",
       "s.txt:1:1: something is missing; write set queue research guarantee=8, set workload w priority=200 or set node "
       "n1 labels=rack:r1\n"},
      {"set flavor gpu",
       "s.txt:1:5: 'flavor' cannot be set; write set queue research guarantee=8, set workload w priority=200 or set "
       "node n1 labels=rack:r1\n"},
      {"set node", "s.txt:1:1: something is missing; write set node n1 labels=rack:r1\n"},
      {"set node n1 labels=rack:r1", "s.txt:1:10: there is no node 'n1'"},
      {"nodes n 1\nset node n1",
       "s.txt:2:1: nothing is set; write what, as in labels=rack:r1, taints=none, images=trainer:20Gi or spare=yes\n"},
      {"nodes n 1 spare=perhaps", "s.txt:1:11: spare: 'perhaps' is neither yes nor no\n"},
      {"nodes n 1\nset node n1 gpus=8 labels=none",
       "s.txt:2:13: 'gpus=' is not known here; known: labels, taints, spare, images\n"},
      {"nodes n 1 labels=rack", "s.txt:1:11: labels: 'rack' is no label; write one such as rack:r1\n"},
      {"nodes n 1 labels=rack:r1,rack:r2", "s.txt:1:11: label 'rack' stands here twice; write it once\n"},
      {"nodes n 1 labels=nvlink_domain:a nvlink_domain=b",
       "s.txt:1:34: label 'nvlink_domain' stands here twice; write it once\n"},
      {"nodes n 1 taints=a:b:Never",
       "s.txt:1:11: taints: 'a:b:Never' is no taint; write one such as team:a:NoSchedule"},
      {"submit w select=rack", "s.txt:1:10: select: 'rack' is no label; write one such as rack:r1\n"},
      {"submit w tolerate=:a", "s.txt:1:10: tolerate: ':a' is no label; write one such as rack:r1\n"},
      {"submit w tolerate=team:a:0s",
       "s.txt:1:10: tolerate: 'team:a:0s' does not say how long it bears that taint; write a label, and a length if "
       "you "
       "like, such as team:a:5m\n"},
      {"submit w topology=rack",
       "s.txt:1:10: topology: 'rack' is no topology; write required:LEVEL or preferred:LEVEL"},
      {"submit w topology=required:", "s.txt:1:10: topology: 'required:' is no topology; write required:LEVEL or "},
      {"submit w gpus=1 parallel=tp=2", "s.txt:1:17: parallel: 'tp=2' are no parallel sizes; write some such as tp:8,"},
      {"submit w gpus=8 pods=2 parallel=tp:8",
       "s.txt:1:24: parallel: 8 x 1 x 1 are 8 GPUs, and its pods have 16 (2 with 8 each); write sizes whose product"},
      {"submit w gpus=500m parallel=tp:1",
       "s.txt:1:20: parallel= is of whole GPUs; write gpus=, too, such as gpus=8\n"},
      {"submit w parallel=tp:1", "s.txt:1:10: parallel= is of whole GPUs; write gpus=, too, such as gpus=8\n"},
      {"submit w gpus=1 pods=2 slice=2:node parallel=tp:2",
       "s.txt:1:37: parallel= says where its pods go beside each other, and so do slice=, spread=,"},
      {"nodes n 1 labels=rack:a,bandwidth.berth.dev/rack:fast",
       "s.txt:1:11: labels: 'fast' is no bandwidth; write GB/s from 100m to 1000000, such as "
       "bandwidth.berth.dev/rack:50\n"},
      {"submit w slice=8", "s.txt:1:10: slice: '8' is no slice; write one such as 8:node, for eight pods at a time"},
      {"submit w pods=6 slice=4:node",
       "s.txt:1:17: slice: 6 pods are not whole slices of 4; write pods= as a multiple"},
      {"set queue q limit=8", "s.txt:1:11: there is no queue 'q'; known: default\n"},
      {"set queue default", "s.txt:1:1: nothing is set; write what, as in guarantee=8\n"},
      {"set queue default limit=8 priority=2", "s.txt:1:27: 'priority=' is not known here; known: order, "},
      {"submit w\nset workload w", "s.txt:2:1: nothing is set; write priority=200 or queue=other\n"},
      {"submit w\nset workload w gpus=2 priority=1", "s.txt:2:16: 'gpus=' is not known here; known: priority, queue\n"},
      {"submit w\nset workload w queue=q", "s.txt:2:16: there is no queue 'q'; known: default\n"},
      {"hold node n1", "s.txt:1:6: 'node' is not known here; write hold queue research\n"},
      {"release queue", "s.txt:1:1: something is missing; write release queue research\n"},
      {"hold queue q", "s.txt:1:12: there is no queue 'q'; known: default\n"},
      {"drain", "s.txt:1:1: something is missing; write drain node n1 or drain queue research\n"},
      {"drain pod w/1", "s.txt:1:7: 'pod' is not known here; write drain node n1\n"},
      {"group w workers", "s.txt:1:7: there is no workload 'w'; submit it above\n"},
      {"submit w\ngroup w", "s.txt:2:1: something is missing; write a name for the pods, as in group w workers\n"},
      {"flavor a\nflavor b\nflavor c\nsubmit w gpus=8 flavor=c\ngroup w x gpus=1 flavor=a,b",
       "s.txt:4:1: a pod set may take several flavors, but not all that the first set with GPUs may; give it one "
       "flavor, the "
       "same ones, or, unless it asks slices, mixed=yes\n"},
      {"submit w\ncycle\ngroup w x", "s.txt:3:7: 'w' is submitted already; write group lines right below its submit\n"},
      {"end w", "s.txt:1:5: there is no workload 'w'; submit it above\n"},
      {"submit train\ncancel trai", "s.txt:2:8: there is no workload 'trai'; did you mean 'train'?\n"},
      {"nodes n 2\nfail node n3", "s.txt:2:11: there is no node 'n3'; did you mean 'n1'?\n"},
      {"nodes n 2\nfail nod n1", "s.txt:2:6: 'nod' is not known here; write fail node n1 or fail pod w/3\n"},
      {"nodes n 2\ndrain pod n1", "s.txt:2:7: 'pod' is not known here; write drain node n1\n"},
      {"submit w\nfail pod w", "s.txt:2:10: 'w' is no pod; write fail pod w/3, from 0\n"},
      {"submit w\nfail pod w/x", "s.txt:2:10: 'w/x' is no pod; write fail pod w/3, from 0\n"},
      {"submit w\nfail pod w/1", "s.txt:2:10: 'w/1' is no pod of it; write w/0, its only one\n"},
      {"submit w pods=2 max=3\nfail pod w/2\nfail pod w/3", "s.txt:3:10: 'w/3' is no pod of it; write w/0 to w/2\n"},
      {"submit w pods=2\ngroup w x pods=2\nfail pod w/3\nfail pod w/4",
       "s.txt:4:10: 'w/4' is no pod of it; write w/0 to w/3\n"},
      {"submit w\nfail pod v/0", "s.txt:2:10: there is no workload 'v'; did you mean 'w'?\n"},
      {"submit w\nfail pod w/0 exit=0", "s.txt:2:14: exit: '0' is out of range; write a whole number from 1 to 255\n"},
      {"submit w pods=2\nend pod w/2", "s.txt:2:9: 'w/2' is no pod of it; write w/0 to w/1\n"},
      {"submit w\nend pod w", "s.txt:2:9: 'w' is no pod; write end pod w/3, from 0\n"},
      {"submit pod\nend pod\nready pods", "s.txt:3:7: there is no workload 'pods'; did you mean 'pod'?\n"},
      {"submit w on_exit=0:abort",
       "s.txt:1:10: on_exit: '0:abort' is no exit code with what follows from it; write 3:abort, a code from 1 to 255 "
       "and one of restart, restart-gang, complete, abort\n"},
      {"submit w on_exit=3:abort,3:restart", "s.txt:1:10: on_exit: 3 stands there twice\n"},
      {"submit w on_fail=stop",
       "s.txt:1:10: on_fail: 'stop' is nothing that follows; known: restart, restart-gang, complete, abort\n"},
      {"submit w on_end=abort", "s.txt:1:10: on_end: 'abort' is not known; write on_end=complete, or leave it out\n"},
      {"submit w\ngroup w x retries=3", "s.txt:2:11: 'retries=' is not known here; known: "},
      {"queue q extend=1h", "s.txt:1:9: extend= is of a queue that extends limits; write over_run=extend\n"},
      {"queue q over_run=extend extensions=0",
       "s.txt:1:25: extensions: '0' is out of range; write a whole number from 1 to 1000\n"},
      {"repair", "s.txt:1:1: something is missing; write repair 10m\n"},
      {"repair 10", "s.txt:1:8: repair: '10' has no unit; write 10s for seconds, or ms, m, h, d\n"},
      {"submit w\nexpect w repairing until=noon",
       "s.txt:2:20: until: 'noon' is not a moment; write 08:00, 08:00:30 or 2026-11-21T08:00:00Z\n"},
      {"at noon", "s.txt:1:4: 'noon' is not a moment; write 08:00, 08:00:30, +10m or 2026-11-21T08:00:00Z\n"},
      {"at 24:00", "s.txt:1:4: '24:00' is not a moment"},
      {"at 2026-02-30T00:00:00Z", "s.txt:1:4: '2026-02-30T00:00:00Z' is not a moment"},
      {"at 2026-11-21T08:00:00Z\nat 2026-11-20T09:00:00Z", "s.txt:2:4: '2026-11-20T09:00:00Z' is before now"},
      {"at +999999999999h", "s.txt:1:4: '+999999999999h' is more than 10,000 years away; write an earlier moment\n"},
      {"at +10", "s.txt:1:4: '10' has no unit; write 10s for seconds, or ms, m, h, d\n"},
      {"submit w\nexpect w runing", "s.txt:2:10: 'runing' is nothing to expect; did you mean 'running'?\n"},
      {"submit w\nexpect w", "s.txt:2:1: something is missing; write what is expected: running, waits, "},
      {"submit w\nexpect v running", "s.txt:2:8: there is no workload 'v'; did you mean 'w'?\n"},
      {"queue a order=sjf backfill=easy",
       "s.txt:1:19: backfill is for order=fifo: in every other order whoever fits passes whoever does not\n"},
      {"queue a backfill=some", "s.txt:1:9: backfill: 'some' "},
      {"submit w\nexpect w waits shadow=2026-01-04T06:00:00Z",
       "s.txt:2:16: shadow: '2026-01-04T06:00:00Z' is before now, which is 00:00; "},
      {"submit w\nexpect w waits shadow=soon", "s.txt:2:16: shadow: 'soon' is not a moment; write 08:00, "},
      {"submit w\nexpect w waits=1", "s.txt:2:10: 'waits=' takes no value; write waits\n"},
      {"submit w\nexpect w running on=n1", "s.txt:2:18: there is no node 'n1'; write a line like nodes n 4 above\n"},
      {"submit w\nexpect w running started=08:00",
       "s.txt:2:18: started: '08:00' has not come: it is 00:00; write a moment "},
      {"submit w\nsettle\nexpect w running started=+5s", "s.txt:3:18: started: '+5s' is not a moment"},
      {"submit w\nexpect w running reason=Behind",
       "s.txt:2:18: 'reason=' is not known here; known: on, ranks, flavor, started, covered, against, has\n"},
      {"submit w\nexpect w waits reason=Capacty",
       "s.txt:2:16: reason: 'Capacty' is no reason; did you mean 'Capacity'?\n"},
      {"submit w\nexpect w waits reason=None", "s.txt:2:16: reason: 'None' is no reason"},
      {"submit w\nexpect w waits ahead=v", "s.txt:2:16: there is no workload 'v'; did you mean 'w'?\n"},
      {"submit w\nexpect w waits has=\"a b", "s.txt:2:16: a quote is not closed; write has=\"some words\"\n"},
      {"submit w\nexpect w evicted rule=x",
       "s.txt:2:18: rule: 'x' is no rule; known: node, reclaim, fair-share, preempt, over-run, window, budget, trust, "
       "defragment, loan, restart, never-ready\n"},
      {"submit w begin=soon", "s.txt:1:10: begin: 'soon' is not a moment; write 08:00"},
      {"submit w after=w", "s.txt:1:10: there is no workload 'w'; submit it above\n"},
      {"submit v\nsubmit w after_ok=v,u", "s.txt:2:10: there is no workload 'u'; did you mean 'v'?\n"},
      {"expect lent default 8", "s.txt:1:1: something is missing; write expect lent research = h100:24\n"},
      {"submit w\nexpect w done on=n1", "s.txt:2:15: 'on=' is not known here; known: has\n"},
      {"expect none evicted",
       "s.txt:1:1: something is missing; write expect none evicted since start, or since last\n"},
      {"expect none evicted since noon", "s.txt:1:1: this is nothing to expect; write expect none evicted since start"},
      {"expect usage default 24", "s.txt:1:1: something is missing; write expect usage research = h100:24\n"},
      {"expect usage q = 24", "s.txt:1:14: there is no queue 'q'; known: default\n"},
      {"expect usage default = h100:24", "s.txt:1:24: there is no flavor 'h100'; known: gpu\n"},
      {"expect usage default = gpu:x", "s.txt:1:24: 'x' is not a quantity; write 1500m, 1.5 or 2\n"},
      {"submit w strategy=SPRED", "s.txt:1:10: strategy: 'SPRED' is no strategy; did you mean 'SPREAD'?\n"},
      {"submit w pods=4 topology=required:rack slice=2:node strategy=STRICT_PACK",
       "s.txt:1:53: strategy=STRICT_PACK is topology=required:node; write one of them\n"},
      {"submit w strategy=PACK topology=required:rack",
       "s.txt:1:10: strategy=PACK is topology=preferred:node; write one of them\n"},
      {"submit w spread=node strategy=SPREAD",
       "s.txt:1:22: strategy= and spread=node both say how its pods go over nodes; write one of them\n"},
      {"submit w spread=zone strategy=STRICT_PACK",
       "s.txt:1:22: strategy=STRICT_PACK keeps all pods on one node, which is in one zone, and spread= spreads them "
       "over "
       "several; write one of them\n"},
      {"submit w spread=zone slice=1:rack",
       "s.txt:1:10: spread= spreads slices that are each on one node, and these are of a rack; write slice=1:node, or "
       "one of them\n"},
      {"submit w topology=preferred:rack strategy=SPREAD",
       "s.txt:1:34: strategy= spreads pods that topology=preferred keeps together; write one of them, or "},
      {"nodes n 1\nexpect mig n1", "s.txt:2:1: something is missing; write expect mig n1/0 = 4g.40gb@0,1g.10gb@6"},
      {"nodes n 1\nexpect mig n1 = none", "s.txt:2:12: a GPU is a node and a number from 0; write expect mig n1/0 ="},
      {"nodes n 1\nexpect mig n1/64 = none", "s.txt:2:12: a GPU is a node and a number from 0"},
      {"nodes n 1\nexpect mig n2/0 = none", "s.txt:2:12: there is no node 'n2'; did you mean 'n1'?\n"},
      {"nodes n 1\nexpect mig n1/0 = 1g.10gb", "s.txt:2:19: '1g.10gb' is no slice at its start; write expect mig"},
      {"nodes n 1\nexpect mig n1/0 = 1g.10gb@x", "s.txt:2:19: '1g.10gb@x' is no slice at its start"},
      {"nodes n 1\nexpect mig n1/0 : none", "s.txt:2:17: a '=' is missing; write expect mig"},
      {"expect fragments 8=3",
       "s.txt:1:18: this is nothing to expect; write expect fragments 8gpu=3, or of slices 3g.40gb=2\n"},
      {"expect fragments", "s.txt:1:1: something is missing; write expect fragments 8gpu=3, or of slices 3g.40gb=2\n"},
  };
  for (const Case& c : cases) {
    const std::string found = complaints_about(c.text);
    EXPECT_TRUE(found.starts_with(c.complaint)) << c.text << "\n  found:    " << found << "  expected: " << c.complaint;
  }
}

TEST(ScenarioParse, KnowsEveryReasonOfTheLanguage) {
  for (const std::string_view reason : kLaterReasonNames) {
    EXPECT_EQ(complaints_about("submit w\nexpect w waits reason=" + std::string(reason)), "");
    EXPECT_EQ(complaints_about("submit w\nexpect w impossible reason=" + std::string(reason)), "");
  }
}

TEST(ScenarioParse, ComplainsAboutEverythingAtOnce) {
  EXPECT_EQ(complaints_about("submit w queue = default gpus=1\nsubmit v limit= 1h queue =default cpus=1\nfail pod w/1"),
            "s.txt:1:10: no blanks around '='; write queue=default\n"
            "s.txt:2:10: 'limit=' has no value; write limit=... without a blank\n"
            "s.txt:2:20: no blanks around '='; write queue=default\n"
            "s.txt:2:35: 'cpus=' is not known here; did you mean 'gpus'?\n"
            "s.txt:3:10: 'w/1' is no pod of it; write w/0, its only one\n");
  EXPECT_EQ(complaints_about("nodes n 1 gpus=x cpus=2\nqueue q dedicated=r\nsubmit w flavour=h100"),
            "s.txt:1:11: gpus: 'x' is not a whole number; write a whole number from 0 to 64\n"
            "s.txt:1:18: 'cpus=' is not known here; did you mean 'gpus'?\n"
            "s.txt:2:9: dedicated: 'r' is no label; write one such as rack:r1\n"
            "s.txt:3:10: 'flavour=' is not known here; did you mean 'flavor'?\n");
}

TEST(ScenarioParse, BoundsWhatItReads) {
  EXPECT_EQ(complaints_about(std::string(kScenarioBytesMax + 1, '#')),
            "s.txt: larger than 1 MiB; split it into several scenarios\n");
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += "cycle\n";
  EXPECT_EQ(complaints_about(many), "s.txt:10001:1: more than 10,000 statements; split it into several scenarios\n");
  std::string words = "submit w";
  for (int i = 0; i < 100; ++i) words += " x";
  EXPECT_EQ(complaints_about(words), "s.txt:1:134: more than 64 words on one line; use several statements\n");
}

TEST(ScenarioParse, GivesAWayForEachFlavorInTheOrderWanted) {
  const Result<Scenario> scenario = parse_scenario("s.txt",
                                                   "flavor a\nflavor b\nflavor c\n"
                                                   "submit w cpu=1\n"
                                                   "group w workers pods=2 gpus=8 flavor=c,a\n"
                                                   "group w helpers gpus=500m flavor=a\n"
                                                   "submit m gpus=1 pods=2 flavor=c,b mixed=yes\n");
  ASSERT_TRUE(scenario) << scenario.error().to_string();
  const auto shape_at = [&](std::size_t statement) -> const WorkloadShape& {
    return std::get<WorkloadSubmitted>(std::get<Event>(scenario->statements[statement].action)).shape;
  };
  const FlavorSet a = FlavorSet::of(FlavorId(0));
  const FlavorSet c = FlavorSet::of(FlavorId(2));
  const WorkloadShape& gang = shape_at(scenario->statements.size() - 2);
  ASSERT_EQ(gang.ways.size(), 2u);
  EXPECT_EQ(gang.ways[0][0].request.flavors, FlavorSet::all());  // asks no GPU
  EXPECT_EQ(gang.ways[0][1].request.flavors, c);
  EXPECT_EQ(gang.ways[0][2].request.flavors, a);  // may not use c, and has no choice of its own
  EXPECT_EQ(gang.ways[1][1].request.flavors, a);
  EXPECT_EQ(gang.ways[1][2].request.flavors, a);
  const WorkloadShape& mixed = shape_at(scenario->statements.size() - 1);
  ASSERT_EQ(mixed.ways.size(), 3u);
  EXPECT_EQ(mixed.ways[0][0].request.flavors.bits(), 6u);
  EXPECT_EQ(mixed.ways[1][0].request.flavors, c);
  EXPECT_EQ(mixed.ways[2][0].request.flavors, FlavorSet::of(FlavorId(1)));
}

TEST(ScenarioParse, RoundsAmountsUp) {
  const Result<Scenario> scenario =
      parse_scenario("s.txt", "submit w gpus=500m gpu_memory=1M cpu=1.5 memory=1Ki run=1h30m\r\n\r\n  # the end");
  ASSERT_TRUE(scenario) << scenario.error().to_string();
  const auto& submitted = std::get<WorkloadSubmitted>(std::get<Event>(scenario->statements.back().action));
  const PodRequest& request = submitted.shape.ways[0][0].request;
  EXPECT_EQ(request.gpus, 1);
  EXPECT_EQ(request.gpu_milli, 500);
  EXPECT_EQ(request.gpu_memory_mib, 1);
  EXPECT_EQ(request.cpu_milli, 1500);
  EXPECT_EQ(request.memory_bytes, 1024);
  EXPECT_EQ(submitted.declared_run.ms, 5'400'000);
  EXPECT_EQ(scenario->lines, 1);
}

}  // namespace berth::scenario_parse_test
