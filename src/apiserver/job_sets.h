// JobSets, whose parts are templates of Jobs: what is filled in where nothing is said, and what each template would make.
#pragma once

#include "apiserver/admission.h"
#include "manifest/value.h"

namespace berth {

void fill_job_set(AdmissionRequest& request);

// The last Job of that part of the set, with the longest name, as it would be stored: with a Job's own defaults.
Value last_job_of(const Value& set, const Value& replicated_job);

}  // namespace berth
