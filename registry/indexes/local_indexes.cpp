#include "registry/indexes/local_indexes.hpp"

#include <sys/types.h>

#include <algorithm>
#include <optional>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wire/problem.hpp"
#include "registry/access/local_actor.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/database/store.hpp"
#include "registry/indexes/index_apply.hpp"
#include "registry/indexes/index_request.hpp"
#include "registry/store/lock.hpp"
#include "registry/store/owner.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t request_id_bytes = 8;

// What is in force, and what is to be.
struct Plan {
    RegistryConfig before;
    RegistryConfig wanted;
    std::optional<IndexList> list;  // of the store
    IndexesChanged changed;
};

base::Result<Plan> make_plan(const RegistryConfig& file, const database::Store& store,
                             const LocalChange& change, bool is_running) {
    Plan plan;
    WHEELYARD_ASSIGN(plan.list, read_index_list(store));
    plan.before = file;
    if (plan.list) {
        WHEELYARD_ASSIGN(plan.before, with_indexes(file, plan.list->tables));
    }
    WHEELYARD_ASSIGN(const RegistryConfig now, config_at_start(file, plan.list));
    WHEELYARD_ASSIGN(plan.changed.tables, change.choose(is_running ? plan.before : now, file));
    WHEELYARD_ASSIGN(plan.wanted, with_indexes(file, plan.changed.tables));
    plan.changed.changes = list_index_changes(plan.before, plan.wanted);
    return plan;
}

bool is_needed(const Plan& plan, DecidedBy by) {
    const bool is_decided = by == DecidedBy::commands || !plan.list || plan.list->decided_by == by;
    return !plan.changed.changes.empty() || !is_decided;
}

// A file without `read = "token"` may be older than the command that closed the index.
base::Status check_none_is_opened(const Plan& plan, const LocalChange& change,
                                  const std::filesystem::path& file) {
    if (change.by != DecidedBy::file || !plan.list || plan.list->decided_by == DecidedBy::file) return {};
    std::vector<std::string> opened;
    for (const std::string& index : plan.wanted.index_names()) {
        const bool is_opened = plan.before.is_private(index) && !plan.wanted.is_private(index);
        if (is_opened &&
            std::find(change.may_open.begin(), change.may_open.end(), index) == change.may_open.end())
            opened.push_back(index);
    }
    if (opened.empty()) return {};
    std::string options;
    for (const std::string& index : change.may_open)
        options += " --open " + index;
    for (const std::string& index : opened)
        options += " --open " + index;
    return base::fail("index.opened", "A command made this index private, and the file makes it public",
                      base::join(opened, ", "),
                      "write `read = \"token\"` into its table in " + file.native() +
                          ", or make it public: `wheelyard-registry apply" + options + " -c " +
                          base::quote_shell(file.native()) + "`");
}

// As a start of the server would, but in the name of this user.
base::Status change_store(const Plan& plan, const database::Store& store, DecidedBy by,
                          const base::Clock& clock) {
    const RegistryConfig& wanted = plan.wanted;
    WHEELYARD_TRY(base::make_directories(wanted.store));
    WHEELYARD_ASSIGN(const base::Fd alone, lock_store(wanted.store, StoreUser::command));
    WHEELYARD_ASSIGN(const auto list, read_index_list(store));
    if (list.has_value() != plan.list.has_value() || (list && list->tables != plan.list->tables))
        return wire::fail("index.changed", "The indexes have changed in the meantime", {},
                          "repeat the command", base::Recovery::person);
    const catalog::Cause cause{.actor = local_actor(), .reason = {}, .time = clock.now()};
    return blobs::with_reserve(wanted.room(), [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto catalog, store.writer());
        if (wanted.has_private()) WHEELYARD_TRY(close_store_to_others(wanted, store));
        return catalog->set_index_rules(index_rules(wanted), cause, reasons_of(plan.changed.changes),
                                        render_index_list({by, plan.changed.tables}));
    });
}

}  // namespace

base::Result<IndexesChanged> change_indexes_here(const std::filesystem::path& config_file,
                                                 const LocalChange& change, const ShowChanges& show,
                                                 const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig file, read_config(config_file));
    create_as_owner_of(file.store);
    const database::Store store(file.database());
    WHEELYARD_ASSIGN(const std::optional<pid_t> server, find_server(file.store));
    WHEELYARD_ASSIGN(const Plan plan, make_plan(file, store, change, server.has_value()));
    show(plan.changed);
    WHEELYARD_TRY(check_none_is_opened(plan, change, config_file));
    IndexesChanged done = plan.changed;
    done.is_shown_here = false;
    if (change.dry_run) return done;
    const bool needs_change = is_needed(plan, change.by);
    if (!server) {
        if (needs_change) WHEELYARD_TRY(change_store(plan, store, change.by, clock));
        return done;
    }
    if (needs_change) {
        const IndexRequest request{.id = base::encode_hex(base::random_bytes(request_id_bytes)),
                                   .before = revision_of(plan.before.index_tables),
                                   .wanted = {change.by, done.tables}};
        WHEELYARD_TRY(ask_server(file, *server, request));
    }
    WHEELYARD_ASSIGN(const auto reader, store.reader());
    WHEELYARD_ASSIGN(done.serial, reader->last_serial());
    return done;
}

base::Result<IndexesChanged> LocalIndexes::change(const IndexEdit& edit, const std::string&, bool dry_run) {
    const LocalChange change{
        .choose = [&](const RegistryConfig& now,
                      const RegistryConfig&) { return edit_tables(now.index_tables, edit); },
        .by = DecidedBy::commands,
        .dry_run = dry_run};
    return change_indexes_here(
        config_file_, change, [](const IndexesChanged&) {}, clock_);
}

std::string_view LocalIndexes::decided_by_word() const {
    const auto list = read_index_list(store_);
    return word_of(list && *list ? (*list)->decided_by : DecidedBy::file);
}

}  // namespace wheelyard::registry
