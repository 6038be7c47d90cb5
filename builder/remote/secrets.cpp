#include "builder/remote/secrets.hpp"

#include <filesystem>

#include "builder/remote/limits.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr const char* hidden = "(hidden)";

// "wy_5f0c9a31d2be_" and 64 hex digits: a registry's token, of any owner.
void hide_tokens(std::string& text) {
    constexpr std::string_view start = "wy_";
    constexpr std::size_t min_token_bytes = 40;
    for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const std::size_t end = text.find_first_not_of("0123456789abcdef_", at + start.size());
        const std::size_t length = (end == std::string::npos ? text.size() : end) - at;
        if (length >= min_token_bytes) text.replace(at, length, hidden);
    }
}

}  // namespace

base::Result<std::vector<std::string>> secrets_of(const Site& site) {
    std::vector<std::string> secrets;
    if (!site.registry) return secrets;
    for (const auto& file : {site.registry->token_file, site.registry->promote_token_file}) {
        std::error_code error;
        if (file.empty() || !std::filesystem::exists(file, error)) continue;
        WHEELYARD_ASSIGN(const std::string text, base::read_untrusted_file(file, max_token_bytes));
        secrets.emplace_back(base::trim(text));
    }
    return secrets;
}

std::string hide_secrets(std::string text, const std::vector<std::string>& secrets) {
    for (const auto& secret : secrets)
        if (!secret.empty()) text = base::replace_all(text, secret, hidden);
    hide_tokens(text);
    // scheme://user:password@host
    for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
        const std::size_t end = text.find_first_of(" \t\r\n\"'<>/?#", at + 3);
        const std::size_t host = text.rfind('@', end == std::string::npos ? end : end - 1);
        if (host != std::string::npos && host >= at + 3) text.replace(at + 3, host - at - 3, hidden);
    }
    return text;
}

}  // namespace wheelyard::builder
