// `wheelyard-registry audit-osv PATH`: which published files a known vulnerability hits, through which
// component.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "registry/api/contains.hpp"
#include "registry/commands/advisories/advisory.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;
using advisories::Impact;

constexpr int exit_hit = 3;  // at least one file is hit

struct AuditOsvArguments {
    std::filesystem::path advisories;  // a record of OSV, or a folder of them
    std::string index;                 // empty: all
    std::filesystem::path config;
    bool json = false;
};

constexpr std::size_t max_records_named = 5;  // unreadable ones, in the error

// A version of a package that is in a published file: the file itself, or a component of it.
struct Part {
    std::size_t file;    // its position in Audit::files
    io::Json component;  // as the SBOM states it; null: the file itself
    std::string version;
    std::set<std::string> hit_by;  // identifiers and aliases: one vulnerability has several
};

struct Audit {
    std::vector<io::Json> files;
    std::map<std::pair<const advisories::Ecosystem*, std::string>, std::vector<Part>> parts;  // by package
    std::map<std::string, std::int64_t> without_package;  // components by "pkg:deb"
    io::Json not_known = io::Json::array();               // files with more components than are kept
    io::Json hits = io::Json::array();
    io::Json not_judged = io::Json::array();
    std::int64_t records = 0;
    std::vector<std::string> unreadable;  // paths
};

// "pkg:deb" of "pkg:deb/debian/libjansson4@2.14-2".
std::string purl_kind(const std::string& purl) {
    const std::string kind = purl.substr(0, std::min(purl.find('/'), purl.find('@')));
    return kind.empty() ? "no package URL" : kind;
}

void add_file(const catalog::FileRow& row, Audit& audit) {
    const std::size_t at = audit.files.size();
    audit.files.push_back(found_file_json(row));
    const auto& python = *advisories::find_ecosystem("PyPI");
    audit.parts[{&python, advisories::package_name(python, row.project)}].push_back(
        {at, {}, row.version, {}});
    if (row.facts_json.find("\"sbom\"") == std::string::npos) return;
    const auto facts = io::parse_json(row.facts_json);
    if (!facts) return;
    for (const io::Json& one : facts->items("sbom")) {
        const std::string purl = one.string_or("purl", {});
        if (auto package = advisories::package_of(purl, one.string_or("version", {})))
            audit.parts[{package->ecosystem, package->name}].push_back({at, one, package->version, {}});
        else
            ++audit.without_package[purl_kind(purl)];
    }
    if (facts->int_or("sbom_left_out", 0) > 0) audit.not_known.push(audit.files[at]);
}

void judge_part(const advisories::Advisory& advisory, const advisories::Affected& affected, Part& part,
                Audit& audit) {
    const advisories::Judgement judgement = advisories::judge(affected, part.version);
    if (judgement.impact == Impact::unaffected) return;
    std::set<std::string> names(advisory.aliases.begin(), advisory.aliases.end());
    names.insert(advisory.id);
    const bool is_known = std::any_of(names.begin(), names.end(),
                                      [&](const std::string& name) { return part.hit_by.contains(name); });
    if (is_known) return;
    io::Json found = audit.files[part.file];
    found.set("advisory", advisory.id);
    found.set("aliases", io::Json::array_of(advisory.aliases));
    found.set("component", part.component);
    found.set("version", part.version);
    if (judgement.impact == Impact::not_judged) {
        audit.not_judged.push(std::move(found));
        return;
    }
    found.set("fixed", judgement.fixed.empty() ? io::Json() : io::Json(judgement.fixed));
    audit.hits.push(std::move(found));
    part.hit_by.merge(names);
}

void read_record(const fs::path& path, Audit& audit) {
    const auto text = base::read_file(path, advisories::max_advisory_bytes);
    const auto advisory = text ? advisories::parse_advisory(*text)
                               : base::Result<advisories::Advisory>(base::fail(text.error()));
    if (!advisory) {
        audit.unreadable.push_back(path.string() + " (" + advisory.error().code + ")");
        return;
    }
    ++audit.records;
    for (const advisories::Affected& affected : advisory->affected) {
        const auto found = audit.parts.find({affected.ecosystem, affected.name});
        if (found == audit.parts.end()) continue;
        for (Part& part : found->second)
            judge_part(*advisory, affected, part, audit);
    }
}

// The records of a folder and of those in it, in the order of their names.
base::Result<std::vector<fs::path>> find_records(const fs::path& given) {
    std::error_code error;
    if (fs::is_regular_file(given, error)) return std::vector{given};
    std::vector<fs::path> records;
    for (fs::recursive_directory_iterator entry(given, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == ".json" && entry->is_regular_file())
            records.push_back(entry->path());
    if (error)
        return base::fail("advisory.unreadable", "The folder of records cannot be read: " + error.message(),
                          given.string(), "give one record of OSV, or a folder of them");
    if (records.empty())
        return base::fail("advisory.unreadable", "The folder has no record: no file that ends with .json",
                          given.string(), "unpack an export of OSV there");
    std::sort(records.begin(), records.end());
    return records;
}

std::string through(const io::Json& found) {
    const io::Json& component = *found.find("component");
    if (component.is_null()) return "the file itself";
    return component.string_or("name", {}) + " " + found.string_or("version", {});
}

void print_audit(const Audit& audit) {
    std::vector<base::TableRow> rows{{"INDEX", "FILE", "ADVISORY", "THROUGH", "FIXED IN"}};
    std::set<std::string> files;
    for (const io::Json& one : audit.hits.items()) {
        std::string advisory = one.string_or("advisory", {});
        for (const io::Json& alias : one.items("aliases"))
            if (alias.as_string()->starts_with("CVE-")) advisory += " " + *alias.as_string();
        rows.push_back({one.string_or("index", {}), one.string_or("filename", {}), advisory, through(one),
                        one.string_or("fixed", "none known")});
        files.insert(one.string_or("index", {}) + "/" + one.string_or("filename", {}));
    }
    if (rows.size() > 1)
        base::print(stdout, base::render_table(rows, base::terminal_columns(STDOUT_FILENO)) + "\n");
    base::print(stdout, "files hit: %zu of %zu; records read: %lld\n", files.size(), audit.files.size(),
                static_cast<long long>(audit.records));
    for (const auto& [kind, count] : audit.without_package)
        base::print(stdout, "not judged: components with %s, of which no versions are compared: %lld\n",
                    kind.c_str(), static_cast<long long>(count));
    for (const io::Json& one : audit.not_judged.items())
        base::print(stdout, "not judged: " + one.string_or("filename", {}) + " with " + through(one) + ": " +
                                one.string_or("advisory", {}) + " has versions of another form\n");
    for (const io::Json& one : audit.not_known.items())
        base::print(stdout, "not judged: further components of %s: its SBOM has more than are kept\n",
                    one.string_or("filename", {}).c_str());
}

void add_audit_osv_options(CLI::App& command, AuditOsvArguments& arguments) {
    command.add_option("advisories", arguments.advisories, "A record of OSV, or a folder of records")
        ->required()
        ->check(base::fault_of_path, "PATH");
    command.add_option("--index", arguments.index, "Of this index alone (default: of all)");
    add_config_option(command, arguments.config);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

// Prints the files, also those in quarantine, and what could not be judged; gives the exit status. Errors:
// "index.unknown", "advisory.unreadable" (after the answer), and those of configuration, catalog and files.
base::Result<int> run_audit_osv(const AuditOsvArguments& arguments) {
    WHEELYARD_ASSIGN(const std::vector<fs::path> records, find_records(arguments.advisories));
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    Audit audit;
    WHEELYARD_TRY(for_each_file(config, arguments.index, [&](const catalog::FileRow& row) {
        add_file(row, audit);
        return base::Status();
    }));
    const base::ActingAs caller(base::FileUser::caller);
    for (const fs::path& record : records)
        read_record(record, audit);
    if (arguments.json) {
        io::Json without = io::Json::object();
        for (const auto& [kind, count] : audit.without_package)
            without.set(kind, count);
        base::print(stdout, "%s\n",
                    io::Json::object({{"format", "wheelyard.audit_osv/1"},
                                      {"records", audit.records},
                                      {"files", static_cast<std::int64_t>(audit.files.size())},
                                      {"hits", audit.hits},
                                      {"not_judged", audit.not_judged},
                                      {"components_without_package", std::move(without)},
                                      {"files_with_more_components", audit.not_known}})
                        .render()
                        .c_str());
    } else {
        print_audit(audit);
    }
    if (!audit.unreadable.empty()) {
        const std::size_t count = audit.unreadable.size();
        audit.unreadable.resize(std::min(count, max_records_named));
        return base::fail("advisory.unreadable",
                          std::to_string(count) + " of " + std::to_string(records.size()) +
                              " files are no records of OSV that can be read: the answer is without them",
                          base::join(audit.unreadable, ", "),
                          "remove them from the folder, or export the records again");
    }
    return audit.hits.items().empty() ? 0 : exit_hit;
}

}  // namespace

std::vector<Command> audit_osv_commands() {
    return {
        {heading::reasons, "audit-osv",
         "Which published files a known vulnerability hits, through which component", "osv -c registry.toml",
         setup(add_audit_osv_options, run_audit_osv),
         "The records are an operator's: an unpacked export of OSV, such as that of PyPI. Compared are the "
         "files\n"
         "themselves and what their SBOMs state (see `contains`), for PyPI, crates.io, npm, Go, AlmaLinux "
         "and Rocky\n"
         "Linux; what else an SBOM states is counted as not judged.\n"
         "Exit status: 0 no file is hit, 1 failure (see standard error), 2 wrong usage or configuration, 3 a "
         "file is hit.\n"},
    };
}

}  // namespace wheelyard::registry
