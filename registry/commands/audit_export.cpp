// `wheelyard-registry audit-export FOLDER`: the audit log and the licences of all files, signed, for an
// auditor.
//
//     audit.jsonl     an event a line, all of them, in their order; each has the SHA-256 of the line before it
//     licenses.jsonl  a published file a line
//     *.statement     what the registry signs about each (lib/attest/envelope.hpp)
//
// docs/reference/audit-export.md has the members.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/attest/envelope.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/store.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/metadata.hpp"
#include "registry/api/contains.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {

namespace {

struct AuditExportArguments {
    std::filesystem::path folder;
    std::filesystem::path config;
    bool json = false;
};

namespace fs = std::filesystem;
using io::Json;

constexpr int exit_unreadable = 3;              // the export is there, without some licences
constexpr std::size_t write_bytes = 1UL << 20;  // at once
constexpr std::string_view no_line_before =
    "0000000000000000000000000000000000000000000000000000000000000000";

// A new file of lines, which goes to the disk in pieces.
class LineFile {
  public:
    [[nodiscard]] static base::Result<LineFile> create(const fs::path& path) {
        WHEELYARD_ASSIGN(base::Fd fd, base::create_new(path, base::private_file_mode));
        return LineFile(path, std::move(fd));
    }
    [[nodiscard]] base::Status add(std::string_view line) {
        ++records_;
        digest_.update(line);
        waiting_ += line;
        return waiting_.size() < write_bytes ? base::Status() : flush();
    }
    // Durable when it returns.
    [[nodiscard]] base::Result<attest::ExportedFile> finish() {
        WHEELYARD_TRY(flush());
        WHEELYARD_TRY(base::fsync_file(fd_.get(), path_.native()));
        WHEELYARD_TRY(base::close_file(std::move(fd_), path_.native()));
        return attest::ExportedFile{path_.filename().string(), base::encode_hex(digest_.finish()), records_};
    }

  private:
    LineFile(fs::path path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
    [[nodiscard]] base::Status flush() {
        WHEELYARD_TRY(base::write_all(fd_.get(), waiting_));
        waiting_.clear();
        return {};
    }

    fs::path path_;
    base::Fd fd_;
    base::Digest digest_{base::DigestKind::sha256};
    std::string waiting_;
    std::uint64_t records_ = 0;
};

// Facts are most of an event of a file, and of no change.
Json without_facts(const Json& details) {
    Json kept = Json::object();
    for (const auto& [name, value] : *details.as_object()) {
        if (name != "facts") kept.set(name, value);
    }
    return kept;
}

base::Result<attest::ExportedFile> export_audit(const catalog::Catalog& catalog, catalog::Serial until,
                                                const fs::path& path) {
    WHEELYARD_ASSIGN(LineFile lines, LineFile::create(path));
    const base::ActingAs owner(base::FileUser::owner);
    std::string head(no_line_before);
    WHEELYARD_TRY(catalog.for_each_event(0, until, [&](const catalog::Event& event) -> base::Status {
        Json record = catalog::event_to_json(event);
        WHEELYARD_ASSIGN(const Json details, io::parse_json(event.details_json));
        if (details.as_object() != nullptr) record.set("details", without_facts(details));
        record.set("previous", head);
        const std::string line = record.render() + "\n";
        head = base::sha256_hex(line);
        return lines.add(line);
    }));
    WHEELYARD_ASSIGN(attest::ExportedFile file, lines.finish());
    file.head = std::move(head);
    return file;
}

base::Result<wheel::StatedLicense> read_license(const catalog::FileRow& row, const blobs::BlobStore& blobs) {
    if (row.metadata_sha256.empty()) return wheel::StatedLicense{};
    WHEELYARD_ASSIGN(const std::string text,
                     blobs.read_bytes(row.metadata_sha256, wheel::max_metadata_bytes));
    if (base::sha256_hex(text) != row.metadata_sha256)
        return base::fail("metadata.damaged", "The stored metadata has changed on the disk",
                          row.metadata_sha256);
    wheel::Faults tolerated;  // at its upload
    WHEELYARD_ASSIGN(const wheel::HeaderFile headers, wheel::parse_headers(text, &tolerated));
    return wheel::stated_license(headers);
}

// It says nothing about one blob: the rows of all files would be without licence.
bool is_of_whole_store(const base::Error& error) {
    return error.kind == base::ErrorKind::unavailable || error.os_error == EHOSTUNREACH;
}

// Files whose metadata cannot be read.
struct Unreadable {
    std::uint64_t count = 0;
    std::string first;
};

base::Result<attest::ExportedFile> export_licenses(const RegistryConfig& config,
                                                   const blobs::BlobStore& blobs, const fs::path& path,
                                                   Unreadable& unreadable) {
    WHEELYARD_ASSIGN(LineFile lines, LineFile::create(path));
    const base::ActingAs owner(base::FileUser::owner);
    WHEELYARD_TRY(for_each_file(config, {}, [&](const catalog::FileRow& row) -> base::Status {
        const auto license = read_license(row, blobs);
        if (!license) {
            if (is_of_whole_store(license.error())) return base::fail(license.error());
            if (++unreadable.count == 1)
                unreadable.first = row.index + "/" + row.filename + ": " + license.error().text();
        }
        const auto facts = io::parse_json(row.facts_json);
        const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
        Json record = found_file_json(row);
        record.set("license", license ? text_or_null(license->text) : Json());
        record.set("license_from", license ? text_or_null(license->from) : Json("unreadable"));
        if (!license) {
            const std::string& why = license.error().code;
            record.set("license_error", why);
        }
        record.set("components", facts ? Json(facts->items("sbom")) : Json::array());
        record.set("components_left_out", facts ? facts->int_or("sbom_left_out", 0) : 0);
        return lines.add(record.render() + "\n");
    }));
    return lines.finish();
}

// "a/" and "a" are one folder.
fs::path without_slash(const fs::path& folder) {
    const fs::path path = fs::absolute(folder).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

void print_export(const AuditExportArguments& arguments, const std::vector<attest::ExportedFile>& files,
                  const attest::Export& of, const std::optional<attest::SigningKey>& key,
                  const Unreadable& unreadable) {
    if (arguments.json) {
        Json list = Json::array();
        for (const attest::ExportedFile& file : files)
            list.push(Json::object({{"filename", file.filename},
                                    {"sha256", file.sha256},
                                    {"records", file.records},
                                    {"head", file.head.empty() ? Json() : Json(file.head)}}));
        base::print(stdout, "%s\n",
                    Json::object({{"format", "wheelyard.audit_export/1"},
                                  {"time", base::render_rfc3339(of.time)},
                                  {"serial", of.serial},
                                  {"files", std::move(list)},
                                  {"unreadable", unreadable.count},
                                  {"keyid", key ? Json(key->public_key().id()) : Json()}})
                        .render()
                        .c_str());
    } else {
        for (const attest::ExportedFile& file : files)
            base::print(stdout, "%s  %llu records, sha256 %s\n", (arguments.folder / file.filename).c_str(),
                        static_cast<unsigned long long>(file.records), file.sha256.c_str());
    }
    if (!key)
        base::print_message(stderr,
                            "wheelyard-registry: nothing is signed, since registry.toml has no [attest] key: "
                            "`wheelyard-registry attest init keys` makes one\n");
    if (unreadable.count > 0)
        base::print_message(stderr, "wheelyard-registry: the metadata of " +
                                        std::to_string(unreadable.count) +
                                        " files cannot be read, and licenses.jsonl says so. The first is " +
                                        unreadable.first +
                                        "\n`wheelyard-registry verify` names all that is damaged; restore it "
                                        "from a backup and export again\n");
}

void add_audit_export_options(CLI::App& command, AuditExportArguments& arguments) {
    command.add_option("folder", arguments.folder, "A new folder, which gets the files")->required();
    add_config_option(command, arguments.config);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

// The folder appears complete, or not at all. Without a key nothing is signed, which standard error says.
// Gives the exit status: 3 if rows lack a licence because metadata cannot be read. Errors: "audit.exists",
// those of the configuration, the catalog, the key, and of a blob store that does not answer.
base::Result<int> run_audit_export(const AuditExportArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    WHEELYARD_ASSIGN(const auto blobs, blobs::open_blob_store(config.blob_place()));
    std::optional<attest::SigningKey> key;
    if (!config.attest.key.empty()) {
        WHEELYARD_ASSIGN(key, attest::SigningKey::read(config.attest.key));
    }
    const base::ActingAs caller(base::FileUser::caller);
    const fs::path target = without_slash(arguments.folder);
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(target, ignored)))
        return base::fail("audit.exists", "There is a file or a folder of this name already", target.string(),
                          "name a new folder: an export never replaces another one");
    WHEELYARD_TRY(base::make_directories(target.parent_path()));
    WHEELYARD_ASSIGN(base::TempDir folder,
                     base::TempDir::make("." + target.filename().string() + ".tmp", target.parent_path()));
    attest::Export of{{}, clock.now(), 0};
    WHEELYARD_ASSIGN(of.serial, catalog->last_serial());
    std::vector<attest::ExportedFile> files;
    WHEELYARD_ASSIGN(files.emplace_back(), export_audit(*catalog, of.serial, folder.path() / "audit.jsonl"));
    Unreadable unreadable;
    WHEELYARD_ASSIGN(files.emplace_back(),
                     export_licenses(config, *blobs, folder.path() / "licenses.jsonl", unreadable));
    if (key) {
        of.registry = config.signer(key->public_key().id());
        for (const attest::ExportedFile& file : files)
            WHEELYARD_TRY(base::replace_file(
                folder.path() / (file.filename + std::string(attest::export_statement_suffix)),
                attest::sign_export(file, of, *key), base::private_file_mode));
    }
    WHEELYARD_TRY(base::fsync_directory(folder.path()));
    WHEELYARD_TRY(base::rename_durably(folder.path(), target));
    folder.keep();
    print_export(arguments, files, of, key, unreadable);
    return unreadable.count == 0 ? 0 : exit_unreadable;
}

}  // namespace

std::vector<Command> audit_export_commands() {
    return {
        {heading::reasons, "audit-export",
         "The audit log and the licences of all files, signed, for an auditor", "audit-2026 -c registry.toml",
         setup(add_audit_export_options, run_audit_export),
         "`attest verify audit-2026/audit.jsonl --root root.json` verifies a file without the registry.\n"
         "Exit status: 0 success, also without a key, 1 failure (see standard error), 2 wrong usage or "
         "configuration,\n"
         "3 the export is there, but the metadata of some files cannot be read.\n"},
    };
}

}  // namespace wheelyard::registry
