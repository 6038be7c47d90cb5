// Golden files: rendered text compared with tests/golden/NAME. WHEELYARD_UPDATE_GOLDEN=1 writes them instead
// (then read the diff).
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::test_support {

// Empty when tests/golden/`name` holds exactly `actual`; else what differs first, for the test's message.
[[nodiscard]] std::string golden_difference(std::string_view name, std::string_view actual);

}  // namespace wheelyard::test_support
