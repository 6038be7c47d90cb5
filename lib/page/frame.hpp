// The frame of a page of the web UI: head, navigation, footer. Pages have no inline script or style and load nothing from
// other hosts, so the policy below fits them all; it is also in their head, for servers that send no such field.
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
};

struct Frame {
    std::string title;
    std::string root;  // from the page to the folder of the assets: "", "../../"
    Farm farm;
    std::vector<Link> trail;                // the way here, from the front page: links
    std::vector<std::string> scripts = {};  // "search.js"
    std::string feed = {};                  // the page's Atom feed; empty: none
    std::string data_root = {};             // for the script: from the page to the index's folder
    std::string machines =
        {};  // folders of indexes whose node types can be chosen; empty: that of `data_root`
    std::string description = {};  // one sentence for search engines; empty: the title
    bool is_of_server = false;     // rendered for a request: there is a server, with its page for operators
    std::string_view referrer = "same-origin";  // Referrer-Policy of what the page loads
};

// What templates/frame.html shows of it.
struct ShownFrame {
    struct Step {
        std::string url;
        std::string text;
        bool is_here = false;
        void show(Values& to) const;
    };
    std::string title = {};
    std::string description = {};
    std::string referrer = {};
    std::string root = {};
    std::string style = {};
    std::string farm_style = {};
    std::string icon = {};
    std::string feed = {};
    std::vector<std::string> scripts = {};
    std::string data_root = {};
    std::string machines = {};
    std::string home = {};
    std::string logo = {};
    std::string farm = {};
    std::string login = {};
    std::vector<Step> trail = {};
    Html body = {};
    std::string program = {};
    bool is_of_server = false;
    bool is_front = false;
    void show(Values& to) const;
};

// A complete document.
[[nodiscard]] std::string render_page(const Frame& frame, const Html& body);

}  // namespace wheelyard::page
