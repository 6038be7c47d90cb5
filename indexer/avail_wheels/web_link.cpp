// --web: the address of the index's pages that sets "My machine" to this node.
#include "indexer/avail_wheels/run.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "indexer/avail_wheels/farm.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

namespace {

struct NodeTypeOfSite {
    const status::SiteReport* site;
    const status::NodeReport* type;
    [[nodiscard]] std::string name() const {
        return status::node_type_name(site->site, type->name, type->accelerator);
    }
};

bool suits(const status::NodeReport& type, const Node& node) {
    if (!type.machine.empty() && !node.machine.empty() && type.machine != node.machine) return false;
    // Of a node whose GPUs are not known none is assumed: its reader would be shown wheels that do not run
    // here.
    if (!node.gpus || node.gpus->archs.empty()) return type.architectures.empty() && type.gpus == 0;
    const auto& here = node.gpus->archs;
    return std::any_of(here.begin(), here.end(), [&](const std::string& arch) {
        const std::string plain = arch.substr(0, arch.find(':'));  // "gfx90a:xnack-"
        return std::any_of(type.architectures.begin(), type.architectures.end(),
                           [&](const std::string& one) { return one.substr(0, one.find(':')) == plain; });
    });
}

std::vector<NodeTypeOfSite> types_of(const Node& node, const std::vector<status::SiteReport>& sites) {
    std::vector<NodeTypeOfSite> named;
    std::vector<NodeTypeOfSite> suitable;
    for (const status::SiteReport& site : sites) {
        for (const status::NodeReport& type : site.nodes) {
            if (!node.name.empty() && type.name == node.name) named.push_back({&site, &type});
            if (suits(type, node)) suitable.push_back({&site, &type});
        }
    }
    return named.empty() ? suitable : named;
}

}  // namespace

base::Result<WebLink> make_web_link(const Options& options, const Node& node,
                                    const std::vector<status::SiteReport>& sites) {
    std::string place = options.source.index_url;
    while (place.ends_with('/'))
        place.pop_back();
    constexpr std::string_view pages = "/simple";
    if (!place.ends_with(pages)) {
        const auto url = base::parse_url(place);
        return base::fail(
            "web.no_index", "No index that has a web UI is named",
            place.empty() || url ? (url ? url->text_without_secrets() : place) : url.error().value,
            "name one of a Wheelyard registry with --index-url: https://farm.example/main/simple/");
    }
    place.resize(place.size() - pages.size());
    if (auto url = base::parse_url(place)) {
        url->userinfo.clear();  // a browser asks for a token by itself
        place = url->text();
    }

    WebLink link;
    const auto types = types_of(node, sites);
    if (types.size() == 1) link.node = types.front().name();
    if (types.size() > 1) {
        for (const NodeTypeOfSite& one : types)
            link.node_types.push_back(one.name());
    }
    if (!node.pythons.empty()) link.python = node.pythons.front().text();

    const auto& wanted = options.query.wanted;
    const bool is_project = wanted.size() == 1 && !wanted.front().is_glob();
    const bool is_all = wanted.size() == 1 && wanted.front().pattern == "*";
    std::vector<std::string> query;
    const auto add = [&query](const std::string& name, const std::string& value) {
        if (!value.empty()) query.push_back(name + "=" + base::encode_percent(value));
    };
    if (is_project) {
        link.url = place + "/project/" + base::encode_percent(wanted.front().pattern) + "/";
    } else if (is_all && types.size() == 1) {
        link.url = place + "/site/" + base::encode_percent(types.front().site->site) + "/";
    } else {
        link.url = place + "/project/";
        if (!is_all && wanted.size() == 1) add("q", base::replace_all(wanted.front().pattern, "*", ""));
    }
    add("node", link.node);
    add("my_python", link.python);  // "python" is a filter of pages
    if (!query.empty()) link.url += "?" + base::join(query, "&");
    return link;
}

int answer_web(const Options& options, const Node& node, const simple::GetPage& get, std::ostream& out,
               std::ostream& err) {
    std::vector<status::SiteReport> sites;
    if (auto status = read_index_status(get, options))
        sites = std::move(status->sites);
    else if (status.error().kind != base::ErrorKind::missing)
        err << "avail_wheels: warning: " << status.error().text() << '\n';
    const auto link = make_web_link(options, node, sites);
    if (!link) {
        err << "avail_wheels: " << link.error().text() << '\n';
        return 1;
    }
    if (options.display.format == "json") {
        out << io::Json::object({{"format", "wheelyard.web_link/1"},
                                 {"url", link->url},
                                 {"node", link->node},
                                 {"python", link->python},
                                 {"node_types", io::Json::array_of(link->node_types)}})
                   .render()
            << '\n';
        return 0;
    }
    out << link->url << '\n';
    if (!link->node_types.empty())
        err << "avail_wheels: several node types suit this node; choose one under \"My machine\", or name it "
               "with "
               "--on: "
            << base::join(link->node_types, "; ") << '\n';
    else if (link->node.empty() && !sites.empty())
        err << "avail_wheels: no node type that sites report suits this node; \"My machine\" of the pages "
               "lists "
               "them\n";
    return 0;
}

}  // namespace wheelyard::avail_wheels
