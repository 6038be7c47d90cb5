// ccache in front of a compiler. What it holds needs no compile, so it is asked before the broker: a hit
// waits for nothing and teaches nothing. Where it would begin to compile, it is ended, and started again when
// the broker says so.
//
// ccache says both by the program it puts before every compiler (CCACHE_PREFIX, CCACHE_PREFIX_CPP): a link to
// this program in the build's own folder, beside the socket.
//
//   asked      launcher ─ ccache ─ link: "a miss"; it ends ccache, which then counts nothing and keeps
//   nothing governed   launcher ─ ccache ─ link: notes that a compiler runs, and becomes it
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/fd.hpp"

namespace wheelyard::governor {

inline constexpr const char* cache_miss_link = "wheelyard-governor-cache-miss";

// The cache of one compile.
class CompilerCache {
  public:
    // None, unless `program` (of resolved_program) is a ccache that heeds a prefix. The build's first
    // launcher that meets one tries that, and leaves the answer beside the socket; a second ccache is not
    // asked.
    [[nodiscard]] static std::optional<CompilerCache> find(const std::string& program,
                                                           const std::string& socket_path);
    // The environment of the processes to come: a cache that ends at a miss, or one that compiles.
    void only_ask();
    void let_compile();
    // What its user has it run before the compiler, as distcc; "" for nothing.
    [[nodiscard]] std::string prefix_program() const { return first_word(prefix_); }
    // Whether a compiler ran since let_compile().
    [[nodiscard]] bool has_compiled() const;

    // The same of `program`, a cache that cannot be asked, as far as the environment tells.
    [[nodiscard]] static std::string prefix_program_of(const std::string& program);

  private:
    [[nodiscard]] static std::string first_word(const std::string& text) {
        return text.substr(0, text.find(' '));
    }
    std::string link_, prefix_, prefix_of_cpp_;  // theirs, as they were
    base::Fd noted_;                             // a byte for every compiler that ran
};

// What the link does: `arguments` is the compiler's command line.
[[noreturn]] void run_cache_miss(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
