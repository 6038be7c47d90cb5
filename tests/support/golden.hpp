// Golden files: rendered text compared with tests/golden/NAME. With WHEELYARD_UPDATE_GOLDEN=1 the tests write
// the files; review the diff afterwards.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::test_support {

// Empty if tests/golden/`name` equals `actual`; otherwise the first difference, for the test's message.
[[nodiscard]] std::string golden_difference(std::string_view name, std::string_view actual);

}  // namespace wheelyard::test_support
