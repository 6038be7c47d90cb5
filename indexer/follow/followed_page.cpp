// Uses the common parser, then requires every link to be the one that a published tree would have.
#include "indexer/follow/followed_page.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "indexer/tree/paths.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::indexer {

namespace {

constexpr std::size_t max_name_bytes = 255;  // NAME_MAX of Linux file systems

tl::unexpected<base::Error> bad_link(const simple::FileLink& link) {
    return base::fail_malformed("follow.link",
                                "A page links a file outside the layout of a published tree, without hash, "
                                "size or upload time, or variants of a version without variant wheels",
                                link.url, "follow an index that wheelyard publishes");
}

// What the name of a wheel or of an sdist says.
struct ReleaseName {
    std::string project;  // normalised
    std::string version;
};
std::optional<ReleaseName> read_name(const std::string& filename) {
    if (const auto name = wheel::parse_wheel_filename(filename))
        return ReleaseName{name->project, name->version.text()};
    if (const auto name = wheel::parse_sdist_filename(filename))
        return ReleaseName{name->project, name->version.text()};
    return std::nullopt;
}

// A version's variants (PEP 825).
base::Result<catalog::VariantsFile> variants_of(const simple::FileLink& link, const std::string& from,
                                                const std::string& project) {
    const auto time = base::parse_rfc3339(link.upload_time);
    const std::uint64_t size = link.size.value_or(0);
    catalog::VariantsFile file{
        .filename = link.filename, .sha256 = link.sha256, .size_bytes = size, .bytes = {}};
    if (!time || !base::is_sha256_hex(link.sha256) || size == 0 || size > catalog::max_variants_file_bytes ||
        link.filename.size() > max_name_bytes || link.url != from + followed_path(project, file))
        return bad_link(link);
    file.upload_time = *time;
    return file;
}

base::Result<catalog::FileRow> row_of(const simple::FileLink& link, const std::string& from,
                                      const std::string& project) {
    const auto name = read_name(link.filename);
    const auto time = base::parse_rfc3339(link.upload_time);
    const bool is_a_trees = base::is_sha256_hex(link.sha256) && name && name->project == project && time &&
                            link.size.value_or(0) > 0 &&
                            link.filename.size() + metadata_suffix.size() <= max_name_bytes &&
                            link.url == from + followed_path({link.sha256, link.filename});
    if (!is_a_trees || (link.has_metadata && !base::is_sha256_hex(link.metadata_sha256)))
        return bad_link(link);
    catalog::FileRow row;
    row.project = project;
    row.filename = link.filename;
    row.version = name->version;
    row.sha256 = link.sha256;
    row.size_bytes = *link.size;
    if (link.has_metadata) row.metadata_sha256 = link.metadata_sha256;
    row.provenance_sha256 = link.provenance_sha256;
    row.attestations_sha256 = link.attestations_sha256;
    row.requires_python = link.requires_python;
    row.upload_time = *time;
    row.yanked = link.yanked;
    row.yanked_reason = link.yanked_reason;
    return row;
}

// ProjectView::root_url as the source has it: the one that gives each of the page's URLs of attestations again (PEP 740),
// "https://wheels.example.org/main/files/ab/…/FILE.pep740". Our page then has them, too, as the signed one does.
class CommonRootUrl {
  public:
    // The row gets the index of its URL.
    void add(const std::string& url, catalog::FileRow& row) {
        const std::string end =
            "/" + followed_path({row.sha256, row.filename}) + std::string(attestations_suffix);
        if (!is_plain_https(url) || !url.ends_with(end)) {
            is_common_ = false;
            return;
        }
        const std::string index_url = url.substr(0, url.size() - end.size());
        const auto name_at = index_url.rfind('/') + 1;
        row.index = index_url.substr(name_at);
        if (url_.empty()) url_ = index_url.substr(0, name_at);
        is_common_ = is_common_ && !row.index.empty() && attestations_url(url_, row) == url;
    }
    // Empty: the page has no URL, lacks one, or has URLs of several places or of another form.
    [[nodiscard]] std::string get() const { return is_common_ ? url_ : std::string(); }

  private:
    static bool is_plain_https(const std::string& text) {
        const auto url = base::parse_url(text);
        return url && url->scheme == "https" && url->userinfo.empty() && url->query.empty() &&
               url->fragment.empty();
    }

    std::string url_;
    bool is_common_ = true;
};

}  // namespace

bool is_usable_project(std::string_view name) {
    return wheel::is_valid_name(name) && wheel::normalize_name(name) == name && name.size() <= max_name_bytes;
}

std::string followed_path(const TreeFile& file) {
    return "files/" + file.sha256.substr(0, 2) + "/" + file.sha256 + "/" +
           base::encode_percent(file.filename);
}

std::string followed_path(const std::string& project, const catalog::VariantsFile& file) {
    std::string path = "simple/" + project + "/";
    append_variants_link(path, file);
    return path;
}

base::Result<FollowedPage> read_followed_page(const std::string& json, const std::string& from,
                                              const std::string& project) {
    WHEELYARD_ASSIGN(const auto page_url, base::parse_url(from + "simple/" + project + "/"));
    WHEELYARD_ASSIGN(const auto page, simple::parse_project_json(json, page_url));
    FollowedPage read;
    std::vector<catalog::FileRow> rows;
    std::vector<const simple::FileLink*> variants;
    std::set<std::string> variants_names;  // of the versions that have variant wheels
    std::set<std::string> names;
    CommonRootUrl root_url;
    for (const auto& link : page.files) {
        if (!names.insert(link.filename).second)
            return base::fail_malformed("follow.twice", "A page has a file name twice", link.filename,
                                        "repair the followed tree");
        if (link.filename.ends_with(catalog::variants_suffix)) {
            variants.push_back(&link);
            continue;
        }
        WHEELYARD_ASSIGN(auto row, row_of(link, from, project));
        if (!row.attestations_sha256.empty()) root_url.add(link.provenance_url, row);
        if (catalog::is_variant_wheel(row.filename))
            variants_names.insert(catalog::variants_filename(project, row.version));
        read.files.push_back({{row.sha256, row.filename},
                              row.size_bytes,
                              row.metadata_sha256,
                              row.provenance_sha256,
                              row.attestations_sha256});
        rows.push_back(std::move(row));
    }
    read.view = make_project_view(project, std::move(rows));
    for (const simple::FileLink* link : variants) {
        if (!variants_names.contains(link->filename)) return bad_link(*link);
        WHEELYARD_ASSIGN(auto file, variants_of(*link, from, project));
        read.view.variants.push_back(std::move(file));
    }
    read.view.root_url = root_url.get();
    if (page.status.empty()) return read;
    const auto status = catalog::parse_project_status(page.status);
    if (!status)
        return base::fail_malformed("follow.status", "A page has an unknown project status (PEP 792)",
                                    page.status, "upgrade this program");
    read.view.status = *status;
    read.view.status_reason = page.status_reason;
    return read;
}

}  // namespace wheelyard::indexer
