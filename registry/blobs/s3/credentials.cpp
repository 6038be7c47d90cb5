#include "registry/blobs/s3/credentials.hpp"

#include <cstdlib>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::blobs {
namespace {

constexpr std::uint64_t max_credentials_bytes = 64 * base::kib;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

tl::unexpected<base::Error> fail_credentials(std::string sentence, std::string value, std::string advice) {
    return base::fail_as(base::ErrorKind::unauthorized, base::Recovery::person,
                         {"s3.credentials", std::move(sentence), std::move(value), std::move(advice)});
}

}  // namespace

base::Result<S3Credentials> parse_credentials(std::string_view text, std::string_view profile) {
    S3Credentials found;
    std::vector<std::string_view> plain;
    bool is_ini = false;
    bool is_ours = false;
    for (const std::string_view line : base::split_lines(text)) {
        const std::string_view trimmed = base::trim(line);
        if (trimmed.empty() || trimmed.starts_with('#')) continue;
        if (trimmed.starts_with('[')) {
            is_ini = true;
            is_ours = trimmed.ends_with(']') && base::trim(trimmed.substr(1, trimmed.size() - 2)) == profile;
            continue;
        }
        if (!is_ini) {
            plain.push_back(trimmed);
            continue;
        }
        const auto equals = trimmed.find('=');
        if (!is_ours || equals == std::string_view::npos) continue;
        const std::string name = base::ascii_lower(base::trim(trimmed.substr(0, equals)));
        const std::string value(base::trim(trimmed.substr(equals + 1)));
        if (name == "aws_access_key_id") found.access_key = value;
        if (name == "aws_secret_access_key") found.secret_key = value;
        if (name == "aws_session_token") found.session_token = value;
    }
    if (!is_ini && plain.size() == 2) found = {std::string(plain[0]), std::string(plain[1])};
    if (!found.access_key.empty() && !found.secret_key.empty()) return found;
    return fail_credentials("The credentials of the blob store are not in the expected form", {},
                            "write two lines, access key and secret key, or a profile `[" +
                                std::string(profile) + "]` as Amazon's tools read it");
}

base::Result<S3Credentials> find_credentials(const std::filesystem::path& file) {
    std::filesystem::path source = file;
    if (source.empty()) {
        S3Credentials found{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                            variable("AWS_SESSION_TOKEN")};
        if (!found.access_key.empty() && !found.secret_key.empty()) return found;
        source = variable("AWS_SHARED_CREDENTIALS_FILE");
        if (source.empty())
            return fail_credentials("There are no credentials of the blob store", {},
                                    "set blobs_credentials_file in [stores], or AWS_ACCESS_KEY_ID and "
                                    "AWS_SECRET_ACCESS_KEY in the environment");
    }
    const auto text = base::read_file(source, max_credentials_bytes);
    if (!text)
        return fail_credentials("The credentials of the blob store cannot be read", text.error().text(),
                                "let the user of the registry read the file, and nobody else");
    const std::string profile = variable("AWS_PROFILE");
    auto parsed = parse_credentials(*text, profile.empty() ? "default" : std::string_view(profile));
    if (!parsed) parsed.error().value = source.native();
    return parsed;
}

}  // namespace wheelyard::blobs
