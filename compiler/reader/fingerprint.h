// The fingerprint: equal for modules that every estimator that looks at operations must treat
// alike.
//
// It is the BLAKE3 hash of the finished table: distinct operations with all they carry, rows with
// their multiplicity, depth and data flow, and the entry's argument and result types. So it does
// not see SSA names, locations, comments, the spelling (pretty, generic), names of private
// functions, values of constants (trip counts made of them are in the multiplicities) and
// attributes without influence on cost, such as shardings.
#pragma once

#include "engine/module.h"

namespace nocturne::compiler {

// Of a module whose operations are in order of first appearance and whose values are numbered in
// that order too.
Digest fingerprintOf(const Module& module);

} // namespace nocturne::compiler
