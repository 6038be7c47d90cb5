// Fills the templates of the server's own pages.
#include "registry/http/front_pages.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"
#include "lib/simple/client_config.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::http {

void ShownIndexLine::show(page::Values& to) const {
    to("link", link)("name", name)("title", title);
}

void ShownIndexes::show(page::Values& to) const {
    to("title", title)("indexes", indexes);
}

void ShownProblem::show(page::Values& to) const {
    to("title", title)("detail", detail)("value", value)("advice", advice)("needs_token", needs_token)(
        "login", login)("home", home);
}

void ShownMissingProject::show(page::Values& to) const {
    to("title", title)("upstream", upstream)("source", source)("versions", versions)("more", more);
    to("index", index)("project", project)("folder", folder)("form", form)("elsewhere", elsewhere);
}

void ShownUpstreamVersion::show(page::Values& to) const {
    to("version", version)("files", files)("is_yanked", is_yanked);
}

void ShownClientFile::show(page::Values& to) const {
    to("about", about)("text", text)("how", how);
}

void ShownIndexPage::show(page::Values& to) const {
    to("name", name)("title", title)("source", source)("has_pages", has_pages)("files", files);
}

namespace {

page::Frame server_frame(const page::Farm& farm, std::string_view root, std::string_view title) {
    page::Frame frame;
    frame.title = title;
    frame.root = root;
    frame.farm = farm;
    frame.is_of_server = true;
    return frame;
}

std::string simple_url(std::string_view index, std::string_view base_url) {
    return std::string(base_url) + "/" + base::encode_percent(index) + "/simple/";
}

// With pip's option where it needs one.
std::string source_for_pip(std::string_view index, std::string_view base_url) {
    const std::string url = simple_url(index, base_url);
    return url + simple::pip_trust_option(url);
}

constexpr std::size_t max_upstream_versions = 50;

ShownUpstreamVersion shown_version(const std::string& version, const std::vector<io::Json>& files) {
    ShownUpstreamVersion shown{.version = version, .is_yanked = true};
    std::set<std::string> pythons;
    std::size_t wheels = 0;
    for (const io::Json& file : files) {
        shown.is_yanked = shown.is_yanked && is_yanked(file);
        const auto name = wheel::parse_wheel_filename(file.string_or("filename", {}));
        if (!name) continue;
        ++wheels;
        pythons.insert(name->pythons.begin(), name->pythons.end());
    }
    const bool has_source = wheels < files.size();
    if (wheels > 0)
        shown.files = std::to_string(wheels) + (wheels == 1 ? " wheel, " : " wheels, ") +
                      base::join({pythons.begin(), pythons.end()}, " ") + (has_source ? ", and " : "");
    if (has_source) shown.files += "the source";
    return shown;
}

std::string render_project(page::Frame frame, ShownMissingProject shown) {
    shown.form = page::render_search_form(shown.folder + "project/", shown.project);
    frame.trail = {{shown.folder + "project/", shown.index},
                   {shown.folder + "builds/", "Builds"},
                   {shown.folder + "site/", "Sites"}};
    frame.scripts = {"common.js", "copy.js", "live.js", "shards.js", "search.js"};
    frame.data_root = shown.folder;
    return page::render_page(frame, page::render("missing_project.html", shown));
}

}  // namespace

std::string render_front_page(const page::Farm& farm, const std::vector<IndexEntry>& indexes) {
    ShownIndexes shown{.title = "Indexes"};
    for (const IndexEntry& index : indexes) {
        if (index.is_advertised)
            shown.indexes.push_back({base::encode_percent(index.name) + "/", index.name, index.title});
    }
    page::Frame frame = server_frame(farm, "", shown.title);
    frame.scripts = {"common.js"};
    return page::render_page(frame, page::render("indexes.html", shown));
}

std::string render_index_list(const std::vector<IndexEntry>& indexes, std::string_view base_url) {
    io::Json list = io::Json::array();
    for (const IndexEntry& index : indexes) {
        if (!index.is_advertised) continue;
        io::Json entry = io::Json::object(
            {{"name", index.name}, {"title", index.title}, {"url", simple_url(index.name, base_url)}});
        if (index.is_private) entry.set("read", "token");
        list.push(std::move(entry));
    }
    return io::Json::object({{"format", "wheelyard.indexes/1"}, {"indexes", std::move(list)}}).render() +
           "\n";
}

std::string render_problem_page(const page::Farm& farm, std::string_view root, const wire::Problem& problem,
                                bool takes_cookie) {
    ShownProblem shown{.title = std::to_string(problem.status) + " " + problem.title,
                       .value = problem.value,
                       .home = root.empty() ? "./" : std::string(root)};
    shown.detail.prose(problem.detail);
    if (!problem.advice.empty()) shown.advice.prose(problem.advice);
    shown.needs_token = problem.status == 401 && takes_cookie;
    shown.login = farm.login;
    page::Frame frame = server_frame(farm, root, shown.title);
    if (shown.needs_token) frame.scripts = {"common.js"};
    return page::render_page(frame, page::render("problem.html", shown));
}

std::string render_operators_page(const page::Farm& farm, std::string_view root) {
    page::Frame frame = server_frame(farm, root, "For operators");
    frame.scripts = {"common.js", "operate.js"};
    frame.data_root = root;
    return page::render_page(frame, page::named_template("operators.html").render({}));
}

std::string render_login_page(const page::Farm& farm, std::string_view root) {
    page::Frame frame = server_frame(farm, root, "Log in");
    frame.scripts = {"common.js", "login.js"};
    frame.data_root = root;
    frame.referrer = "no-referrer";
    return page::render_page(frame, page::named_template("login.html").render({}));
}

std::string render_missing_project_page(const page::Farm& farm, std::string_view root, std::string_view index,
                                        std::string_view project, const std::vector<IndexEntry>& elsewhere) {
    ShownMissingProject shown{
        .title = "404 Not found", .index = std::string(index), .project = std::string(project)};
    shown.folder = std::string(root) + base::encode_percent(index) + "/";
    for (const IndexEntry& other : elsewhere)
        shown.elsewhere.push_back({std::string(root) + base::encode_percent(other.name) + "/project/" +
                                       base::encode_percent(project) + "/",
                                   other.name, other.title});
    page::Frame frame = server_frame(farm, root, shown.title);
    return render_project(std::move(frame), std::move(shown));
}

std::string render_upstream_project_page(const page::Farm& farm, std::string_view root,
                                         const IndexEntry& index, const PypiProject& project,
                                         std::string_view upstream, std::string_view base_url) {
    ShownMissingProject shown{.title = project.name,
                              .upstream = std::string(upstream),
                              .index = index.name,
                              .project = project.name};
    shown.source = source_for_pip(index.name, base_url);
    shown.folder = std::string(root) + base::encode_percent(index.name) + "/";
    const std::size_t count = std::min(project.releases.size(), max_upstream_versions);
    for (auto release = project.releases.rbegin(); shown.versions.size() < count; ++release)
        shown.versions.push_back(shown_version(release->first, release->second));
    shown.more = project.releases.size() - count;
    page::Frame frame = server_frame(farm, root, shown.title);
    return render_project(std::move(frame), std::move(shown));
}

std::string render_index_page(const page::Farm& farm, const IndexEntry& index, std::string_view base_url) {
    const simple::ClientSource source{index.name, simple_url(index.name, base_url), index.is_private};
    ShownIndexPage shown{.name = index.name, .title = index.title};
    shown.source = source_for_pip(index.name, base_url);
    shown.has_pages = index.has_pages;
    for (const auto& file : simple::client_files())
        shown.files.push_back(
            {std::string(file.word) + ": " + std::string(file.where) + ", " + std::string(file.hint),
             simple::render_client_config(file.kind, source)});
    const std::vector<simple::NodeType> nodes{{source, {}, {}}};
    for (const auto& [kind, words] : {std::pair(simple::ModuleKind::lmod, "Lmod"),
                                      std::pair(simple::ModuleKind::tcl, "Environment Modules")})
        shown.files.push_back(
            {std::string(words) + ": a modulefile, also for several node types",
             simple::render_modulefile(kind, index.name, "/path/to/that/folder", nodes),
             "wheelyard-indexer client-config --to FOLDER --node " + index.name + "=" + source.place});
    page::Frame frame = server_frame(farm, "../", index.name);
    frame.scripts = {"common.js", "copy.js", "week.js"};
    if (index.has_pages) {
        frame.trail = {{"project/", index.name}, {"builds/", "Builds"}, {"site/", "Sites"}};
        frame.machines = "./";
    }
    return page::render_page(frame, page::render("index.html", shown));
}

std::string but_one_like(std::string_view name, const std::vector<IndexEntry>& indexes) {
    std::vector<std::string> names;
    for (const IndexEntry& index : indexes) {
        if (index.is_advertised && !index.is_private) names.push_back(index.name);
    }
    const auto likely = base::nearest(name, names);
    return likely ? ", but one is called `" + *likely + "`" : "";
}

}  // namespace wheelyard::http
