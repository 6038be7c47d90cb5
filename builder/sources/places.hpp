// The places where pip would look for a package, in its order, and the files in each: folders and pages of
// find-links, then index-url, then each extra-index-url.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {

// The files of a project in one place; a find-links place may list other projects' files, too.
struct Listing {
    simple::ProjectPage page;
    std::string place;             // without secrets
    std::filesystem::path folder;  // contains the files that have no URL
    bool is_index = false;         // the page is of this project alone
};

[[nodiscard]] std::string without_secrets(const std::string& url);
// Pure: whether pip accepts this index: https, or http on this machine or a trusted host.
[[nodiscard]] bool is_secure_place(const std::string& url, const std::vector<std::string>& trusted_hosts);

class Places {
  public:
    using DefaultIndex = std::function<base::Result<std::string>()>;
    using Warn = std::function<void(const std::string&)>;

    // `default_index` is called only if no index is configured and no-index is not set, and only once. `warn` gets
    // pip's own warning of each place that pip ignores, once.
    Places(io::HttpClient& http, simple::PipConfig pip, DefaultIndex default_index, Warn warn = {});

    // Appends every place, with its configuration, to `asked`: "https://… (PIP_INDEX_URL)". An index-url that does not
    // answer is an error. Like pip, goes on without a folder that is not there, and without an extra index or a page
    // of find-links that does not answer; then `unanswered` is set, since another version could be chosen.
    [[nodiscard]] base::Result<std::vector<Listing>> ask(const std::string& project,
                                                         std::vector<std::string>& asked,
                                                         std::optional<base::Error>& unanswered);
    // The names of all places, without secrets.
    [[nodiscard]] base::Result<std::string> names();

  private:
    struct Place;
    [[nodiscard]] base::Result<std::vector<Place>> places();
    // nullopt: pip ignores the place, or its index does not have the project.
    [[nodiscard]] base::Result<std::optional<Listing>> ask_place(const Place& place,
                                                                 const std::string& project,
                                                                 std::string& left_out);
    void warn_once(const std::string& warning);

    io::HttpClient& http_;
    simple::PipConfig pip_;
    DefaultIndex ask_default_index_;
    Warn warn_;
    std::set<std::string> warned_ = {};
    std::string default_index_ = {};  // the result of ask_default_index_
};

}  // namespace wheelyard::builder
