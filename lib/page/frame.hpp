// The frame of a page of the web UI: head, navigation, footer. Pages have no inline script or style and load
// nothing from other hosts, so the policy below fits them all; it is also in their head, for servers that
// send no such field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/page/farm.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::page {

class Values;

// Content-Security-Policy of every page of the web UI. frame-ancestors works only as a header field.
inline constexpr std::string_view content_policy =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri "
    "'none'; "
    "form-action 'none'";

struct Link {
    std::string url;
    std::string text;
    void show(Values& to) const;
};

struct Frame {
    std::string title;
    std::string root;  // from the page to the folder of the assets: "", "../../"
    Farm farm;
    std::vector<Link> trail;                // the way here, from the front page: links
    std::vector<std::string> scripts = {};  // "search.js"
    std::string feed = {};                  // the page's Atom feed; empty: none
    std::string data_root = {};             // for the script: from the page to the index's folder
    // Folders of indexes whose node types can be chosen; empty: that of `data_root`.
    std::string machines = {};
    std::string description = {};  // one sentence for search engines; empty: the title
    bool is_of_server = false;     // rendered for a request: there is a server, with its page for operators
    std::string_view referrer = "same-origin";  // Referrer-Policy of what the page loads
};

// What templates/frame.html shows.
struct ShownFrame {
    Frame frame = {};
    Html body = {};
    void show(Values& to) const;
};

// A complete document.
[[nodiscard]] std::string render_page(const Frame& frame, const Html& body);

// The form of search.js.
struct ShownSearchForm {
    std::string folders = {};
    std::string wanted = {};
    // Which filters have values: their room is there before the script fills them.
    bool has_pythons = false;
    bool has_machines = false;
    bool has_gpus = false;
    bool has_uses = false;
    void show(Values& to) const;
};

// Hidden until its script shows it. `folders`: from the page to those of search.json, separated by spaces;
// empty: the page's own, which lists all projects without a question. `wanted`: the first question. The page
// has a list with the id "results".
[[nodiscard]] Html render_search_form(std::string_view folders, std::string_view wanted = {});
[[nodiscard]] Html render_search_form(const ShownSearchForm& form);

}  // namespace wheelyard::page
