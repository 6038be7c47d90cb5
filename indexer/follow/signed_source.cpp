// A source that publishes during the round has pages that are newer than its state of the round's beginning. Such a page
// has to be of a state that the source has by now; the next round compares it again.
#include "indexer/follow/signed_source.hpp"

#include <algorithm>
#include <utility>

#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/attest/limits.hpp"
#include "lib/attest/verify_index.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// Times that the state is read while a publish run replaces it and its lists.
constexpr int max_state_reads = 4;

constexpr std::string_view simple_prefix = "simple/";

// "simple/six/index.json" → "six"; empty: of no project.
std::string project_of(std::string_view path) {
    path.remove_prefix(std::min(path.size(), simple_prefix.size()));
    const auto slash = path.find('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

// The projects of lines that only one of them has.
void add_differing(const attest::PageHashes& a, const attest::PageHashes& b,
                   std::set<std::string>& projects) {
    for (const auto& [path, sha256] : a) {
        const auto other = b.find(path);
        if (other == b.end() || other->second != sha256) projects.insert(project_of(path));
    }
}

attest::PageHashes parse_or_none(const std::optional<std::string>& text) {
    if (!text) return {};
    return attest::parse_page_list(*text).value_or(attest::PageHashes());
}

std::string file_name(std::string_view path) {
    return std::string(path.substr(path.find('/') + 1));
}

}  // namespace

base::Result<std::set<std::string>> SignedSource::open(const SignedPart& before, bool all) {
    for (int reads = 1;; ++reads) {
        WHEELYARD_ASSIGN(first_, read({before.history, before.serial}));
        auto changed = changed_since(before, all);
        if (changed || !changed.error().may_pass() || reads == max_state_reads) return changed;
    }
}

base::Result<SignedSource::Verified> SignedSource::read(const attest::SeenState& seen) {
    for (int reads = 1;; ++reads) {
        WHEELYARD_ASSIGN(std::string text, attest::read_state([this](const std::string& path) {
                             return source_.signed_file(path);
                         }));
        WHEELYARD_ASSIGN(auto verified,
                         attest::verify_index_state(text, root_, place_.signed_as, seen, now_));
        warnings_ = std::move(verified.warnings);
        auto pages = attest::SignedPages::open(
            verified.state.pages,
            [this](const std::string& path,
                   const std::string& sha256) -> base::Result<std::optional<std::string>> {
                if (auto there = kept(path, sha256)) return there;
                return source_.signed_file(path);
            });
        if (pages) return Verified{std::move(text), std::move(verified.state), *std::move(pages)};
        if (!pages.error().may_pass() || reads == max_state_reads) return base::fail(pages.error());
    }
}

base::Result<std::set<std::string>> SignedSource::changed_since(const SignedPart& before, bool all) {
    std::set<std::string> projects;
    const auto kept_first = all ? std::nullopt : kept(std::string(attest::first_page_list), before.pages);
    const attest::PageHashes old_first = parse_or_none(kept_first);
    std::map<std::string, std::string, std::less<>> lists(old_first.begin(), old_first.end());
    for (const auto& [path, sha256] : first_->pages.first())
        lists.emplace(path, std::string());
    for (const auto& [path, old_sha256] : lists) {
        if (!attest::is_page_list(path)) continue;
        const auto now = first_->pages.first().find(path);
        if (now != first_->pages.first().end() && now->second == old_sha256) continue;
        WHEELYARD_ASSIGN(const attest::PageHashes* lines, first_->pages.list(path));
        const attest::PageHashes old_lines =
            old_sha256.empty() ? attest::PageHashes() : parse_or_none(kept(path, old_sha256));
        add_differing(*lines, old_lines, projects);
        add_differing(old_lines, *lines, projects);
    }
    if (kept_first) return projects;
    WHEELYARD_ASSIGN(const auto ours, names_with_pages(place_.tree, place_.index));
    projects.insert(ours.begin(), ours.end());
    return projects;
}

attest::SeenState SignedSource::seen() const {
    const attest::IndexState& last = newer_ ? newer_->state : first_->state;
    return {last.history, last.serial};
}

base::Result<bool> SignedSource::has(const std::string& project) {
    return first_->pages.hash_of(project, json_page).map([](const auto& hash) { return hash.has_value(); });
}

base::Result<bool> SignedSource::is_signed_page(Verified& by, const std::string& project,
                                                std::string_view page, const std::string& sha256) {
    return by.pages.hash_of(project, page).map([&](const auto& hash) { return hash == sha256; });
}

base::Status SignedSource::check_page(const std::string& project, const std::string& json) {
    const std::string sha256 = base::sha256_hex(json);
    WHEELYARD_ASSIGN(bool is_signed, is_signed_page(*first_, project, json_page, sha256));
    if (!is_signed && newer_) {
        WHEELYARD_ASSIGN(is_signed, is_signed_page(*newer_, project, json_page, sha256));
    }
    if (is_signed) return {};
    WHEELYARD_TRY(read_newer());
    if (newer_) {
        WHEELYARD_ASSIGN(is_signed, is_signed_page(*newer_, project, json_page, sha256));
    }
    if (is_signed) return {};
    return fail_page(project, "A page is not the one that the registry signed");
}

base::Status SignedSource::check_missing(const std::string& project) {
    WHEELYARD_TRY(read_newer());
    std::optional<std::string> signed_hash = std::string();
    if (newer_) {
        WHEELYARD_ASSIGN(signed_hash, newer_->pages.hash_of(project, json_page));
    }
    if (!signed_hash) return {};
    return fail_page(project, "The source lacks a page that the registry signed");
}

base::Status SignedSource::read_newer() {
    WHEELYARD_ASSIGN(Verified now, read(seen()));
    if (now.text != (newer_ ? newer_ : first_)->text) newer_ = std::move(now);
    return {};
}

tl::unexpected<base::Error> SignedSource::fail_page(const std::string& project, std::string sentence) {
    refused_.insert(project);
    return base::fail_as(
        base::ErrorKind::malformed, base::Recovery::retry,
        {"follow.changed_page", std::move(sentence), source_.from() + "simple/" + project + "/",
         "its earlier page stays here, and each round tries again; if it stays so, the source has changed "
         "the "
         "page or keeps it back: follow the registry itself, and tell its operator"});
}

base::Result<bool> SignedSource::is_ours_signed(const std::string& project, std::string_view html,
                                                std::string_view json) {
    const std::pair<std::string_view, std::string_view> pages[] = {{html_page, html}, {json_page, json}};
    for (const auto& [page, bytes] : pages) {
        bool is_same = false;
        if (project.empty()) {
            const auto found = first_->pages.first().find(std::string(simple_prefix) + std::string(page));
            is_same = found != first_->pages.first().end() && found->second == base::sha256_hex(bytes);
        } else {
            WHEELYARD_ASSIGN(is_same, is_signed_page(*first_, project, page, base::sha256_hex(bytes)));
        }
        if (!is_same) return false;
    }
    return true;
}

base::Result<SignedPart> SignedSource::keep(bool is_same) {
    const fs::path folder = signed_folder(place_.tree, place_.index);
    WHEELYARD_TRY(disk_.make_directories(folder.native()));
    WHEELYARD_TRY(disk_.remove_leftovers(folder));
    std::vector<NamedBytes> files;
    // The first list is written after all others, so with it they are there.
    const bool are_kept = kept(std::string(attest::first_page_list), first_->state.pages).has_value();
    for (const auto& [path, sha256] : first_->pages.first()) {
        if (are_kept || !attest::is_page_list(path) || kept(path, sha256)) continue;
        WHEELYARD_ASSIGN(const attest::PageHashes* lines, first_->pages.list(path));
        files.push_back({file_name(path), attest::render_page_list(*lines)});
    }
    if (!are_kept)
        files.push_back(
            {file_name(attest::first_page_list), attest::render_page_list(first_->pages.first())});
    const bool passes_on = is_same && !newer_;
    const bool is_passed_on =
        kept(std::string(attest::index_state_path), base::sha256_hex(first_->text)).has_value();
    if (passes_on && !is_passed_on) files.push_back({file_name(attest::index_state_path), first_->text});
    if (!passes_on) WHEELYARD_TRY(disk_.remove(file(attest::index_state_path)));
    if (!files.empty())
        WHEELYARD_TRY(disk_.replace_together(folder.native(), files));
    else
        WHEELYARD_TRY(disk_.sync_directory(folder.native()));
    const attest::SeenState last = seen();
    return SignedPart{
        .pages = first_->state.pages, .history = last.history, .serial = last.serial, .unlike = {}};
}

// Our copy of a list, if it has this hash.
std::optional<std::string> SignedSource::kept(const std::string& path, const std::string& sha256) const {
    auto text = base::read_file(file(path), attest::max_page_list_bytes);
    if (!text || base::sha256_hex(*text) != sha256) return std::nullopt;
    return *std::move(text);
}

fs::path SignedSource::file(std::string_view path) const {
    return place_.tree / place_.index / path;
}

base::Status forget_signed(Disk& disk, const fs::path& tree, const std::string& index) {
    const fs::path folder = signed_folder(tree, index);
    WHEELYARD_ASSIGN(const auto there, disk.size_of(folder.native()));
    if (!there) return {};
    WHEELYARD_TRY(disk.remove(tree / index / attest::index_state_path));
    WHEELYARD_TRY(disk.sync_directory(folder.native()));
    return remove_folder(disk, folder, [] { return base::Status(); });
}

}  // namespace wheelyard::indexer
