// What can be wrong with one class's declaration, apart from its bases.
#pragma once

#include "estimators/declaration.h"

namespace nocturne {

// "estimator class \"name\": what"
[[noreturn]] void throwDeclarationError(const ClassDeclaration& declaration,
                                        const std::string& what);

} // namespace nocturne
