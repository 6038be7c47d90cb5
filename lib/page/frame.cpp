#include "lib/page/frame.hpp"

#include <string>
#include <vector>

#include "lib/page/assets.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::page {

void Link::show(Values& to) const {
    to("url", url)("text", text)("is_here", url == "./");
}

void ShownFrame::show(Values& to) const {
    std::vector<std::string> scripts;
    for (const std::string& script : frame.scripts)
        scripts.push_back(asset(script).published_name());
    // The root of a server's own page is that of no index.
    const bool is_of_index = frame.machines.empty() && !frame.is_of_server;
    const Farm& farm = frame.farm;
    to("policy", content_policy)("program", WHEELYARD_VERSION);
    to("title", frame.title)("description", frame.description.empty() ? frame.title : frame.description);
    to("referrer", frame.referrer)("root", frame.root)("home", frame.root.empty() ? "./" : frame.root);
    to("style", asset("style.css").published_name())("farm_style", farm.style)("logo", farm.logo);
    to("icon", farm.logo.empty() ? asset("wheel.svg").published_name() : farm.logo)("feed", frame.feed);
    to("scripts", scripts)("data_root", frame.data_root)("act", asset("act.js").published_name());
    to("machines", is_of_index ? frame.data_root : frame.machines);
    to("farm", farm.name.empty() ? "Wheelyard" : farm.name)("login", farm.login)("trail", frame.trail);
    to("is_of_server", frame.is_of_server)("is_front", !frame.is_of_server && frame.root.empty());
    to("body", body);
}

std::string render_page(const Frame& frame, const Html& body) {
    return render("frame.html", ShownFrame{frame, body}).bytes();
}

void ShownSearchForm::show(Values& to) const {
    to("folders", folders)("wanted", wanted)("has_pythons", has_pythons)("has_machines", has_machines);
    to("has_gpus", has_gpus)("has_uses", has_uses);
}

Html render_search_form(std::string_view folders, std::string_view wanted) {
    return render_search_form({.folders = std::string(folders), .wanted = std::string(wanted)});
}

Html render_search_form(const ShownSearchForm& form) {
    return render("search_form.html", form);
}

}  // namespace wheelyard::page
