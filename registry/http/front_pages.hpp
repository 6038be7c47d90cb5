// The pages that the server renders itself: the list of indexes, how to use one, and errors for people. No
// I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/page/farm.hpp"
#include "lib/page/html.hpp"
#include "lib/wire/problem.hpp"
#include "registry/http/pypi_json.hpp"

namespace wheelyard::page {
class Values;
}

namespace wheelyard::http {

struct IndexEntry {
    std::string name;
    std::string title = {};     // for people; may be empty
    bool is_advertised = true;  // false: staging of another index, for agents and operators
    bool is_private = false;    // only tokens with the action `read` may read it
    bool is_moving = false;     // its pages are not there yet: its `read` has changed
    bool has_pages = true;      // for people: a search, its projects, its builds
};

// ", but one is called `main`", of those that the front page lists; empty: none is like `name`.
[[nodiscard]] std::string but_one_like(std::string_view name, const std::vector<IndexEntry>& indexes);

// `root` of all pages: from the page to the server's front page, "" or "../../" (forwarded.hpp).
[[nodiscard]] std::string render_front_page(const page::Farm& farm, const std::vector<IndexEntry>& indexes);
// `base_url` is the server's URL as the reader sees it, such as "https://wheels.example.org".
[[nodiscard]] std::string render_index_page(const page::Farm& farm, const IndexEntry& index,
                                            std::string_view base_url);
// The advertised indexes, for programs:
//     {"format":"wheelyard.indexes/1","indexes":[{"name":"main","title":"…","url":"https://…/main/simple/"}]}
[[nodiscard]] std::string render_index_list(const std::vector<IndexEntry>& indexes,
                                            std::string_view base_url);
// `takes_cookie`: whether its address opens to who logs in (cookie.hpp).
[[nodiscard]] std::string render_problem_page(const page::Farm& farm, std::string_view root,
                                              const wire::Problem& problem, bool takes_cookie = true);
// Files in quarantine, storage, tokens and the last changes, for operators: all of it comes by the script,
// from the API.
[[nodiscard]] std::string render_operators_page(const page::Farm& farm, std::string_view root);
// Where people log in, and where a provider sends them back to: the script does both, by the API.
[[nodiscard]] std::string render_login_page(const page::Farm& farm, std::string_view root);
// The 404 of a project in the web UI: which other indexes have it, where to search and to ask. `project`:
// normalized.
[[nodiscard]] std::string render_missing_project_page(const page::Farm& farm, std::string_view root,
                                                      std::string_view index, std::string_view project,
                                                      const std::vector<IndexEntry>& elsewhere = {});
// The page of a project that only an upstream has: its versions, the newest first, as installers get them.
// `base_url`: as for render_index_page().
[[nodiscard]] std::string render_upstream_project_page(const page::Farm& farm, std::string_view root,
                                                       const IndexEntry& index, const PypiProject& project,
                                                       std::string_view upstream, std::string_view base_url);

// What the templates of these pages show.
struct ShownIndexLine {
    std::string link;
    std::string name;
    std::string title;
    void show(page::Values& to) const;
};

struct ShownIndexes {
    std::string title = {};
    std::vector<ShownIndexLine> indexes = {};
    void show(page::Values& to) const;
};

struct ShownProblem {
    std::string title = {};
    page::Html detail = {};
    std::string value = {};
    page::Html advice = {};
    bool needs_token = false;
    std::string login = {};  // to the page of log-ins; empty: nobody can log in
    std::string home = {};
    void show(page::Values& to) const;
};

struct ShownUpstreamVersion {
    std::string version = {};
    std::string files = {};  // "2 wheels, cp311 cp312, and the source"
    bool is_yanked = false;
    void show(page::Values& to) const;
};

// Of a project that the index itself has not.
struct ShownMissingProject {
    std::string title = {};
    std::string upstream = {};  // that has it; empty: none
    std::string source = {};    // with an upstream: the address, with pip's option where it needs one
    std::vector<ShownUpstreamVersion> versions = {};
    std::uint64_t more = 0;                      // versions that are not shown
    std::vector<ShownIndexLine> elsewhere = {};  // its page in other indexes
    std::string index = {};
    std::string project = {};
    std::string folder = {};  // from the page to that of the index
    page::Html form = {};
    void show(page::Values& to) const;
};

struct ShownClientFile {
    std::string about;
    std::string text;
    std::string how = {};  // the command that writes it
    void show(page::Values& to) const;
};

struct ShownIndexPage {
    std::string name = {};
    std::string title = {};
    std::string source = {};  // the address, with pip's option where it needs one
    bool has_pages = false;
    std::vector<ShownClientFile> files = {};
    void show(page::Values& to) const;
};

}  // namespace wheelyard::http
