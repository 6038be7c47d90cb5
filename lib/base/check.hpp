// Internal invariants. A broken invariant is a bug and throws std::logic_error, which main, the request
// handler and the job loop catch.
#pragma once

#include <string_view>

namespace wheelyard::base {

[[noreturn]] void throw_broken_invariant(std::string_view expression, std::string_view file, int line);

}  // namespace wheelyard::base

#define WHEELYARD_CHECK(expression) \
    ((expression) ? void(0) : ::wheelyard::base::throw_broken_invariant(#expression, __FILE__, __LINE__))
