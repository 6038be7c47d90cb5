#include "registry/catalog/index_rule.hpp"

#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::catalog {
namespace {

constexpr std::string_view rule_format = "wheelyard.index-rule/1";
constexpr std::string_view read_by_token = "token";

}  // namespace

std::string render_index_rule(const IndexRule& rule) {
    io::Json json = io::Json::object({{"format", rule_format},
                                      {"inherits", io::Json::array_of(rule.inherits)},
                                      {"owns", io::Json::array_of(rule.owns)}});
    if (!rule.upstreams.empty()) json.set("upstreams", io::Json::array_of(rule.upstreams));
    if (rule.is_private) json.set("read", read_by_token);
    return json.render();
}

base::Result<IndexRule> parse_index_rule(std::string index, std::string_view json) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(json));
    IndexRule rule{.index = std::move(index), .inherits = document.texts("inherits")};
    for (auto& name : document.texts("owns"))
        rule.owns.insert(std::move(name));
    rule.upstreams = document.texts("upstreams");
    rule.is_private = document.string_or("read", "") == read_by_token;
    return rule;
}

}  // namespace wheelyard::catalog
