// The CA bundle's names.
#include "lib/io/curl_library.hpp"

#include <string_view>
#include <system_error>

namespace wheelyard::io {
namespace {

// Each is the file that the distribution's own tool generates (update-ca-certificates, update-ca-trust), so that it
// includes what the site added.
constexpr std::string_view known_files[] = {
    "etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Alpine, Arch
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and later, Fedora, Amazon Linux
    "etc/pki/tls/certs/ca-bundle.crt",                   // RHEL 6; a link to the former on later ones
    "var/lib/ca-certificates/ca-bundle.pem",             // SLES and openSUSE since 12
    "etc/ssl/ca-bundle.pem",                             // SLES 11; a link to the former on later ones
    "etc/ssl/cert.pem",                                  // OpenSSL's own name
};

}  // namespace

std::string find_ca_bundle(const std::filesystem::path& root) {
    for (const auto file : known_files) {
        const auto path = root / file;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path.native();
    }
    return {};
}

}  // namespace wheelyard::io
