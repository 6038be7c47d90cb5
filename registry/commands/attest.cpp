// `wheelyard-registry attest init`, `rotate`, `revoke` and `verify`: keys and the root document, and what a
// reader of an export for an auditor does with them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/attest/envelope.hpp"
#include "lib/attest/limits.hpp"
#include "lib/attest/verify.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "registry/access/tokens.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;
using io::Json;

struct AttestInitArguments {
    std::filesystem::path folder;
    std::vector<std::filesystem::path> root_keys;  // new files; empty: root.key in the folder
    std::string lifetime = "104w";
};

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

struct AttestRevokeArguments {
    AttestRootArguments root;
    std::string key_id;
    std::string from;  // a time, or "always"
};

struct AttestVerifyArguments {
    std::filesystem::path file;  // of an export
    std::filesystem::path key;
    std::filesystem::path root;
    bool json = false;
};

base::Result<base::UnixMicros> end_of(const std::string& lifetime, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const std::int64_t lifetime_ms, parse_lifetime_ms(lifetime));
    return clock.now() + lifetime_ms * 1000;
}

void name_key(attest::Root& root, const attest::PublicKey& key, std::vector<std::string>& list) {
    root.keys.emplace(key.id(), key);
    list.push_back(key.id());
}

// "a/provenance.key" → "a/provenance.pub"
fs::path public_file(fs::path file) {
    return file.replace_extension(".pub");
}

base::Result<attest::SigningKey> make_key(const fs::path& file,
                                          const std::optional<base::Owner>& owner = {}) {
    attest::SigningKey key = attest::SigningKey::generate();
    WHEELYARD_TRY(key.write(file, owner));
    WHEELYARD_TRY(base::replace_file(public_file(file), key.public_key().pem()));
    base::print(stdout, "%s  key %s (mode 0600; its public half is %s)\n", file.c_str(),
                key.public_key().id().c_str(), public_file(file).c_str());
    return key;
}

// The root document at hand, and the key that signs the next one.
struct Roots {
    attest::Root old;
    attest::SigningKey signer;
    attest::Root next;
};

base::Result<Roots> open_roots(const AttestRootArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const std::string text, base::read_file(arguments.root, attest::max_signed_bytes));
    WHEELYARD_ASSIGN(attest::Root old, attest::read_root(text));
    WHEELYARD_ASSIGN(attest::SigningKey signer, attest::SigningKey::read(arguments.root_key));
    const std::string key_id = signer.public_key().id();
    if (!old.may_sign_roots(key_id)) {
        std::vector<std::string> able;
        for (const std::string& id : old.roots)
            if (old.may_sign_roots(id)) able.push_back(id);
        return base::fail("attest.root_key",
                          old.revoked_from(key_id) ? "The root document revokes this key"
                                                   : "The root document does not name this key as a root key",
                          arguments.root_key.string() + ": " + key_id,
                          able.empty() ? "no root key is left: make new keys with `attest init`"
                                       : "give the file of one of: " + base::join(able, ", "));
    }
    attest::Root next = old;
    ++next.version;
    WHEELYARD_ASSIGN(next.expires, end_of(arguments.lifetime, clock));
    return Roots{std::move(old), std::move(signer), std::move(next)};
}

// What a reader would refuse does not replace the document.
base::Status write_next(const AttestRootArguments& arguments, const Roots& roots) {
    const std::string text = attest::sign_root(roots.next, {&roots.signer});
    WHEELYARD_TRY(attest::read_next_root(text, roots.old));
    WHEELYARD_TRY(base::replace_file(arguments.root, text));
    base::print(stdout, "%s  version %lld, expires %s: give it to your users\n", arguments.root.c_str(),
                static_cast<long long>(roots.next.version), base::render_rfc3339(roots.next.expires).c_str());
    return {};
}

void add_root_options(CLI::App& command, AttestRootArguments& arguments) {
    command.add_option("root", arguments.root, "The root document, which is replaced")->required();
    command.add_option("--root-key", arguments.root_key, "A root key that it names")->required();
    command.add_option("--lifetime", arguments.lifetime, "Of the new root document: 104w, 365d")
        ->capture_default_str();
}

// "always": nothing that the key signed counts.
base::Result<base::UnixMicros> parse_from(const std::string& text) {
    if (text == "always") return 0;
    auto from = base::parse_rfc3339(text);
    if (from) return from;
    return base::fail_malformed("attest.revoke", "--from is no time", text,
                                "give a time like 2026-11-26T12:00:00Z, or always");
}

void add_attest_init_options(CLI::App& command, AttestInitArguments& arguments) {
    command.add_option("folder", arguments.folder, "Where the files are written; created if it is missing")
        ->required();
    command.add_option("--root-key", arguments.root_keys,
                       "Write the root key to this new file, on a medium that stays offline; repeatable for "
                       "a spare one (default: root.key in the folder)");
    command.add_option("--lifetime", arguments.lifetime, "Of the root document: 104w, 365d")
        ->capture_default_str();
}

// Makes the keys and the first root document. Errors: "attest.exists".
base::Status run_attest_init(const AttestInitArguments& arguments, const base::Clock& clock) {
    attest::Root root;
    WHEELYARD_ASSIGN(root.expires, end_of(arguments.lifetime, clock));
    WHEELYARD_TRY(base::make_directories(arguments.folder));
    const fs::path root_file = arguments.folder / "root.json";
    std::error_code ignored;
    if (fs::exists(root_file, ignored))
        return base::fail("attest.exists", "There is a root document already", root_file.string(),
                          "name another folder, or make the next key with `attest rotate`");
    std::vector<attest::SigningKey> keys;
    auto files = arguments.root_keys;
    if (files.empty()) files.push_back(arguments.folder / "root.key");
    for (const fs::path& file : files) {
        WHEELYARD_ASSIGN(attest::SigningKey key, make_key(file));
        name_key(root, key.public_key(), root.roots);
        keys.push_back(std::move(key));
    }
    const fs::path key_file = arguments.folder / "provenance.key";
    WHEELYARD_ASSIGN(const attest::SigningKey key, make_key(key_file, other_owner_of_usual_store()));
    name_key(root, key.public_key(), root.provenance);
    std::vector<const attest::SigningKey*> signers;
    for (const attest::SigningKey& one : keys)
        signers.push_back(&one);
    WHEELYARD_TRY(base::replace_file(root_file, attest::sign_root(root, signers)));
    base::print(stdout,
                "%s  version 1, expires %s: give it to your users\n\n[attest]\nkey = \"%s\"\n\n"
                "Move each root key to a medium that stays offline.\n",
                root_file.c_str(), base::render_rfc3339(root.expires).c_str(), key_file.c_str());
    return {};
}

void add_attest_rotate_options(CLI::App& command, AttestRotateArguments& arguments) {
    add_root_options(command, arguments.root);
    command.add_option("--new-key", arguments.new_key, "Make a new key for statements, in this new file");
}

// Replaces the root document by its next version. Errors: "attest.root_key", "attest.exists".
base::Status run_attest_rotate(const AttestRotateArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(Roots roots, open_roots(arguments.root, clock));
    if (arguments.new_key.empty()) return write_next(arguments.root, roots);
    WHEELYARD_ASSIGN(const attest::SigningKey key, make_key(arguments.new_key, other_owner_of_usual_store()));
    name_key(roots.next, key.public_key(), roots.next.provenance);
    WHEELYARD_TRY(write_next(arguments.root, roots));
    base::print(stdout, "\n[attest]\nkey = \"%s\"\n\nRestart `serve` to sign with it.\n",
                arguments.new_key.c_str());
    return {};
}

void add_attest_revoke_options(CLI::App& command, AttestRevokeArguments& arguments) {
    add_root_options(command, arguments.root);
    command.add_option("--key-id", arguments.key_id, "ID of the key that counts no more")->required();
    command
        .add_option("--from", arguments.from,
                    "What says that it was signed at this time or later is refused: 2026-11-26T12:00:00Z; "
                    "`always` for a stolen key, since a thief writes any time")
        ->required();
}

// Replaces the root document by its next version. Errors: "attest.root_key", "attest.revoke".
base::Status run_attest_revoke(const AttestRevokeArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const base::UnixMicros from, parse_from(arguments.from));
    WHEELYARD_ASSIGN(Roots roots, open_roots(arguments.root, clock));
    if (roots.old.find(arguments.key_id) == nullptr)
        return base::fail("attest.revoke", "The root document has no such key", arguments.key_id,
                          "give the ID that `attest init` or `attest rotate` printed");
    if (arguments.key_id == roots.signer.public_key().id())
        return base::fail("attest.revoke", "A root key cannot sign its own revocation", arguments.key_id,
                          "give another root key as --root-key");
    roots.next.revoked.push_back({arguments.key_id, from});
    return write_next(arguments.root, roots);
}

void add_attest_verify_options(CLI::App& command, AttestVerifyArguments& arguments) {
    command.add_option("file", arguments.file, "A file of `audit-export`, with its statement beside it")
        ->required();
    command.add_option("--root", arguments.root, "The registry's root document, which you trust");
    command.add_option("--key", arguments.key,
                       "The registry's public key (PEM) instead: no revocation is known");
    command.add_flag("--json", arguments.json, "One JSON document");
}

// Errors: those of attest::verify_export(), "attest.no_trust", "attest.no_statement".
base::Status run_attest_verify(const AttestVerifyArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const attest::Trust trust,
                     attest::read_trust(arguments.root, arguments.key, clock.now(), {}));
    if (!trust.key && !trust.root)
        return base::fail("attest.no_trust", "Nobody is trusted to sign", {},
                          "give --root FILE or --key FILE, which the registry's operator gave you");
    WHEELYARD_ASSIGN(const std::string sha256, base::sha256_hex_of_file(arguments.file));
    fs::path beside = arguments.file;
    beside += attest::export_statement_suffix;
    std::error_code ignored;
    if (!fs::exists(beside, ignored))
        return base::fail("attest.no_statement", "The statement about the file is not beside it",
                          beside.string(),
                          "of a wheel: `avail_wheels verify`; a registry without a key signs none; else ask "
                          "for the whole folder of the export");
    WHEELYARD_ASSIGN(const std::string text, base::read_file(beside, attest::max_signed_bytes));
    WHEELYARD_ASSIGN(const attest::VerifiedExport found,
                     attest::verify_export(arguments.file.filename().string(), sha256, text, trust));
    const Json& said = found.statement.predicate;
    if (arguments.json) {
        base::print(stdout, "%s\n",
                    Json::object({{"format", "wheelyard.verified_export/1"},
                                  {"filename", found.statement.filename},
                                  {"sha256", found.statement.sha256},
                                  {"keyid", found.key_id},
                                  {"said", said},
                                  {"warnings", Json::array_of(found.warnings)}})
                        .render()
                        .c_str());
        return {};
    }
    print_part("verified", found.statement.filename);
    print_part("sha256", found.statement.sha256);
    print_part("signed by",
               attest::text_in(said, {"registry", "id"}) + " at " + base::render_rfc3339(found.time));
    print_part("key", found.key_id);
    print_part("records", std::to_string(said.int_or("records", 0)) + ", up to event " +
                              std::to_string(said.int_or("serial", 0)));
    if (const std::string head = attest::text_in(said, {"head"}); !head.empty()) print_part("head", head);
    for (const std::string& warning : found.warnings)
        print_part("warning", warning);
    return {};
}

}  // namespace

std::vector<Command> attest_commands() {
    return {
        {"attest", "init", "Make the root key, the key that signs statements, and the first root document",
         "keys --root-key /media/usb/root.key", setup(add_attest_init_options, run_attest_init)},
        {"attest", "rotate", "Write the next root document: a new key for statements, a later expiry",
         "keys/root.json --root-key /media/usb/root.key --new-key keys/provenance-2.key",
         setup(add_attest_rotate_options, run_attest_rotate)},
        {"attest", "revoke", "Write the next root document: a key counts no more, from a time on",
         "keys/root.json --root-key /media/usb/root.key --key-id 9f86d081… --from always",
         setup(add_attest_revoke_options, run_attest_revoke)},
    };
}

std::vector<Command> attest_verify_commands() {
    return {
        {"attest", "verify", "Verify what a registry signed about a file of an export",
         "audit-2026/audit.jsonl --root root.json", setup(add_attest_verify_options, run_attest_verify),
         "Of a wheel: avail_wheels verify.\n"
         "A warning (an expired root) leaves the status 0.\n"
         "Exit status: 0 everything is right, 1 something is not (see standard error), 2 wrong usage.\n"},
    };
}

}  // namespace wheelyard::registry
