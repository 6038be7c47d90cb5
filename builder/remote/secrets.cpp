#include "builder/remote/secrets.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// "wy_5f0c9a31d2be_" and 64 hex digits: a registry's token, of any owner.
void find_tokens(std::string_view text, std::vector<Range>& found) {
    constexpr std::string_view start = "wy_";
    constexpr std::size_t min_token_bytes = 40;
    for (std::size_t at = text.find(start); at != std::string_view::npos; at = text.find(start, at + 1)) {
        const std::size_t end =
            std::min(text.find_first_not_of("0123456789abcdef_", at + start.size()), text.size());
        if (end - at >= min_token_bytes) found.push_back({at, end});
    }
}

// scheme://user:password@host
void find_passwords(std::string_view text, std::vector<Range>& found) {
    for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
        const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'<>/?#", at + 3), text.size());
        const std::size_t host = text.substr(at + 3, end - at - 3).rfind('@');
        if (host != std::string_view::npos) found.push_back({at + 3, at + 3 + host});
    }
}

// In their order; none overlaps another.
std::vector<Range> find_secrets(std::string_view text, const std::vector<std::string>& secrets) {
    std::vector<Range> found;
    for (const std::string& secret : secrets) {
        if (secret.empty()) continue;
        for (std::size_t at = text.find(secret); at != std::string_view::npos;
             at = text.find(secret, at + secret.size()))
            found.push_back({at, at + secret.size()});
    }
    find_tokens(text, found);
    find_passwords(text, found);
    std::sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::vector<Range> merged;
    for (const Range& range : found) {
        if (!merged.empty() && range.begin < merged.back().end)
            merged.back().end = std::max(merged.back().end, range.end);
        else
            merged.push_back(range);
    }
    return merged;
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

std::string hide_secrets(const std::string& text, const std::vector<std::string>& secrets) {
    std::string shown;
    std::size_t at = 0;
    for (const Range& range : find_secrets(text, secrets)) {
        shown.append(text, at, range.begin - at).append("(hidden)");
        at = range.end;
    }
    return shown.append(text, at);
}

std::string mask_secrets(std::string text, const std::vector<std::string>& secrets) {
    for (const Range& range : find_secrets(text, secrets))
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(range.begin), range.end - range.begin, '*');
    return text;
}

}  // namespace wheelyard::builder
