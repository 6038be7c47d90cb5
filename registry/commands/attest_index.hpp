// `wheelyard-registry attest verify-index`: whether a tree or a server has the pages of an index that the registry signed.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct AttestIndexArguments {
    std::string index;  // URL or folder, above simple/
    std::filesystem::path root;
    std::string name;            // empty: the last part of `index`
    std::filesystem::path seen;  // the newest state that was verified; empty: not remembered
    bool json = false;
};
void add_attest_index_options(CLI::App& command, AttestIndexArguments& arguments);
// Errors: those of attest::verify_index(), "attest.changed_pages", "attest.unlisted_pages".
[[nodiscard]] base::Status run_attest_index(const AttestIndexArguments& arguments, base::Clock& clock);

}  // namespace wheelyard::registry
