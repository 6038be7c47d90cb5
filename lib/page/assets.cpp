#include "lib/page/assets.hpp"

#include <algorithm>

#include "lib/base/check.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::page {

std::string Asset::published_name() const {
    const auto dot = name.rfind('.');
    std::string published(name.substr(0, dot));
    return published.append(".").append(hash).append(name.substr(dot));
}

const Asset& asset(std::string_view name) {
    const auto all = assets();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Asset& a) { return a.name == name; });
    WHEELYARD_CHECK(found != all.end());
    return *found;
}

const Asset* find_asset(std::string_view published_name) {
    for (const Asset& candidate : assets()) {
        if (candidate.published_name() == published_name) return &candidate;
    }
    return nullptr;
}

std::string look() {
    std::string text(WHEELYARD_VERSION);
    for (const Asset& each : assets())
        text.append(" ").append(each.hash);
    for (const TemplateFile& each : template_files())
        text.append(" ").append(each.hash);
    return text;
}

}  // namespace wheelyard::page
