// The entries of Berth's own formats, from fields that a table row or a JSON object brought.
#pragma once

#include <span>

#include "sim/field_parser.h"
#include "sim/trace.h"

namespace berth {

// `fields` are in the order of the columns of kOwnNodes or kOwnJobs; those that are absent are in line 0.
TraceNode read_own_node(std::span<const CsvField> fields, FieldParser& parser);
TraceJob read_own_job(std::span<const CsvField> fields, FieldParser& parser);

}  // namespace berth
