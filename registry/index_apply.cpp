#include "registry/index_apply.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temporary_files.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/config/index_rules.hpp"

namespace wheelyard::registry {
namespace {

constexpr mode_t owner_only = 0600;  // titles and names of private indexes are in these files

// An index that was here before may have been private, or may have left pages for everyone: only a start handles that.
base::Status check_created(const RegistryConfig& wanted, const std::vector<IndexChange>& changes,
                           const catalog::Catalog& catalog) {
    WHEELYARD_ASSIGN(const catalog::Inheritance known, catalog.inheritance(catalog::Readers::any));
    for (const IndexChange& change : changes) {
        if (!change.key.empty()) continue;
        const bool is_private = wanted.is_private(change.index);
        std::error_code ignored;
        const bool was_public = std::filesystem::exists(wanted.published() / change.index, ignored);
        if (is_private ? was_public : known.is_private(change.index))
            return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                                 {"config.needs_restart", "A former index of this name had another `read`",
                                  change.index, "restart the server with this file, or choose another name"});
    }
    return {};
}

}  // namespace

std::filesystem::path applied_text_file(const RegistryConfig& config) {
    return config.store / "applied.toml";
}

std::filesystem::path applied_result_file(const RegistryConfig& config) {
    return config.store / "applied.json";
}

std::vector<http::IndexEntry> index_entries(const RegistryConfig& config) {
    std::vector<http::IndexEntry> entries;
    for (const IndexConfig& index : config.indexes) {
        const bool is_staging =
            std::any_of(config.indexes.begin(), config.indexes.end(),
                        [&](const IndexConfig& other) { return other.staging == index.name; });
        entries.push_back({index.name, index.title, !is_staging && !index.is_archived, index.is_private,
                           config.pages && index.has_pages});
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
}

base::Status close_store_to_others(const RegistryConfig& config) {
    namespace fs = std::filesystem;
    constexpr auto others = fs::perms::others_all;
    for (const char* name : {"blobs", "upstream", "prefetch", "sites", "resumable", "staging", "damaged",
                             "catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm", "tasks.sqlite",
                             "tasks.sqlite-wal", "tasks.sqlite-shm"}) {
        std::error_code error;
        fs::permissions(config.store / name, others, fs::perm_options::remove, error);
        if (error && error != std::errc::no_such_file_or_directory)
            return base::fail_errno("chmod", (config.store / name).native(), error.value());
    }
    return {};
}

std::map<std::string, std::string> reasons_since_last_run(const RegistryConfig& config,
                                                          const std::filesystem::path& file) {
    const auto text = base::read_file(applied_text_file(config), max_config_bytes);
    if (!text) return {};
    const auto before = parse_config(*text, file);
    if (!before) return {};  // an older version's, or it names a logo that is gone
    return reasons_of(list_index_changes(*before, config));
}

base::Status IndexApply::note(const std::string& text, const std::string& problem) const {
    const RegistryConfig& config = parts_.config.now();
    WHEELYARD_TRY(base::replace_file(applied_text_file(config), config.text, owner_only));
    return base::replace_file(applied_result_file(config),
                              io::Json::object({{"format", "wheelyard.applied/1"},
                                                {"time_us", parts_.clock.now()},
                                                {"sha256", base::sha256_hex(text)},
                                                {"problem", problem}})
                                      .render() +
                                  "\n",
                              owner_only);
}

base::Status IndexApply::note_start() const {
    const RegistryConfig& config = parts_.config.now();
    for (const auto& file : {applied_text_file(config), applied_result_file(config)})
        WHEELYARD_TRY(base::remove_temporary_files(file));
    return note(config.text, {});
}

void IndexApply::apply(const std::string& actor) const {
    const auto wanted = read_config(parts_.file);
    const base::Status changed = wanted ? change(*wanted, actor) : base::fail(wanted.error());
    if (!changed) io::log_error("indexes.not_applied", {{"by", actor}, {"error", changed.error().text()}});
    // The hash of an unreadable file's text is not known here; `apply` checks the file before it asks.
    const auto noted = note(wanted ? wanted->text : std::string(), changed ? "" : changed.error().text());
    if (!noted) io::log_error("indexes.not_noted", {{"error", noted.error().text()}});
}

base::Status IndexApply::change(const RegistryConfig& wanted, const std::string& actor) const {
    const RegistryConfig& now = parts_.config.now();
    WHEELYARD_ASSIGN(const auto changes, find_index_changes(now, wanted));
    WHEELYARD_TRY(parts_.config.check_room());
    RegistryConfig next = now;  // what the server read at its start stays: its addresses, limits, look
    next.indexes = wanted.indexes;
    next.text = wanted.text;
    if (next.has_private()) WHEELYARD_TRY(close_store_to_others(next));
    const catalog::Cause cause{.actor = actor, .reason = {}, .time = parts_.clock.now()};
    catalog::Serial committed = 0;
    {
        const auto held = parts_.config.hold();
        const auto record = [&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_TRY(check_created(next, changes, catalog));
            WHEELYARD_TRY(catalog.set_index_rules(index_rules(next), cause, reasons_of(changes)));
            WHEELYARD_ASSIGN(committed, catalog.last_serial());
            return {};
        };
        WHEELYARD_TRY(parts_.writer.run(record));
        parts_.config.replace(std::move(next));
    }
    // After the rules are durable: nothing is accepted for an index that a crash would forget to keep private.
    parts_.server.replace_indexes(index_entries(parts_.config.now()));
    for (const IndexChange& change : changes)
        io::log_info("indexes.applied", {{"by", actor}, {"index", change.index}, {"change", change.text()}});
    if (changes.empty()) return {};
    return parts_.pages.wait_until_visible(committed, now.server.page_wait_ms);
}

}  // namespace wheelyard::registry
