#include "lib/simple/registry_address.hpp"

#include <cstdint>

#include "lib/base/limits.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::simple {
namespace {

constexpr std::uint64_t max_document_bytes = base::mib;  // it has an eighth of that

base::Result<bool> is_registry(const GetPage& get, const std::string& folder) {
    const auto asked =
        get(folder + "api/v1/openapi.json", {{"Accept", "application/json"}}, max_document_bytes);
    if (!asked && asked.error().kind == base::ErrorKind::too_large) return false;
    WHEELYARD_ASSIGN(const auto answer, asked);
    if (io::is_temporary_status(answer.status))
        return io::fail_status(
            answer.status,
            {"registry.unavailable", "The registry answers " + std::to_string(answer.status) + " now"});
    const auto json = io::parse_json(answer.body);
    return json && json->find("openapi") != nullptr;
}

}  // namespace

std::string folder_above(const std::string& url) {
    const auto path = url.find('/', url.find("://") + 3);
    if (path == std::string::npos || path + 1 == url.size()) return {};
    return url.substr(0, url.rfind('/', url.size() - 2) + 1);
}

base::Status check_registry(const GetPage& get, const std::string& url) {
    const std::string there = url + (url.ends_with('/') ? "" : "/");
    WHEELYARD_ASSIGN(bool is_found, is_registry(get, there));
    if (is_found) return {};
    std::string folder = folder_above(there);
    while (!folder.empty()) {
        is_found = is_registry(get, folder).value_or(false);
        if (is_found) break;
        folder = folder_above(folder);
    }
    const auto parsed = base::parse_url(url);
    return base::fail_as(
        base::ErrorKind::unauthorized, base::Recovery::person,
        {"registry.address",
         "There is no registry at " + (parsed ? parsed->text_without_secrets() : std::string("this URL")),
         {},
         is_found ? "leave off `" + url.substr(folder.size() - 1) + "`"
                  : "its address has neither the name of an index nor `/simple/`"});
}

base::Status check_registry(const GetPage& get, const std::string& url, const io::HttpAnswer& answer) {
    constexpr int no_such_address = 404;
    constexpr int no_such_method = 405;
    const bool is_of_address =
        answer.status == no_such_address || answer.status == no_such_method || !io::parse_json(answer.body);
    return is_refusal(answer.status) && is_of_address ? check_registry(get, url) : base::Status();
}

}  // namespace wheelyard::simple
