// Asks the places one after the other.
#include "builder/sources/sources.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/index_folder.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

bool is_web(const std::string& where) {
    return where.starts_with("https://") || where.starts_with("http://");
}

// An unreadable folder is an error, not an empty one: it could contain the version to build.
base::Result<simple::ProjectPage> list_folder(const fs::path& folder) {
    simple::ProjectPage page;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        simple::FileLink file;
        file.filename = entry.path().filename().string();
        page.files.push_back(std::move(file));
    }
    std::sort(page.files.begin(), page.files.end(),
              [](const auto& a, const auto& b) { return a.filename < b.filename; });
    if (error) return base::fail_errno("reading the find-links folder", folder.native(), error.value());
    return page;
}

}  // namespace

struct Places::Place {
    std::string where;   // as configured
    std::string origin;  // "PIP_INDEX_URL"
    bool find_links = false;
    bool is_extra = false;  // of extra-index-url
};

std::string without_secrets(const std::string& url) {
    const auto parsed = base::parse_url(url);
    return parsed ? parsed->text_without_secrets()
                  : parsed.error().value;  // contains nothing that precedes an @
}

bool is_secure_place(const std::string& url, const std::vector<std::string>& trusted_hosts) {
    if (!url.starts_with("http://")) return true;
    const auto parsed = base::parse_url(url);
    if (!parsed) return false;
    const std::string& host = parsed->host;
    if (base::is_loopback_host(host)) return true;
    return std::any_of(trusted_hosts.begin(), trusted_hosts.end(), [&](const std::string& trusted) {
        return trusted == host || trusted == host + ":" + parsed->port;
    });
}

Places::Places(io::HttpClient& http, simple::PipConfig pip, DefaultIndex default_index, Warn warn)
    : http_(http),
      pip_(std::move(pip)),
      ask_default_index_(std::move(default_index)),
      warn_(std::move(warn)) {}

void Places::warn_once(const std::string& warning) {
    if (warned_.insert(warning).second && warn_) warn_(warning);
}

base::Result<std::vector<Places::Place>> Places::places() {
    std::vector<Place> found;
    for (const auto& where : pip_.find_links())
        found.push_back({where, pip_.origin("find-links"), true});
    if (pip_.no_index()) return found;
    if (!pip_.index_url().empty()) {
        found.push_back({pip_.index_url(), pip_.origin("index-url")});
    } else {
        if (default_index_.empty()) {
            WHEELYARD_ASSIGN(default_index_, ask_default_index_());
        }
        found.push_back({default_index_, "pip's default"});
    }
    for (const auto& where : pip_.extra_index_urls())
        found.push_back({where, pip_.origin("extra-index-url"), false, true});
    return found;
}

base::Result<std::optional<Listing>> Places::ask_place(const Place& place, const std::string& project,
                                                       std::string& left_out) {
    const std::string& where = place.where;
    if (!place.find_links) {
        const auto get =
            simple::is_file_url(where) ? simple::GetPage(simple::read_page) : simple::page_getter(http_);
        WHEELYARD_ASSIGN(auto page, simple::fetch_project(get, where, project));
        if (!page) return std::nullopt;
        return Listing{std::move(*page), without_secrets(where), {}, true};
    }
    if (!is_web(where)) {
        std::string path = where;
        if (simple::is_file_url(where)) {
            WHEELYARD_ASSIGN(const auto url, base::parse_url(where));
            WHEELYARD_ASSIGN(path, base::file_path(url));
        }
        std::error_code error;
        if (const auto status = fs::status(path, error); !fs::is_directory(status)) {
            // The words of pip's _internal/index/sources.py.
            const bool is_url = simple::is_file_url(where);
            left_out = is_url || fs::exists(status)
                           ? "it is neither a file nor a directory"
                           : "it is either a non-existing path or lacks a specific scheme";
            return std::nullopt;
        }
        WHEELYARD_ASSIGN(auto page, list_folder(path));
        return Listing{std::move(page), path, path};
    }
    WHEELYARD_ASSIGN(const auto url, base::parse_url(where));
    WHEELYARD_ASSIGN(const auto answer, http_.get(where));
    if (answer.status != 200) {
        return base::fail_for_now("simple.http", "A find-links page answers " + std::to_string(answer.status),
                                  without_secrets(where));
    }
    WHEELYARD_ASSIGN(auto page, simple::parse_project_html(answer.body, url));
    return Listing{std::move(page), without_secrets(where), {}};
}

base::Result<std::vector<Listing>> Places::ask(const std::string& project, std::vector<std::string>& asked,
                                               std::optional<base::Error>& unanswered) {
    WHEELYARD_ASSIGN(const auto found, places());
    std::vector<Listing> listings;
    for (const auto& place : found) {
        const std::string shown = without_secrets(place.where);
        if (!is_secure_place(place.where, pip_.trusted_hosts())) {
            asked.push_back(shown + " (" + place.origin + "; left out: http, and no trusted-host)");
            continue;
        }
        std::string left_out;
        auto listing = ask_place(place, project, left_out);
        if (!listing) {
            const bool is_optional = place.is_extra || (place.find_links && is_web(place.where));
            if (!is_optional) return tl::unexpected(listing.error());
            left_out = "does not answer";
            warn_once("Could not fetch URL " + shown + ": " + listing.error().sentence + " - skipping");
            if (!unanswered) unanswered = listing.error();
        } else if (!left_out.empty()) {
            warn_once("Location '" + shown + "' is ignored: " + left_out + ".");
        }
        asked.push_back(shown + " (" + place.origin + (left_out.empty() ? "" : "; left out: " + left_out) +
                        ")");
        if (listing && *listing) listings.push_back(std::move(**listing));
    }
    return listings;
}

base::Result<std::string> Places::names() {
    WHEELYARD_ASSIGN(const auto all, places());
    std::vector<std::string> shown;
    for (const auto& place : all)
        shown.push_back(without_secrets(place.where));
    return base::join(shown, ", ");
}

}  // namespace wheelyard::builder
