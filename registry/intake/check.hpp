// `wheelyard-registry check FILE|DIR…`: the offline check of wheels by the very rules that an upload meets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace wheelyard::registry {

struct CheckArguments {
    std::vector<std::filesystem::path> paths = {};  // wheels, or folders: their *.whl, not deeper
    bool json = false;                              // --json: one document "wheelyard.check/1" on stdout
    bool facts = false;  // --facts: the report shows what each wheel proves, --json each ELF file's part too
    std::string policy = {};   // --policy: a preset's name, or a file; empty: the rules as they stand
    std::string explain = {};  // --explain CODE: one rule, or "all"; no paths needed
    bool markdown = false;  // --markdown, with --explain all: docs/reference/rules.md as it must be committed
    unsigned threads = 0;   // --threads N: 0 means one per core
    bool quiet = false;     // --quiet: only wheels that are not accepted
};

// The exit status: 0 every wheel accepted, 1 one or more refused or quarantined, 2 something could not be
// read, or bad usage.
[[nodiscard]] int run_check(const CheckArguments& arguments);

}  // namespace wheelyard::registry
