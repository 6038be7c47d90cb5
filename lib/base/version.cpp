// Nothing here depends on the time or the folder of the build: the same sources give the same bytes.
#include "lib/base/version.hpp"

#include <climits>  // defines the macros of the C library

#include "lib/base/text/text.hpp"

#ifndef WHEELYARD_COMMIT
#define WHEELYARD_COMMIT "unknown"
#endif
#define WHEELYARD_QUOTED_2(text) #text
#define WHEELYARD_QUOTED(text) WHEELYARD_QUOTED_2(text)

namespace wheelyard::base {
namespace {

#if defined(__clang__)
constexpr std::string_view compiler = "Clang " __clang_version__;
#else
constexpr std::string_view compiler = "GCC " __VERSION__;
#endif
#if defined(__x86_64__)
constexpr std::string_view machine = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view machine = "aarch64";
#else
constexpr std::string_view machine = "another machine";
#endif
#if defined(__GLIBC__)
constexpr std::string_view c_library =
    "glibc " WHEELYARD_QUOTED(__GLIBC__) "." WHEELYARD_QUOTED(__GLIBC_MINOR__);
#else
constexpr std::string_view c_library = "musl";
#endif

}  // namespace

std::string_view version_commit() {
    return WHEELYARD_COMMIT;
}

std::string version_text(std::string_view program, std::string_view libraries) {
    std::string text =
        std::string(program) + " " WHEELYARD_VERSION "\ncommit " + std::string(version_commit());
    text += "\ncompiled by " + std::string(trim(compiler)) + " for " + std::string(machine) + ", " +
            std::string(c_library);
    if (!libraries.empty()) text += "\nwith " + std::string(libraries);
    return text;
}

}  // namespace wheelyard::base
