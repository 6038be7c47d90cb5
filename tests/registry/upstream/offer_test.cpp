// What is offered of an upstream: projects by globs, files by name, hash, host and age.
#include "registry/upstream/offer.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"

using namespace wheelyard;
using registry::UpstreamConfig;
using registry::UpstreamFile;
using registry::Withheld;

namespace {

constexpr base::UnixMicros day = 24LL * 3600 * 1'000'000;
constexpr base::UnixMicros noon = 20'000 * day;

UpstreamConfig upstream() {
    UpstreamConfig config;
    config.url = "https://index.example.org/simple/";
    config.hosts = {"index.example.org", "files.example.org", "10.0.0.1"};
    config.private_hosts = {"10.0.0.1"};
    return config;
}

UpstreamFile file(const std::string& filename, const std::string& url = "https://files.example.org/x") {
    UpstreamFile made;
    made.link.filename = filename;
    made.link.url = url;
    made.link.sha256 = std::string(64, 'a');
    made.link.upload_time = made.first_seen = noon - 100 * day;
    return made;
}

}  // namespace

TEST_CASE("a host is permitted with its port, and without one with the usual port of the scheme") {
    UpstreamConfig config;
    config.hosts = {"a.example.org", "b.example.org:8443", "10.0.0.1", "10.0.0.2:8080"};
    config.private_hosts = {"10.0.0.1", "10.0.0.2:8080"};
    for (const char* url :
         {"https://a.example.org/x", "https://A.example.org:443/x", "https://b.example.org:8443/x",
          "http://10.0.0.1/x", "https://10.0.0.1/x", "http://10.0.0.2:8080/x"}) {
        CAPTURE(url);
        CHECK(may_request(config, url));
    }
    for (const char* url :
         {"https://a.example.org:8443/x", "https://a.example.org:80/x", "http://a.example.org/x",
          "http://a.example.org:443/x", "https://b.example.org/x", "http://b.example.org:8443/x",
          "http://10.0.0.1:6379/x", "http://10.0.0.2/x", "https://10.0.0.2:22/x"}) {
        CAPTURE(url);
        CHECK_FALSE(may_request(config, url));
    }
}

TEST_CASE("attestations are asked for at the hosts of files only") {
    UpstreamFile attested = file("six-1.0-py3-none-any.whl");
    CHECK_FALSE(has_attestations(attested, upstream()));
    for (const auto& [url, is_asked] :
         {std::pair("https://index.example.org/integrity/six/1.0/x/provenance", true),
          std::pair("http://10.0.0.1/provenance", true),
          std::pair("http://index.example.org/integrity/six/1.0/x/provenance", false),
          std::pair("https://other.example.org/provenance", false), std::pair("/integrity/x", false),
          std::pair("file:///etc/passwd", false)}) {
        CAPTURE(url);
        attested.link.provenance_url = url;
        CHECK(has_attestations(attested, upstream()) == is_asked);
    }
}

TEST_CASE("deny wins over allow, and no allow permits all") {
    UpstreamConfig config = upstream();
    CHECK(registry::is_permitted(config, "six"));
    config.allow = {"six", "our-*"};
    CHECK(registry::is_permitted(config, "six"));
    CHECK(registry::is_permitted(config, "our-tools"));
    CHECK_FALSE(registry::is_permitted(config, "seven"));
    config.deny = {"our-[st]*"};
    CHECK_FALSE(registry::is_permitted(config, "our-tools"));
    CHECK(registry::is_permitted(config, "our-own"));
}

TEST_CASE("a file is offered only if it is a wheel of the project, with a hash, from a named host over TLS") {
    const UpstreamConfig config = upstream();
    const auto why = [&](const UpstreamFile& of) { return why_withheld(of, "six", config, noon); };
    CHECK(why(file("six-1.0-py3-none-any.whl")) == Withheld::nothing);
    CHECK(why(file("Six-1.0-py3-none-any.whl")) == Withheld::nothing);
    CHECK(why(file("six-1.0.tar.gz")) == Withheld::sdist);
    CHECK(why(file("six-1.0.zip")) == Withheld::not_a_wheel);
    CHECK(why(file("six-1.0-py3.egg")) == Withheld::not_a_wheel);
    CHECK(why(file("torch-1.0-py3-none-any.whl")) == Withheld::other_project);
    CHECK(why(file("six_torch-1.0-py3-none-any.whl")) == Withheld::other_project);
    UpstreamFile unhashed = file("six-1.0-py3-none-any.whl");
    unhashed.link.sha256.clear();
    CHECK(why(unhashed) == Withheld::no_hash);
    for (const char* url : {"https://evil.example.org/x", "http://files.example.org/x", "file:///etc/passwd",
                            "https://files.example.org.evil.org/x", "https://files.example.org@evil.org/x",
                            "https://127.0.0.1/x", "ftp://files.example.org/x", ""})
        CHECK_MESSAGE(why(file("six-1.0-py3-none-any.whl", url)) == Withheld::host, url);
    CHECK(why(file("six-1.0-py3-none-any.whl", "https://FILES.example.org/x")) == Withheld::nothing);
    CHECK(why(file("six-1.0-py3-none-any.whl", "http://10.0.0.1/x")) == Withheld::nothing);
}

TEST_CASE("sdists are offered where the index takes them, with the same conditions, and never as .zip") {
    UpstreamConfig config = upstream();
    config.sdists = true;
    const auto why = [&](const UpstreamFile& of) { return why_withheld(of, "six", config, noon); };
    CHECK(why(file("six-1.0.tar.gz")) == Withheld::nothing);
    CHECK(why(file("Six-1.0.tar.gz")) == Withheld::nothing);
    CHECK(why(file("six-1.0.zip")) == Withheld::not_a_wheel);
    CHECK(why(file("six-torch-1.0.tar.gz")) == Withheld::other_project);
    CHECK(why(file("six-1.0.tar.gz", "https://evil.example.org/x")) == Withheld::host);
}

TEST_CASE(
    "variant wheels, and what the variants of a version are, are offered where the index takes variants") {
    UpstreamConfig config = upstream();
    const auto why = [&](const UpstreamFile& of) { return why_withheld(of, "six", config, noon); };
    for (const char* name : {"six-1.0-py3-none-any-sm_90.whl", "six-1.0-variants.json"})
        CHECK(why(file(name)) == Withheld::variant);
    config.policy.variants = true;
    for (const char* name :
         {"six-1.0-py3-none-any-sm_90.whl", "six-1.0-py3-none-any-null.whl", "six-1.0-variants.json"})
        CHECK(why(file(name)) == Withheld::nothing);
    CHECK(why(file("torch-1.0-variants.json")) == Withheld::other_project);
    for (const char* name :
         {"six-variants.json", "-1.0-variants.json", "six-x-variants.json", "variants.json"})
        CHECK(why(file(name)) == Withheld::not_a_wheel);
    CHECK(why(file("six-1.0-variants.json", "https://evil.example.org/x")) == Withheld::host);
}

TEST_CASE("a version's variants are JSON of at most 1 MiB with the hash and the size of the page") {
    const auto check = [](std::string_view bytes, std::string_view promised,
                          std::uint64_t size) -> std::string {
        UpstreamFile of = file("six-1.0-variants.json");
        of.link.sha256 = base::sha256_hex(promised);
        of.link.size_bytes = size;
        const auto checked = registry::check_text(of, bytes);
        return checked ? "" : checked.error().code;
    };
    CHECK(check("{}", "{}", 2).empty());
    CHECK(check("{}", "{}", 0).empty());
    CHECK(check("{ }", "{}", 2) == "upstream.variants_changed");
    CHECK(check("{}", "{}", 3) == "upstream.size");
    CHECK(check("{", "{", 1) == "upstream.refused");
    CHECK(registry::max_bytes_of_text(file("six-1.0-variants.json")) == 1'048'576);
}

TEST_CASE("METADATA has the hash of the page and is no JSON") {
    UpstreamFile of = file("six-1.0-py3-none-any.whl");
    of.link.has_metadata = true;
    of.link.metadata_sha256 = base::sha256_hex("Name: six");
    CHECK(registry::check_text(of, "Name: six"));
    CHECK(registry::check_text(of, "Name: sax").error().code == "upstream.hash");
}

TEST_CASE("a file younger than the cooldown is withheld, and the offer changes when it ends") {
    UpstreamConfig config = upstream();
    config.cooldown_days = 3;
    registry::CachedPage page;
    const auto add = [&](base::UnixMicros uploaded, base::UnixMicros seen) {
        UpstreamFile made = file("six-" + std::to_string(page.files.size()) + "-py3-none-any.whl");
        made.link.upload_time = uploaded;
        made.first_seen = seen;
        page.files.push_back(made);
    };
    add(noon - 3 * day, noon);              // exactly old enough
    add(noon - 3 * day + 1, noon);          // not yet
    add(noon - day, noon);                  // younger
    add(noon + 900 * day, noon - 2 * day);  // a lie: what was seen first counts
    add(noon + 900 * day, noon - 30 * day);
    const auto offer = registry::offer_of(page, "six", config, noon);
    REQUIRE(offer.files.size() == 2);
    CHECK(offer.files[0]->link.filename == "six-0-py3-none-any.whl");
    CHECK(offer.files[1]->link.filename == "six-4-py3-none-any.whl");
    CHECK(offer.withheld[static_cast<std::size_t>(Withheld::cooldown)] == 3);
    CHECK(offer.changes_at == noon + 1);
    CHECK(registry::offer_of(page, "six", config, offer.changes_at).files.size() == 3);
    config.cooldown_except = {"s?x"};
    CHECK(registry::offer_of(page, "six", config, noon).files.size() == 5);
}
