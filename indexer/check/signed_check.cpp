#include "indexer/check/signed_check.hpp"

#include <set>
#include <system_error>
#include <vector>

#include "indexer/tree/paths.hpp"
#include "lib/attest/index_folder.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/user.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

constexpr const char* seen_suffix = ".seen";

// Those that the tree has, and those that were seen.
base::Result<std::set<std::string>> indexes_of(const fs::path& tree, const fs::path& seen) {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(tree, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().native();
        if (fs::is_directory(root_folder(tree, name), ignored)) names.insert(name);
    }
    if (error) return base::fail_errno("readdir", tree.native(), error.value());
    const base::ActingAs caller(base::FileUser::caller);
    if (seen.empty() || !fs::exists(seen, error)) return names;
    for (fs::directory_iterator entry(seen, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == seen_suffix) names.insert(entry->path().stem().native());
    }
    if (error) return base::fail_errno("readdir", seen.native(), error.value());
    return names;
}

base::Status check_index(const fs::path& folder, const std::string& index, const SignedCheck& wanted,
                         base::Clock& clock, const NoteFinding& note) {
    const fs::path memory = wanted.seen.empty() ? fs::path() : wanted.seen / (index + seen_suffix);
    attest::SeenState newest;
    if (!memory.empty()) {
        WHEELYARD_ASSIGN(newest,
                         base::acting_as(base::FileUser::caller, [&] { return attest::read_seen(memory); }));
    }
    const std::string& name = wanted.signed_as.empty() ? index : wanted.signed_as;
    const auto found =
        attest::verify_index(attest::reader_of_folder(folder), wanted.root, name, newest, clock);
    if (!found) {
        std::error_code ignored;
        note("not_signed", index + "/signed/state.json",
             fs::exists(root_folder(folder.parent_path(), index), ignored)
                 ? found.error().text()
                 : "the index was seen before, and the tree has it no more: a mirror may hide it; if its "
                   "operator removed it, remove " +
                       memory.string());
        return {};
    }
    const auto note_each = [&](const char* code, const std::vector<std::string>& paths, const char* what) {
        for (const std::string& path : paths)
            note(code, index + "/" + path, what);
        return !paths.empty();
    };
    if (note_each("not_as_signed", found->changed, "is missing, or not the page that the registry signed"))
        return {};
    WHEELYARD_ASSIGN(const attest::Beside beside, attest::look_beside(folder, found->projects, clock));
    const bool is_changed = note_each("not_as_signed", beside.changed, "is not a copy of the signed page");
    const bool is_more = note_each("unlisted_page", beside.unlisted,
                                   "nobody has signed it, and installers find it by its name");
    if (memory.empty() || is_changed || is_more) return {};
    const base::ActingAs caller(base::FileUser::caller);
    WHEELYARD_TRY(base::make_directories(wanted.seen));
    return attest::write_seen(memory, {found->state.history, found->state.serial});
}

}  // namespace

base::Status check_signatures(const fs::path& tree, const SignedCheck& wanted, base::Clock& clock,
                              const NoteFinding& note) {
    WHEELYARD_ASSIGN(const auto indexes, indexes_of(tree, wanted.seen));
    if (indexes.empty()) note("not_signed", ".", "the tree has no index");
    for (const std::string& index : indexes)
        WHEELYARD_TRY(check_index(tree / index, index, wanted, clock, note));
    return {};
}

}  // namespace wheelyard::indexer
