// Imports a wheel in this process, in the steps of an upload: find, fetch, hash, inspect, store, add the row.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/progress_pace.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "registry/access/person.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/attestations.hpp"
#include "registry/intake/check.hpp"
#include "registry/intake/imports/import_source.hpp"
#include "registry/intake/stored_row.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/intake/validation.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/opened_store.hpp"

namespace wheelyard::registry {
namespace {

struct ImportArguments {
    std::filesystem::path config;
    std::string index;
    std::vector<std::string> wheels;  // WheelChoice in words
    std::string from;                 // empty: pip's index
    bool facts = false;
    bool quiet = false;
    bool json = false;
};

// Files that are imported before their pages are written: an import that is stopped has shown the rest.
constexpr std::size_t max_unshown = 500;

namespace fs = std::filesystem;

struct Imported {
    catalog::FileRow row;
    bool already_there = false;
    std::string facts_text;
};

tl::unexpected<base::Error> refused(wire::Problem problem) {
    return base::fail(std::move(problem.code), std::move(problem.detail), std::move(problem.value),
                      std::move(problem.advice));
}

// A path on the command line, as against a file name of the source.
bool is_path(const std::string& wheel) {
    return fs::path(wheel).has_parent_path() && wheel.find('#') == std::string::npos;
}

class Importer {
  public:
    Importer(OpenedStore& store, const IndexConfig& index, ImportSource source, const base::Clock& clock)
        : store_(store), index_(index), source_(std::move(source)), http_(source_.http), clock_(clock) {}

    base::Result<Imported> import(const std::string& wheel) {
        const fs::path local(wheel);
        if (is_path(wheel) && is_missing(local))
            return base::fail_as(base::ErrorKind::missing, base::Recovery::never,
                                 {"import.no_file", "There is no such file", wheel, "check the path"});
        WHEELYARD_ASSIGN(const WheelChoice choice,
                         parse_wheel_choice(is_path(wheel) ? local.filename().native() : wheel, index_.policy,
                                            accepted_files(index_)));
        WHEELYARD_ASSIGN(const FoundWheel place, base::acting_as(base::FileUser::caller, [&] {
                             return is_path(wheel) ? place_of(local)
                                                   : find_wheel(http_, source_.from, choice);
                         }));
        WHEELYARD_ASSIGN(const auto there, store_.catalog->file(index_.name, choice.filename));
        if (there && there->sha256 != place.sha256)
            return refused(name_taken(choice.filename, {.sha256_there = there->sha256}));
        if (there && are_bytes_there(*there)) return Imported{*there, true, {}};
        // An import brings no attestations.
        if (!there) WHEELYARD_TRY(check_origin(index_, {choice.name.project, {}}));
        WHEELYARD_ASSIGN(blobs::StagedBlob staged, fetch(choice, place));
        WHEELYARD_ASSIGN(const inspect::Inspection inspection, inspect(choice, staged));
        const std::uint64_t size_bytes = staged.size();
        WHEELYARD_ASSIGN(const std::string metadata, store_.blobs->store_bytes(inspection.metadata_bytes));
        WHEELYARD_ASSIGN(const std::string stored, store_.blobs->store(std::move(staged)));
        // What verify has quarantined for the sake of these bytes, in any index, as after an upload.
        WHEELYARD_TRY(lifecycle::release_intact(store_.place(clock_), stored, local_actor()));
        if (there) {
            WHEELYARD_ASSIGN(const auto repaired, store_.catalog->file(index_.name, choice.filename));
            return Imported{repaired.value_or(*there), true, {}};
        }
        catalog::FileRow row = stored_row({{.filename = choice.filename,
                                            .size_bytes = size_bytes,
                                            .sha256 = stored,
                                            .metadata_sha256 = metadata},
                                           index_.name},
                                          inspection);
        row.uploaded_by = local_actor();
        row.upload_time = clock_.now();
        return add(std::move(row), inspection);
    }

  private:
    // The bytes of a quarantined file are read, since verify may have found them damaged.
    [[nodiscard]] bool are_bytes_there(const catalog::FileRow& row) const {
        const auto is_there = [&](const std::string& sha256) {
            return row.state == catalog::FileState::active ? store_.blobs->contains(sha256)
                                                           : store_.blobs->is_intact(sha256);
        };
        return is_there(row.sha256) && is_there(row.metadata_sha256);
    }
    // What the command line names is read with the rights of who runs the command.
    static bool is_missing(const fs::path& file) {
        std::error_code error;
        return !base::acting_as(base::FileUser::caller, [&] { return fs::exists(file, error); }) && !error;
    }
    static base::Result<base::FileReader> open_named(const fs::path& file) {
        return base::acting_as(base::FileUser::caller, [&] { return base::FileReader::open(file); });
    }

    // A path on the command line means these very bytes, so their own hash is the expected one.
    base::Result<FoundWheel> place_of(const fs::path& file) {
        auto reader = base::FileReader::open(file);
        if (!reader) {
            reader.error().recovery = base::Recovery::never;  // this file cannot be read; others can
            return tl::unexpected(std::move(reader.error()));
        }
        if (auto fits = check_size(reader->size(), index_.max_file_bytes); !fits)
            return refused(std::move(fits.error()));
        WHEELYARD_ASSIGN(const std::string sha256, base::hex_of_file(base::DigestKind::sha256, file));
        return FoundWheel{{}, file, sha256};
    }

    // Stages the bytes and checks their hash.
    base::Result<blobs::StagedBlob> fetch(const WheelChoice& choice, const FoundWheel& place) {
        WHEELYARD_TRY(store_.config.room().check(0));
        std::optional<ImportFolder> folder;
        std::filesystem::path file = place.path;
        if (!place.url.empty()) {
            WHEELYARD_ASSIGN(folder, ImportFolder::make(store_.config.store));
            file = folder->path() / choice.filename;
            WHEELYARD_ASSIGN(const auto answer, http_.download(place.url, file, index_.max_file_bytes));
            constexpr int ok = 200;
            if (answer.status != ok)
                return base::fail("import.not_sent", "The index does not serve the wheel", place.url,
                                  "it returned " + std::to_string(answer.status));
        }
        WHEELYARD_ASSIGN(const auto reader, folder ? base::FileReader::open(file) : open_named(file));
        if (auto fits = check_size(reader.size(), index_.max_file_bytes); !fits)
            return refused(std::move(fits.error()));
        WHEELYARD_TRY(store_.config.room().check(reader.size()));
        WHEELYARD_ASSIGN(blobs::StagedBlob staged, store_.blobs->stage());
        WHEELYARD_TRY(base::for_each_piece(
            reader, base::mib, [&](std::string_view piece) -> base::Status { return staged.write(piece); }));
        if (staged.finish() != place.sha256)
            return base::fail("import.hash_differs", "The received bytes have a different SHA-256",
                              staged.finish(), "expected " + place.sha256 + "; nothing was kept");
        return staged;
    }

    base::Result<inspect::Inspection> inspect(const WheelChoice& choice, const blobs::StagedBlob& staged) {
        WHEELYARD_ASSIGN(const auto reader, staged.read());
        const OfferedFiles offered = offered_files(*store_.catalog, index_.name);
        WHEELYARD_ASSIGN(
            inspect::Inspection inspection,
            inspect::inspect_file(
                reader, choice.filename,
                {.policy = index_.policy,
                 .threads = std::max(1U, std::thread::hardware_concurrency()),
                 .progress = {},
                 .libraries_of = library_lookup(offered),
                 .torches_for = torch_lookup(index_.policy, offered, {*store_.blobs, store_.config.store})}));
        if (auto good = check_inspection(inspection); !good) return refused(std::move(good.error()));
        return inspection;
    }

    base::Result<Imported> add(catalog::FileRow row, const inspect::Inspection& inspection) {
        WHEELYARD_ASSIGN(const catalog::Added added, store_.catalog->add_file(row));
        if (auto refusal = refusal_of(added, row)) return refused(*std::move(refusal));
        return Imported{std::move(row), added.outcome == catalog::AddOutcome::already_there,
                        render_facts_text(inspection.facts)};
    }

    OpenedStore& store_;
    const IndexConfig& index_;
    const ImportSource source_;
    io::HttpClient http_;
    const base::Clock& clock_;
};

// Replaces a folder by its wheels, and its sdists where the index takes them, in order of their names.
// Without a source, a file of this folder is a path.
base::Result<std::vector<std::string>> with_folders_expanded(const std::vector<std::string>& words,
                                                             bool has_source, AcceptedFiles accepted) {
    const base::ActingAs caller(base::FileUser::caller);
    std::vector<std::string> wheels;
    for (const std::string& word : words) {
        std::error_code error;
        if (!fs::is_directory(word, error)) {
            const bool is_here = !has_source && !is_path(word) && fs::exists(word, error);
            wheels.push_back(is_here ? (fs::path(".") / word).native() : word);
            continue;
        }
        std::vector<std::string> inside;
        for (fs::directory_iterator entry(word, error), end; !error && entry != end; entry.increment(error)) {
            const bool is_sdist =
                accepted == AcceptedFiles::wheels_and_sdists && entry->path().native().ends_with(".tar.gz");
            if (is_sdist || entry->path().extension() == ".whl")
                inside.push_back((fs::path(word) / entry->path().filename()).native());
        }
        if (error) return base::fail_errno("readdir", word, error.value());
        if (inside.empty())
            return base::fail(
                "import.no_wheels", "The folder contains no wheels", word,
                "name the folder that has the .whl files itself: folders inside it are not read");
        std::sort(inside.begin(), inside.end());
        wheels.insert(wheels.end(), inside.begin(), inside.end());
    }
    return wheels;
}

class ImportProgress {
  public:
    ImportProgress(std::size_t files, const base::Clock& clock, bool quiet)
        : files_(files), pace_(clock), quiet_(quiet) {}
    void note(const base::Result<Imported>& one) {
        ++done_;
        if (one && one->already_there) ++there_;
        if (one) bytes_ += one->row.size_bytes;
        if (quiet_ || !pace_.is_due()) return;
        base::print(stderr, "import: %zu of %zu files, %s; %zu were there already\n", done_, files_,
                    base::render_bytes(bytes_).c_str(), there_);
    }

  private:
    const std::size_t files_;
    base::ProgressPace pace_;
    const bool quiet_;
    std::size_t done_ = 0;
    std::size_t there_ = 0;
    std::uint64_t bytes_ = 0;
};

void print_text(const Imported& imported, bool facts) {
    const catalog::FileRow& row = imported.row;
    const char* what = imported.already_there                         ? "there already"
                       : row.state == catalog::FileState::quarantined ? "QUARANTINED"
                                                                      : "imported";
    base::print(stdout, "%s %s/%s  %s  sha256 %s\n", what, row.index.c_str(), row.filename.c_str(),
                base::render_bytes(row.size_bytes).c_str(), row.sha256.c_str());
    if (row.state == catalog::FileState::quarantined) base::print(stdout, "  %s\n", row.state_reason.c_str());
    if (facts) base::print(stdout, "%s", imported.facts_text.c_str());
}

base::Result<io::Json> as_json(const Imported& imported) {
    const catalog::FileRow& row = imported.row;
    WHEELYARD_ASSIGN(io::Json facts, io::parse_json(row.facts_json));
    return io::Json::object({{"index", row.index},
                             {"filename", row.filename},
                             {"sha256", row.sha256},
                             {"size", static_cast<std::int64_t>(row.size_bytes)},
                             {"already_there", imported.already_there},
                             {"state", catalog::file_state_text(row.state)},
                             {"facts", std::move(facts)}});
}

void add_import_options(CLI::App& command, ImportArguments& arguments) {
    command.add_option("index", arguments.index, "The target index")->required();
    command
        .add_option("wheels", arguments.wheels,
                    "Paths of files, or of folders whose *.whl, and *.tar.gz where the index takes them, "
                    "are imported; or "
                    "file names of the other "
                    "index, where FILE.whl#sha256=… gives the expected hash")
        ->required();
    command.add_option("--from", arguments.from,
                       "The other index's simple pages (https://…, or file:///… where they lie in a "
                       "folder), or a folder of wheels "
                       "(default: the index that pip is configured with)");
    add_config_option(command, arguments.config);
    command.add_flag("--facts", arguments.facts, "Also print each wheel's facts");
    command.add_flag("-q,--quiet", arguments.quiet, "No progress on standard error");
    command.add_flag("--json", arguments.json, "One JSON document on standard output, facts included");
}

// `serve` may run with another configuration, and removes a private index from the tree for everyone only
// when it starts.
static base::Status check_opens_none(const RegistryConfig& config, const catalog::Catalog& catalog) {
    WHEELYARD_ASSIGN(const catalog::Inheritance known, catalog.inheritance(catalog::Readers::any));
    for (const IndexConfig& index : config.indexes) {
        if (index.is_private || !known.is_private(index.name)) continue;
        return base::fail("import.opens_index", "This configuration would make a private index public",
                          index.name,
                          "use the configuration of the server; if the index is to be public, restart the "
                          "server with this one first");
    }
    return {};
}

// Imports one after another. On return the pages show the imported wheels, even if a later one failed.
base::Status run_import(const ImportArguments& arguments, const OpenPublisher& open_publisher,
                        const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    const IndexConfig* target = config.find_index(arguments.index);
    if (target == nullptr)
        return base::fail("index.unknown", "There is no index with this name", arguments.index,
                          "configured: " + base::join(config.index_names(), ", "));
    WHEELYARD_ASSIGN(
        const std::vector<std::string> wheels,
        with_folders_expanded(arguments.wheels, !arguments.from.empty(), accepted_files(*target)));
    // Paths need no source: a server often has no pip that names one.
    ImportSource source;
    if (!arguments.from.empty() || !std::all_of(wheels.begin(), wheels.end(), is_path)) {
        WHEELYARD_ASSIGN(
            source, base::acting_as(base::FileUser::caller, [&] { return import_source(arguments.from); }));
    }
    WHEELYARD_ASSIGN(const auto store, open_store(config, open_publisher, NewStore::created));
    WHEELYARD_TRY(check_opens_none(store->config, *store->catalog));
    WHEELYARD_TRY(check_not_archived(*store->config.find_index(arguments.index)));
    WHEELYARD_TRY(store->catalog->set_index_rules(
        index_rules(store->config), {.actor = "configuration", .reason = {}, .time = clock.now()}));
    remove_left_import_folders(store->config.store);
    Importer importer(*store, *store->config.find_index(arguments.index), std::move(source), clock);
    std::vector<catalog::FileName> files;
    io::Json documents = io::Json::array();
    io::Json not_imported = io::Json::array();
    std::size_t failed = 0;
    base::Status ended;
    ImportProgress progress(wheels.size(), clock, arguments.quiet);
    for (const std::string& wheel : wheels) {
        const auto imported = importer.import(wheel);
        progress.note(imported);
        if (!imported) {
            ended = base::fail(imported.error());
            ++failed;
            // A network that is down or a full disk would refuse the rest, too.
            if (wheels.size() == 1 || imported.error().recovery == base::Recovery::retry) break;
            base::print_message(stderr, "not imported: " + wheel + ": " + imported.error().text() + "\n");
            not_imported.push(io::Json::object(
                {{"wheel", wheel}, {"code", imported.error().code}, {"message", imported.error().text()}}));
            continue;
        }
        files.push_back({imported->row.index, imported->row.filename});
        if (files.size() >= max_unshown) {
            WHEELYARD_TRY(store->show(files));
            files.clear();
        }
        if (arguments.json) {
            WHEELYARD_ASSIGN(io::Json document, as_json(*imported));
            documents.push(std::move(document));
        } else {
            print_text(*imported, arguments.facts);
        }
    }
    WHEELYARD_TRY(store->show(files));
    if (arguments.json)
        base::print(
            stdout, "%s\n",
            io::Json::object(
                {{"format", "wheelyard.import/1"}, {"wheels", documents}, {"not_imported", not_imported}})
                .render_pretty()
                .c_str());
    if (ended || wheels.size() == 1 || ended.error().recovery == base::Recovery::retry) return ended;
    return base::fail("import.some", "Some wheels were not imported",
                      std::to_string(failed) + " of " + std::to_string(wheels.size()),
                      "the reason of each is above; after a correction the same command imports the rest");
}

}  // namespace

std::vector<Command> import_commands() {
    return {
        {heading::adding, "import",
         "Import wheels from another index or a folder, with the rules of an upload; of a folder source "
         "distributions, too, where the index takes them",
         "bede-gh200 torch-2.6.0-cp312-cp312-manylinux_2_28_aarch64.whl -c registry.toml",
         setup(add_import_options, run_import),
         "The hash is the one behind the name, or that of the index's page (over https). Works beside a "
         "running server.\n"
         "Exit status: 0 all are there, 1 some failed (each is named; the others are there), 2 wrong "
         "usage or configuration.\n"},
    };
}

}  // namespace wheelyard::registry
