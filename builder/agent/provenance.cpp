// Parses lines of two or three fields, and recognises names that look secret.
#include "builder/agent/provenance.hpp"

#include <algorithm>
#include <array>

#include "builder/agent/limits.hpp"
#include "builder/attempt/limits.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"
#include "lib/base/untrusted_file.hpp"
#include "lib/base/utf8.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<std::string_view, 7> secret_words = {"token",  "secret", "pass", "credential",
                                                          "apikey", "_key",   "auth"};
constexpr const char* hidden = "(hidden)";

std::string clean(std::string_view text) {
    std::string shown;
    for (const char c : base::cut_utf8(base::trim(text), max_error_line_bytes))
        shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return shown;
}

bool is_secret_name(const std::string& name) {
    const std::string lower = base::ascii_lower(name);
    return std::any_of(secret_words.begin(), secret_words.end(),
                       [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

wire::Provenance parse_built_by(std::string_view text) {
    wire::Provenance found;
    std::size_t count = 0;
    for (const auto line : base::split_lines(text)) {
        if (++count > max_provenance_lines) break;
        const auto fields = base::split(line, '\t');
        if (fields.size() == 2 && fields[0] == "host") found.host = clean(fields[1]);
        if (fields.size() == 2 && fields[0] == "system") found.system = clean(fields[1]);
        if (fields.size() == 2 && fields[0] == "modules") {
            for (const auto name : base::split(fields[1], ':')) {
                if (!name.empty()) found.modules.push_back(clean(name));
            }
        }
        if (fields.size() == 3 && fields[0] == "tool" && !base::trim(fields[2]).empty())
            found.tools.emplace_back(clean(fields[1]), clean(fields[2]));
        if (fields.size() == 3 && fields[0] == "requirement")
            found.requirements.emplace_back(clean(fields[1]), clean(fields[2]));
    }
    return found;
}

wire::Provenance read_provenance(const AttemptFolder& folder, const EnvironmentMap& environment) {
    const auto text = base::read_untrusted_file(folder.built_by(), max_record_bytes);
    wire::Provenance found = text ? parse_built_by(*text) : wire::Provenance{};
    if (const auto digest = base::sha256_hex_of_file(folder.script())) found.script_sha256 = *digest;
    found.environment = without_secrets(environment);
    return found;
}

wire::NamedTexts without_secrets(const EnvironmentMap& environment) {
    wire::NamedTexts shown;
    for (const auto& [name, value] : environment)
        shown.emplace_back(name, is_secret_name(name) || simple::holds_credentials(value) ? hidden : value);
    return shown;
}

}  // namespace wheelyard::builder
