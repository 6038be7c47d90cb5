// A compile that the broker reads by itself, from words that its launcher passes on unread: no cache or
// distributor stands before the compiler, no response file, and where it is called plays no part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/governor/admission/predict.hpp"

namespace wheelyard::governor {

struct PlainCompile {
    Facts facts;          // `compiler` is left empty, as parse_compile_command leaves it
    std::string program;  // the compiler's file, an absolute path, and its argv[0]
    std::string path;     // PATH below it
};

// `words` are the compiler's, or of a call by a compiler's name (a link in `shims`); `path` is the PATH of
// that call, `root` as for parse_compile_command. Nothing where the launcher has to read it itself.
[[nodiscard]] std::optional<PlainCompile> read_plain_compile(const std::vector<std::string>& words,
                                                             const std::string& path,
                                                             const std::string& shims,
                                                             const std::string& root);

}  // namespace wheelyard::governor
