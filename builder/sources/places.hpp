// The places where pip would look for a package, in its order, and the files in each: folders and pages of
// find-links, then index-url, then each extra-index-url.
#pragma once

#include <filesystem>
#include <functional>
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
};

[[nodiscard]] std::string without_secrets(const std::string& url);
// Pure: whether pip accepts this index: https, or http on this machine or a trusted host.
[[nodiscard]] bool is_secure_place(const std::string& url, const std::vector<std::string>& trusted_hosts);

class Places {
  public:
    using DefaultIndex = std::function<base::Result<std::string>()>;

    // `default_index` is called only if no index is configured and no-index is not set, and only once.
    Places(io::HttpClient& http, simple::PipConfig pip, DefaultIndex default_index);

    // Appends every place, with its configuration, to `asked`: "https://… (PIP_INDEX_URL)". A place that does
    // not answer is an error: without it, another version could be chosen.
    [[nodiscard]] base::Result<std::vector<Listing>> ask(const std::string& project,
                                                         std::vector<std::string>& asked);
    // The names of all places, without secrets.
    [[nodiscard]] base::Result<std::string> names();

  private:
    struct Place;
    [[nodiscard]] base::Result<std::vector<Place>> places();
    [[nodiscard]] base::Result<Listing> ask_find_links(const std::string& where);

    io::HttpClient& http_;
    simple::PipConfig pip_;
    DefaultIndex ask_default_index_;
    std::string default_index_ = {};  // the result of ask_default_index_
};

}  // namespace wheelyard::builder
