// What the templates of the server's own pages show.
#pragma once

#include <string>
#include <vector>

#include "lib/page/html.hpp"

namespace wheelyard::page {
class Values;
}

namespace wheelyard::http {

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

struct ShownMissingProject {
    std::string title = {};
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
