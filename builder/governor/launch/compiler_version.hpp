// What a compiler says it is, asked once a build: part of a compile's key, so that another compiler's peaks
// are not taken for this one's.
#pragma once

#include <map>
#include <string>

namespace wheelyard::governor {

class CompilerVersions {
  public:
    // Its name and the first line of `compiler --version`; only the name where it does not say. Asked once
    // for each file on disk.
    [[nodiscard]] const std::string& of(const std::string& compiler);

  private:
    std::map<std::string, std::string> asked_;  // by path and time of change
};

}  // namespace wheelyard::governor
