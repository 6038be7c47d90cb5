// The version of a compiler. It is part of a compile's key, so that another compiler's measurements do not
// apply.
#pragma once

#include <map>
#include <string>

namespace wheelyard::governor {

class CompilerVersions {
  public:
    // The name and the first line of `compiler --version`, or only the name if that fails. Runs the compiler
    // once per file and modification time.
    [[nodiscard]] const std::string& of(const std::string& compiler);

  private:
    std::map<std::string, std::string> asked_;  // by path and modification time
};

}  // namespace wheelyard::governor
