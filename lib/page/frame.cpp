#include "lib/page/frame.hpp"

#include <utility>

#include "lib/page/assets.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::page {

void ShownFrame::show(Values& to) const {
    to("policy", content_policy)("title", title)("description", description)("referrer", referrer)(
        "root", root)("style", style);
    to("farm_style", farm_style)("icon", icon)("feed", feed)("scripts", scripts)("data_root", data_root)(
        "machines", machines);
    to("home", home)("logo", logo)("farm", farm)("login", login)("trail", trail)("body", body)("program",
                                                                                               program);
    to("is_of_server", is_of_server)("is_front", is_front);
}

void ShownFrame::Step::show(Values& to) const {
    to("url", url)("text", text)("is_here", is_here);
}

std::string render_page(const Frame& frame, const Html& body) {
    ShownFrame shown;
    shown.title = frame.title;
    shown.referrer = frame.referrer;
    shown.description = frame.description.empty() ? frame.title : frame.description;
    shown.root = frame.root;
    shown.style = asset("style.css").published_name();
    shown.farm_style = frame.farm.style;
    shown.logo = frame.farm.logo;
    shown.icon = frame.farm.logo.empty() ? asset("wheel.svg").published_name() : frame.farm.logo;
    shown.feed = frame.feed;
    for (const std::string& script : frame.scripts)
        shown.scripts.push_back(asset(script).published_name());
    shown.data_root = frame.data_root;
    // The root of a server's own page is that of no index.
    shown.machines = frame.machines.empty() && !frame.is_of_server ? frame.data_root : frame.machines;
    shown.home = frame.root.empty() ? "./" : frame.root;
    shown.farm = frame.farm.name.empty() ? "Wheelyard" : frame.farm.name;
    shown.login = frame.farm.login;
    for (const Link& link : frame.trail)
        shown.trail.push_back({link.url, link.text, link.url == "./"});
    shown.body = body;
    shown.program = WHEELYARD_VERSION;
    shown.is_of_server = frame.is_of_server;
    shown.is_front = !frame.is_of_server && frame.root.empty();
    return render("frame.html", shown).bytes();
}

}  // namespace wheelyard::page
