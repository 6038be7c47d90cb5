// Findings:
//     no_index                        the folder is no tree
//     page_unreadable                 a page is missing or malformed
//     pages_differ                    HTML and JSON differ
//     root_names_missing, root_lacks  a name without pages; pages without a name
//     outside                         a link leaves the tree
//     missing, wrong_size, wrong_hash, no_hash
//     unnamed                         a file that no page lists
//     page_names_missing              a page of the web UI names a missing file or page
//     compressed_differs              index.html.gz or .zst and index.html differ
//     other_readers                   an index that this tree's readers may not read (with the catalog)
//     flat_leads_nowhere, flat_lacks  the find-links view, or its page, and the other pages differ
//
// Pages are read with the parsers of our own clients and resolved against a made-up host, so that absolute
// links are found.
#include "indexer/check/check.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

#include "indexer/pages/simple_html.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/gzip.hpp"
#include "lib/io/zstd.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view made_up_host = "tree.invalid";  // RFC 2606

base::Result<std::vector<std::string>> folders_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->is_directory(error)) names.push_back(entry->path().filename().native());
    }
    if (error) return base::fail_errno("readdir", folder.native(), error.value());
    std::sort(names.begin(), names.end());
    return names;
}

class TreeCheck {
  public:
    explicit TreeCheck(const fs::path& tree) : tree_(tree) {}

    base::Result<CheckReport> run() {
        WHEELYARD_ASSIGN(const auto folders, folders_in(tree_));
        std::error_code ignored;
        bool has_index = false;
        for (const auto& folder : folders) {
            if (!fs::is_directory(root_folder(tree_, folder), ignored)) continue;
            has_index = true;
            WHEELYARD_TRY(check_index(folder));
        }
        // A tree without an index is right if a run has published it.
        if (!has_index && !fs::is_directory(state_folder(tree_), ignored))
            note("no_index", ".",
                 tree_.native() +
                     " has no index, and nobody has published into it: give the folder of "
                     "`publish --to`, the one above INDEX/simple/");
        return std::move(report_);
    }

  private:
    base::Status check_index(const std::string& index) {
        const std::string page = index + "/simple/";
        WHEELYARD_ASSIGN(const auto projects, folders_in(root_folder(tree_, index)));
        const auto html = root_names(page + std::string(html_page), simple::parse_root_html);
        const auto json = root_names(page + std::string(json_page), simple::parse_root_json);
        if (html && json && *html != *json)
            note("pages_differ", page, "index.html and index.json name different projects");
        if (html) compare_names(page, *html, with_pages(index, projects));
        for (const auto& project : projects)
            check_project(index, project);
        WHEELYARD_TRY(check_unnamed(index));
        check_web_pages(tree_, index, [&](std::string code, std::string web_page, std::string detail) {
            note(std::move(code), std::move(web_page), std::move(detail));
        });
        return check_flat(index);
    }

    // Every file in files/ must be listed by a page.
    base::Status check_unnamed(const std::string& index) {
        const fs::path folder = tree_ / index / "files";
        std::error_code error;
        if (!fs::exists(folder, error)) return {};
        for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            if (entry->is_directory(error)) continue;
            const std::string file = entry->path().lexically_relative(tree_).native();
            const bool is_temporary = entry->path().filename().native().front() == '.';
            if (!is_temporary && !hashes_.contains(file)) note("unnamed", index + "/files/", file, file);
        }
        if (error) return base::fail_errno("readdir", folder.native(), error.value());
        return {};
    }

    base::Status check_flat(const std::string& index) {
        const fs::path folder = flat_folder(tree_, index);
        std::error_code error;
        if (!fs::exists(folder, error)) return {};
        std::set<std::string> shown;
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string name = entry->path().filename().native();
            if (name.front() == '.' || name == html_page) continue;
            const std::string link = entry->path().lexically_relative(tree_).native();
            std::error_code ignored;
            const fs::path target = fs::read_symlink(entry->path(), ignored);
            const std::string file = ((fs::path(index) / "find-links" / target).lexically_normal()).native();
            const bool leads = ignored ? fs::is_regular_file(entry->path(), ignored) : hashes_.contains(file);
            if (!leads) note("flat_leads_nowhere", index + "/find-links/", link, link);
            shown.insert(name);
        }
        if (error) return base::fail_errno("readdir", folder.native(), error.value());
        check_flat_page(index);
        if (shown.empty() && !has_flat_view()) return {};
        const std::string files = index + "/files/";
        for (auto file = hashes_.lower_bound(files); file != hashes_.end() && file->first.starts_with(files);
             ++file) {
            const std::string name(base::base_name(file->first));
            const bool is_beside = name.ends_with(metadata_suffix) || name.ends_with(provenance_suffix) ||
                                   name.ends_with(attestations_suffix);
            if (!is_beside && !shown.contains(name)) note("flat_lacks", index + "/find-links/", name);
        }
        return {};
    }

    // nullopt: the tree is a copy without its record. A folder find-links/ in it is the view.
    std::optional<PublishedState> record() const {
        const auto text = base::read_file(published_file(tree_), max_state_bytes);
        auto state = text ? parse_published_state(*text) : base::fail(text.error());
        return state ? std::optional(*std::move(state)) : std::nullopt;
    }
    bool has_flat_view() const {
        const auto state = record();
        return !state || state->views.contains(std::string(view_find_links));
    }
    // A running server writes the page a moment later; then it may lack files.
    bool is_flat_page_late() const {
        const auto state = record();
        return state && state->flat_serial != state->serial;
    }

    // The page of an older program's tree comes with the next run. One without links says why.
    void check_flat_page(const std::string& index) {
        const std::string folder = index + "/find-links/";
        const std::string page = folder + std::string(html_page);
        const bool is_late = is_flat_page_late();  // before the page is read: a server may write both now
        const auto text = base::read_file(tree_ / page, max_page_bytes);
        if (!text && text.error().os_error == ENOENT) return;
        if (text && *text == render_flat_html_without_links()) return;
        const auto links = project_links(page, folder, simple::parse_project_html);
        if (!links) return;
        std::map<std::string, std::string> named;
        for (const auto& link : *links)
            named.emplace(path_of(link.url).value_or(link.url), link.sha256);
        const auto missing_in = [&](const auto& from, const auto& in, const char* code) {
            const std::string files = index + "/files/";
            for (const auto& [file, sha256] : from) {
                if (&from == &listed_ && !file.starts_with(files)) continue;
                const auto found = in.find(file);
                if (found == in.end() || found->second != sha256) note(code, page, file, page);
            }
        };
        missing_in(named, listed_, "flat_leads_nowhere");
        if (!is_late) missing_in(listed_, named, "flat_lacks");
    }

    std::set<std::string> with_pages(const std::string& index,
                                     const std::vector<std::string>& projects) const {
        std::set<std::string> there;
        for (const auto& project : projects) {
            if (base::file_size(project_folder(tree_, index, project) / html_page)) there.insert(project);
        }
        return there;
    }

    template <typename Parse>
    std::optional<std::set<std::string>> root_names(const std::string& page, Parse parse) {
        const auto text = read_page(page);
        if (!text) return std::nullopt;
        const auto names = parse(*text);
        if (!names) {
            note("page_unreadable", page, names.error().text());
            return std::nullopt;
        }
        return std::set<std::string>(names->begin(), names->end());
    }

    void compare_names(const std::string& page, const std::set<std::string>& named,
                       const std::set<std::string>& there) {
        for (const auto& name : named) {
            if (!there.contains(name)) note("root_names_missing", page, name);
        }
        for (const auto& name : there) {
            if (!named.contains(name)) note("root_lacks", page, name);
        }
    }

    void check_project(const std::string& index, const std::string& project) {
        const std::string page = index + "/simple/" + project + "/";
        const auto html = project_links(page + std::string(html_page), page, simple::parse_project_html);
        const auto json = project_links(page + std::string(json_page), page, simple::parse_project_json);
        if (html && json) compare_pages(page, *html, *json);
        for (const auto* links : {&html, &json}) {
            if (!*links) continue;
            for (const auto& link : **links)
                check_link(page, link);
        }
    }

    template <typename Parse>
    std::optional<std::vector<simple::FileLink>> project_links(const std::string& page,
                                                               const std::string& folder, Parse parse) {
        const auto text = read_page(page);
        if (!text) return std::nullopt;
        const auto url = base::parse_url("http://" + std::string(made_up_host) + "/" + folder);
        auto parsed =
            url ? parse(*text, *url) : base::Result<simple::ProjectPage>(tl::unexpected(url.error()));
        if (!parsed) {
            note("page_unreadable", page, parsed.error().text());
            return std::nullopt;
        }
        return std::move(parsed->files);
    }

    // The members that both formats have must be equal.
    void compare_pages(const std::string& page, const std::vector<simple::FileLink>& html,
                       const std::vector<simple::FileLink>& json) {
        const auto said = [](const simple::FileLink& link) {
            return std::tie(link.filename, link.url, link.sha256, link.requires_python, link.yanked,
                            link.yanked_reason, link.has_metadata, link.metadata_sha256);
        };
        const bool same = std::equal(html.begin(), html.end(), json.begin(), json.end(),
                                     [&](const auto& a, const auto& b) { return said(a) == said(b); });
        if (!same) note("pages_differ", page, "index.html and index.json list different files");
    }

    void check_link(const std::string& page, const simple::FileLink& link) {
        const auto file = path_of(link.url);
        if (!file) {
            note("outside", page, link.url);
            return;
        }
        if (!link.sha256.empty()) listed_[*file] = link.sha256;
        check_file(page, *file, link.sha256, link.size_bytes);
        if (link.has_metadata) check_file(page, *file + std::string(metadata_suffix), link.metadata_sha256);
        if (!link.provenance_sha256.empty())
            check_file(page, *file + std::string(provenance_suffix), link.provenance_sha256);
        if (!link.attestations_sha256.empty())
            check_file(page, *file + std::string(attestations_suffix), link.attestations_sha256);
    }

    // The path relative to the tree; nullopt if the link leaves the tree.
    static std::optional<std::string> path_of(const std::string& link) {
        const auto url = base::parse_url(link);
        if (!url || url->host != made_up_host) return std::nullopt;
        auto path = base::decode_percent(url->path);
        if (!path || path->find('\0') != std::string::npos) return std::nullopt;
        path->erase(0, 1);
        for (const auto part : base::split(*path, '/')) {
            if (part.empty() || part == "..") return std::nullopt;  // "//etc/passwd" would be absolute
        }
        return *path;
    }

    void check_file(const std::string& page, const std::string& file, const std::string& sha256,
                    std::uint64_t size_bytes = 0) {
        if (sha256.empty()) {
            note("no_hash", page, file);
            return;
        }
        const auto actual_size = base::file_size(tree_ / file);
        if (!actual_size) {
            note("missing", page, file, file);
            return;
        }
        if (size_bytes > 0 && size_bytes != *actual_size) {
            note("wrong_size", page,
                 file + " has " + std::to_string(*actual_size) + " bytes, expected " +
                     std::to_string(size_bytes),
                 file);
            return;
        }
        const auto [known, is_new] = hashes_.try_emplace(file);
        if (is_new) ++report_.files;
        // Its bytes are in the blob store, where `wheelyard-registry verify` reads them.
        if (is_new && base::is_stand_in(tree_ / file)) {
            known->second = sha256;
        } else if (is_new) {
            report_.bytes_hashed += *actual_size;
            auto hash = base::sha256_hex_of_file(tree_ / file);
            known->second = hash ? std::move(*hash) : hash.error().text();
        }
        if (known->second != sha256)
            note("wrong_hash", page, file + " has " + known->second + ", expected " + sha256, file);
    }

    std::optional<std::string> read_page(const std::string& page) {
        auto text = base::read_file(tree_ / page, max_page_bytes);
        if (!text) {
            note("page_unreadable", page, text.error().text());
            return std::nullopt;
        }
        ++report_.pages;
        check_compressed(page, *text);
        return std::move(*text);
    }

    void check_compressed(const std::string& page, const std::string& text) {
        check_copy(page, text, page + std::string(gzip_suffix), io::gunzip);
        if (io::has_zstd()) check_copy(page, text, page + std::string(zstd_suffix), io::unzstd);
    }

    void check_copy(const std::string& page, const std::string& text, const std::string& compressed,
                    base::Result<std::string> (*unpack)(std::string_view bytes, std::size_t limit_bytes)) {
        const auto bytes = base::read_file(tree_ / compressed, max_page_bytes);
        if (!bytes && bytes.error().os_error == ENOENT) return;
        const auto unpacked =
            bytes ? unpack(*bytes, max_page_bytes) : base::Result<std::string>(tl::unexpected(bytes.error()));
        if (!unpacked || *unpacked != text)
            note("compressed_differs", page, compressed + (unpacked ? " differs" : " is unreadable"),
                 compressed);
    }

    void note(std::string code, std::string page, std::string detail, std::string file = {}) {
        const bool is_known = !report_.findings.empty() && report_.findings.back().code == code &&
                              report_.findings.back().page == page &&
                              report_.findings.back().detail == detail;
        if (!is_known)
            report_.findings.push_back(
                {std::move(code), std::move(page), std::move(detail), std::move(file)});
    }

    const fs::path& tree_;
    CheckReport report_;
    std::map<std::string, std::string> hashes_;  // path → actual hash, or an error
    std::map<std::string, std::string>
        listed_;  // path → the hash that a page gives; files without what is beside them
};

}  // namespace

base::Result<CheckReport> check_tree(const fs::path& tree) {
    return TreeCheck(tree).run();
}

}  // namespace wheelyard::indexer
