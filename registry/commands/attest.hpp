// `wheelyard-registry attest init`, `rotate`, `revoke`, `new-history` and `verify`: keys and the root document, and what a
// reader of a wheel does with them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct AttestInitArguments {
    std::filesystem::path folder;
    std::vector<std::filesystem::path> root_keys;  // new files; empty: root.key in the folder
    std::string lifetime = "104w";
};
void add_attest_init_options(CLI::App& command, AttestInitArguments& arguments);
// Makes the keys and the first root document. Errors: "attest.exists".
[[nodiscard]] base::Status run_attest_init(const AttestInitArguments& arguments, const base::Clock& clock);

// What changes the root document.
struct AttestRootArguments {
    std::filesystem::path root;
    std::filesystem::path root_key;
    std::string lifetime = "104w";
};

struct AttestRotateArguments {
    AttestRootArguments root;
    std::filesystem::path new_key;  // a new file; empty: only the expiry is later
};
void add_attest_rotate_options(CLI::App& command, AttestRotateArguments& arguments);
// Replaces the root document by its next version. Errors: "attest.root_key", "attest.exists".
[[nodiscard]] base::Status run_attest_rotate(const AttestRotateArguments& arguments,
                                             const base::Clock& clock);

struct AttestRevokeArguments {
    AttestRootArguments root;
    std::string key_id;
    std::string from;  // a time, or "always"
};
void add_attest_revoke_options(CLI::App& command, AttestRevokeArguments& arguments);
// Replaces the root document by its next version. Errors: "attest.root_key", "attest.revoke".
[[nodiscard]] base::Status run_attest_revoke(const AttestRevokeArguments& arguments,
                                             const base::Clock& clock);

struct AttestHistoryArguments {
    AttestRootArguments root;
};
void add_attest_history_options(CLI::App& command, AttestHistoryArguments& arguments);
// Replaces the root document by its next version, which names the next history. Error: "attest.root_key".
[[nodiscard]] base::Status run_attest_history(const AttestHistoryArguments& arguments,
                                              const base::Clock& clock);

struct AttestVerifyArguments {
    std::filesystem::path wheel;
    std::filesystem::path key;
    std::filesystem::path root;
    std::filesystem::path provenance;      // empty: WHEEL.prov, or of the index
    std::string index;                     // URL
    std::vector<std::string> uploaded_to;  // names of indexes; empty: any
    bool offline = false;
    bool json = false;
};
void add_attest_verify_options(CLI::App& command, AttestVerifyArguments& arguments);
// Errors: those of attest::verify_wheel(), "attest.no_trust", "attest.no_provenance".
[[nodiscard]] base::Status run_attest_verify(const AttestVerifyArguments& arguments,
                                             const base::Clock& clock);

}  // namespace wheelyard::registry
