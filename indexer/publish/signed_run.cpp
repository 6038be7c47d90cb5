// Lists before the first list before the state: a reader that finds a list with another hash than the state's has met a
// run between two of them, and asks again.
#include "indexer/publish/signed_run.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "indexer/tree/event_log.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/attest/envelope.hpp"
#include "lib/attest/index_state.hpp"
#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// A state is renewed after this part of its time, so that six days are left to notice that nobody does.
constexpr std::int64_t parts_of_validity = 7;

std::string page_path(std::string_view project, std::string_view page) {
    std::string path = "simple/";
    if (!project.empty()) path.append(project).append("/");
    return path.append(page);
}

std::string list_path(std::string_view project) {
    return project.empty() ? std::string(attest::first_page_list) : attest::page_list_of(project);
}

// "signed/pages.txt" → "pages.txt"
std::string name_of(std::string_view path) {
    return std::string(path.substr(path.find('/') + 1));
}

void change_lines(const attest::PageHashes& changes, attest::PageHashes& lines) {
    for (const auto& [path, sha256] : changes) {
        if (sha256.empty())
            lines.erase(path);
        else
            lines.insert_or_assign(path, sha256);
    }
}

}  // namespace

struct SignedRun::Signed {
    bool is_whole = false;  // otherwise the lists are made again
    attest::IndexState state = {};
    std::string key_id = {};
    attest::PageHashes first = {};
    Changes lists = {};  // those that change
};

base::Status SignedRun::begin() {
    if (signer_) return {};
    WHEELYARD_ASSIGN(const auto names, indexes());
    for (const std::string& index : names) {
        const fs::path folder = signed_folder(tree_, index);
        WHEELYARD_ASSIGN(const auto there, disk_.size_of(folder.native()));
        if (!there) continue;
        // The state first: without it nobody reads the lists.
        WHEELYARD_TRY(disk_.remove(tree_ / index / attest::index_state_path));
        WHEELYARD_TRY(disk_.sync_directory(folder.native()));
        WHEELYARD_TRY(remove_folder(disk_, folder, keep_alive_));
    }
    return {};
}

void SignedRun::note_pages(const std::string& index, const std::string& project, std::string_view html,
                           std::string_view json) {
    if (!signer_) return;
    attest::PageHashes& lines = changes_[index][list_path(project)];
    lines.insert_or_assign(page_path(project, html_page), base::sha256_hex(html));
    lines.insert_or_assign(page_path(project, json_page), base::sha256_hex(json));
}

void SignedRun::note_gone(const std::string& index, const std::string& project) {
    if (!signer_) return;
    attest::PageHashes& lines = changes_[index][list_path(project)];
    for (const std::string_view page : {html_page, json_page})
        lines.insert_or_assign(page_path(project, page), std::string());
}

base::Status SignedRun::note_late_root(const std::string& index) {
    return signer_ ? note_page_on_disk(index, {}) : base::Status();
}

base::Status SignedRun::sign(base::UnixMicros now) {
    if (!signer_) return {};
    WHEELYARD_ASSIGN(const auto names, indexes());
    for (const std::string& index : names) {
        WHEELYARD_TRY(keep_alive_());
        WHEELYARD_TRY(sign_index(index, now));
    }
    return {};
}

// Those with a root page.
base::Result<std::vector<std::string>> SignedRun::indexes() const {
    WHEELYARD_ASSIGN(auto names, folders_below(tree_));
    std::erase_if(names, [&](const std::string& name) {
        std::error_code ignored;
        return name.starts_with('.') || !fs::exists(root_folder(tree_, name) / html_page, ignored);
    });
    return names;
}

base::Status SignedRun::sign_index(const std::string& index, base::UnixMicros now) {
    WHEELYARD_ASSIGN(Signed before, read(index));
    if (!before.is_whole) WHEELYARD_TRY(note_pages_on_disk(index));
    attest::PageHashes first = before.first;
    std::vector<NamedBytes> files;
    std::vector<std::string> emptied;
    for (const auto& [path, changed] : changes_[index]) {
        if (path == attest::first_page_list) continue;
        attest::PageHashes lines = std::move(before.lists[path]);
        change_lines(changed, lines);
        std::string text = attest::render_page_list(lines);
        std::string sha256 = lines.empty() ? std::string() : base::sha256_hex(text);
        const auto known = before.first.find(path);
        if (known != before.first.end() ? known->second == sha256 : lines.empty()) continue;
        if (lines.empty())
            emptied.push_back(name_of(path));
        else
            files.push_back({name_of(path), std::move(text)});
        change_lines({{path, std::move(sha256)}}, first);
    }
    change_lines(changes_[index][std::string(attest::first_page_list)], first);
    attest::IndexState state = before.state;
    if (const auto serial = serials_.find(index); serial != serials_.end()) state.serial = serial->second;
    const std::int64_t valid_us = signer_->valid_ms * 1000;
    const bool is_fresh = state.time <= now && now - state.time < valid_us / parts_of_validity &&
                          state.valid_until - state.time == valid_us;
    const bool is_current = before.is_whole && first == before.first && is_fresh &&
                            state.serial == before.state.serial && state.history == signer_->history &&
                            before.key_id == signer_->key->public_key().id();
    if (is_current) return {};
    state.index = index;
    state.history = signer_->history;
    state.time = now;
    state.valid_until = now + valid_us;
    if (!before.is_whole || first != before.first) {
        std::string text = attest::render_page_list(first);
        state.pages = base::sha256_hex(text);
        files.push_back({name_of(attest::first_page_list), std::move(text)});
    }
    files.push_back({name_of(attest::index_state_path), attest::sign_index_state(state, *signer_->key)});
    const std::string folder = signed_folder(tree_, index).native();
    WHEELYARD_ASSIGN(const bool is_new, disk_.make_directories(folder));
    if (!is_new) WHEELYARD_TRY(disk_.remove_leftovers(folder));
    WHEELYARD_TRY(disk_.replace_together(folder, files));
    for (const std::string& name : emptied)
        WHEELYARD_TRY(disk_.remove(fs::path(folder) / name));
    return {};
}

base::Result<SignedRun::Signed> SignedRun::read(const std::string& index) {
    Signed found;
    if (are_lists_current_ && !read_again_.contains(index)) WHEELYARD_TRY(read_state(index, found));
    // An index that nothing has changed needs its state alone.
    if (found.is_whole && changes_.contains(index)) WHEELYARD_TRY(read_lists(index, found));
    if (found.is_whole) return found;
    // The log is the one place that knows its serial.
    WHEELYARD_ASSIGN(const catalog::Serial serial, append_events(disk_, tree_, index, {}, false));
    note_serial(index, serial);
    return Signed{};
}

base::Status SignedRun::read_state(const std::string& index, Signed& found) {
    WHEELYARD_ASSIGN(const std::string text,
                     read_file(index, attest::index_state_path, attest::max_signed_bytes));
    const auto state = attest::parse_index_state(text);
    if (!state) return {};
    found.state = *state;
    found.key_id = attest::parse_envelope(base::split_lines(text).front())->signatures.front().key_id;
    found.is_whole = true;
    return {};
}

base::Status SignedRun::read_lists(const std::string& index, Signed& found) {
    WHEELYARD_ASSIGN(const std::string text,
                     read_file(index, attest::first_page_list, attest::max_page_list_bytes));
    auto first = attest::parse_page_list(text);
    found.is_whole = first && base::sha256_hex(text) == found.state.pages;
    if (first) found.first = *std::move(first);
    for (const auto& [path, changed] : changes_[index]) {
        if (!found.is_whole || path == attest::first_page_list) continue;
        auto lines = read_list(index, path, found.first);
        found.is_whole = lines.has_value();
        if (lines) found.lists.emplace(path, *std::move(lines));
    }
    return {};
}

base::Result<attest::PageHashes> SignedRun::read_list(const std::string& index, const std::string& path,
                                                      const attest::PageHashes& first) {
    const auto named = first.find(path);
    if (named == first.end()) return attest::PageHashes();
    WHEELYARD_ASSIGN(const std::string text, read_file(index, path, attest::max_page_list_bytes));
    if (base::sha256_hex(text) == named->second) return attest::parse_page_list(text);
    return base::fail_malformed("publish.page_list", "A list of signed pages was changed",
                                (tree_ / index / path).native(), "the next publish run makes it again");
}

base::Status SignedRun::note_pages_on_disk(const std::string& index) {
    WHEELYARD_ASSIGN(const auto names, names_with_pages(tree_, index));
    for (const std::string& project : names)
        WHEELYARD_TRY(note_page_on_disk(index, project));
    return note_page_on_disk(index, {});
}

base::Status SignedRun::note_page_on_disk(const std::string& index, const std::string& project) {
    WHEELYARD_TRY(keep_alive_());
    attest::PageHashes& lines = changes_[index][list_path(project)];
    for (const std::string_view page : {html_page, json_page}) {
        std::string path = page_path(project, page);
        if (lines.contains(path)) continue;
        auto sha256 = base::sha256_hex_of_file(tree_ / index / path);
        if (sha256)
            lines.emplace(std::move(path), *std::move(sha256));
        else if (sha256.error().os_error != ENOENT)
            return base::fail(std::move(sha256.error()));
    }
    return {};
}

// An absent file is empty: no list and no state is.
base::Result<std::string> SignedRun::read_file(const std::string& index, std::string_view path,
                                               std::uint64_t limit) {
    const fs::path file = tree_ / index / path;
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file.native()));
    if (!size || *size > limit) return std::string();
    return disk_.read(file, limit);
}

}  // namespace wheelyard::indexer
