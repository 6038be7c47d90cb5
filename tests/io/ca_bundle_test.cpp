// The CA bundle of each distribution, in trees that look like theirs.
#include "lib/io/curl_library.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::io;
namespace base = wheelyard::base;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path) {
    fs::create_directories(path.parent_path());
    REQUIRE(base::replace_file(path, "certificates"));
}

}  // namespace

TEST_CASE("the CA bundle of each distribution is found") {
    struct Row {
        const char* distribution;
        const char* file;
    };
    for (const auto& [distribution, file] : {
             Row{"Debian 12", "etc/ssl/certs/ca-certificates.crt"},
             Row{"RHEL 8 and 9", "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"},
             Row{"RHEL 6", "etc/pki/tls/certs/ca-bundle.crt"},
             Row{"SLES 15", "var/lib/ca-certificates/ca-bundle.pem"},
             Row{"SLES 11", "etc/ssl/ca-bundle.pem"},
             Row{"OpenSSL", "etc/ssl/cert.pem"},
         }) {
        CAPTURE(distribution);
        const auto dir = base::TempDir::make("ca-bundle").value();
        write(dir.path() / file);
        CHECK(find_ca_bundle(dir.path()) == (dir.path() / file).native());
    }
}

TEST_CASE("a system without a CA bundle, or with a folder or a broken link of its name, has none") {
    const auto dir = base::TempDir::make("ca-bundle").value();
    CHECK(find_ca_bundle(dir.path()).empty());
    fs::create_directories(dir.path() / "etc/ssl/cert.pem");
    fs::create_directories(dir.path() / "etc/ssl/certs");
    fs::create_symlink("/nowhere/bundle", dir.path() / "etc/ssl/certs/ca-certificates.crt");
    CHECK(find_ca_bundle(dir.path()).empty());
    write(dir.path() / "var/lib/ca-certificates/ca-bundle.pem");
    CHECK(find_ca_bundle(dir.path()).ends_with("var/lib/ca-certificates/ca-bundle.pem"));
}

TEST_CASE("a link to a bundle is one") {
    const auto dir = base::TempDir::make("ca-bundle").value();
    write(dir.path() / "store.pem");
    fs::create_directories(dir.path() / "etc/pki/tls/certs");
    fs::create_symlink("../../../../store.pem", dir.path() / "etc/pki/tls/certs/ca-bundle.crt");
    CHECK(find_ca_bundle(dir.path()).ends_with("ca-bundle.crt"));
}
