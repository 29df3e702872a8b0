// The description of all API types in a small language, in pieces of a readable size. Only schema.cc reads it.
//
//   package io.k8s.api.core.v1;          of the types that follow
//   kind Pod "what it is" { ... }        an object with apiVersion and kind
//   type PodSpec { ... }                 a part of one
//     2 containers: [Container]! merge=name keys=name;
//
// A field is its protobuf number (0: it has none), its name in JSON, its shape and its words. Shapes: text int bool
// quantity time microtime intortext bytes any, or the name of a type; [x] is a list, <x> a map from texts. After it:
//   !            required (written by Kubernetes even when it is zero)
//   ?            pointer (absent and zero differ)
//   merge=KEY    strategic merge patches pair the items by KEY; "-" for a set of scalars
//   keys=A,B     server-side apply owns items one by one, named by these keys
//   set          server-side apply owns the scalars one by one
//   atomic       server-side apply owns the map or object as a whole
//   retain       a strategic patch may name the keys to retain
//   inlined      in JSON its fields are the parent's own; an inlined list is all its type has
//   oneof=A|B    the texts allowed
//   "..."        a description; several that follow each other are one
#pragma once

namespace berth {

extern const char* const kMetaSchema;
extern const char* const kPodSchema;
extern const char* const kContainerSchema;
extern const char* const kVolumeSchema;
extern const char* const kPodStatusSchema;
extern const char* const kCoreSchema;
extern const char* const kNodeSchema;
extern const char* const kBatchSchema;
extern const char* const kPolicySchema;
extern const char* const kAccessSchema;
extern const char* const kBerthSchema;
extern const char* const kKueueSchema;
extern const char* const kPodGroupSchema;
extern const char* const kJobSetSchema;
extern const char* const kVolcanoJobSchema;
extern const char* const kLeaderWorkerSetSchema;
extern const char* const kKubeflowSchema;
extern const char* const kRaySchema;

}  // namespace berth
