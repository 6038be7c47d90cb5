// `wheelyard-registry check FILE|DIR…`: checks wheels offline with the same rules as an upload.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/inspect/truth/facts.hpp"

namespace wheelyard::registry {

struct CheckArguments {
    std::vector<std::filesystem::path> paths = {};  // wheels, or folders of *.whl (not recursive)
    bool json = false;                              // --json: one document "wheelyard.check/1" on stdout
    bool facts = false;  // --facts: also print each wheel's facts, with --json also those of each ELF file
    std::string policy = {};   // --policy: a preset's name, or a file; empty: the default rules
    std::string explain = {};  // --explain CODE: one rule, or "all"; no paths needed
    std::filesystem::path with =
        {};  // --with TORCH: a wheel of torch, or the folder of an installed one; judges whether each wheel can be loaded with it
    bool markdown = false;  // --markdown: with --explain all, print docs/reference/rules.md
    unsigned threads = 0;   // --threads N: 0 means one per core
    bool quiet = false;     // --quiet: report only wheels that are not accepted
};

// Returns the exit status: 0 if every wheel is accepted and, with --with, fits; 1 if one is refused,
// quarantined or not known to fit; 2 if something cannot be read or the usage is wrong.
[[nodiscard]] int run_check(const CheckArguments& arguments);

[[nodiscard]] std::string render_facts_text(const inspect::Facts& facts);

}  // namespace wheelyard::registry
