// The version of a compiler. It is part of a compile's key, so that another compiler's measurements do not
// apply.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace wheelyard::governor {

inline constexpr std::int64_t version_timeout_ms = 5'000;  // `cc --version` and `ccache --show-config`

class CompilerVersions {
  public:
    // The name and the first line of `compiler --version`, or only the name if that fails. Runs the compiler
    // once per file and modification time.
    [[nodiscard]] const std::string& of(const std::string& compiler);

  private:
    std::map<std::string, std::string> asked_;  // by path and modification time
};

}  // namespace wheelyard::governor
