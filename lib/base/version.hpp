// What `--version` of every program prints.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// The commit of the checkout when the build was configured; "unknown" where there was no checkout.
[[nodiscard]] std::string_view version_commit();

//     wheelyard-builder 0.1.0
//     commit 7017c1b2a5f0
//     compiled by GCC 12.2.0 for x86_64, glibc 2.36
//     with libcurl 7.88.1, libarchive 3.6.2
// `libraries`: those that the program was compiled with; empty: none.
[[nodiscard]] std::string version_text(std::string_view program, std::string_view libraries = {});

}  // namespace wheelyard::base
