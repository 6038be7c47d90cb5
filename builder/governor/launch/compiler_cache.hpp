// Looks a compile up in ccache before the broker is asked. A hit needs no compiler, so it waits for nothing
// and does not count as a measurement. On a miss, ccache is ended and started again when the broker permits.
//
// ccache reports a miss through the program that it runs before every compiler (CCACHE_PREFIX,
// CCACHE_PREFIX_CPP). That program is a link to this binary in the build's folder, next to the socket:
//
//   lookup    launcher → ccache → link → ends ccache (a miss); ccache then stores and counts nothing
//   compile   launcher → ccache → link → records that a compiler runs, then becomes the compiler
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/files/fd.hpp"

namespace wheelyard::governor {

inline constexpr const char* cache_miss_link = "wheelyard-governor-cache-miss";

// ccache for one compile. Sets variables in this process's environment, which the next child inherits.
class CompilerCache {
  public:
    // nullopt unless `program` (from resolved_program) is a ccache that honours the prefix. The build's first
    // launcher checks that and stores the answer next to the socket; only one ccache per build is supported.
    [[nodiscard]] static std::optional<CompilerCache> find(const std::string& program,
                                                           const std::string& socket_path);
    // The next ccache process ends at a miss.
    void prepare_lookup();
    // The next ccache process compiles at a miss. Without the link the compile is not measured.
    void prepare_compile();
    // The program that the user has ccache run before the compiler, such as distcc; "" for none.
    [[nodiscard]] std::string prefix_program() const { return first_word(prefix_); }
    // Says whether a compiler ran since prepare_compile().
    [[nodiscard]] bool has_compiled() const;

    // The same for a cache that cannot be looked up; reads only the environment.
    [[nodiscard]] static std::string prefix_program_of(const std::string& program);

  private:
    [[nodiscard]] static std::string first_word(const std::string& text) {
        return text.substr(0, text.find(' '));
    }
    std::string link_, prefix_, prefix_of_cpp_;  // the user's prefixes
    base::Fd noted_;                             // gets a byte for every compiler that runs
};

// The link's main program: `arguments` is the compiler's command line.
[[noreturn]] void run_cache_miss(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
