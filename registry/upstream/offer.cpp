#include "registry/upstream/offer.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/url.hpp"
#include "lib/base/text/words.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view sdist_extension = ".tar.gz";  // .zip is of sdists from before PEP 625

// 0: the project has no cooldown.
base::UnixMicros cooldown_us(const UpstreamConfig& upstream, const std::string& project) {
    return matches_any(upstream.cooldown_except, project) ? 0 : upstream.cooldown_days * base::day_us;
}

// An upstream's clock may be wrong, or its page a lie: a file is at least as young as we have known it only
// if its upload time lies in the future.
base::UnixMicros born(const UpstreamFile& file, base::UnixMicros now) {
    return file.link.upload_time > now ? file.first_seen : file.link.upload_time;
}

// The version has no '-', as in the name of a wheel.
std::optional<OfferedName> parse_variants_name(std::string_view filename) {
    const auto stem = filename.substr(0, filename.size() - catalog::variants_suffix.size());
    const auto dash = stem.rfind('-');
    if (dash == std::string_view::npos || !wheel::is_valid_name(stem.substr(0, dash))) return std::nullopt;
    auto version = wheel::Version::parse(stem.substr(dash + 1));
    if (!version) return std::nullopt;
    return OfferedName{.project = wheel::normalize_name(stem.substr(0, dash)),
                       .version = std::move(*version),
                       .is_variants = true};
}

tl::unexpected<base::Error> refused_text(const UpstreamFile& file, std::string code, std::string sentence) {
    return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                         {std::move(code), std::move(sentence), file.link.filename});
}

}  // namespace

bool is_permitted(const UpstreamConfig& upstream, const std::string& project) {
    if (matches_any(upstream.deny, project)) return false;
    return upstream.allow.empty() || matches_any(upstream.allow, project);
}

std::string_view withheld_text(Withheld why) {
    static constexpr auto words = base::words<Withheld>({{Withheld::nothing, "offered"},
                                                         {Withheld::not_a_wheel, "not_a_wheel"},
                                                         {Withheld::sdist, "sdist"},
                                                         {Withheld::variant, "variant"},
                                                         {Withheld::other_project, "other_project"},
                                                         {Withheld::no_hash, "no_hash"},
                                                         {Withheld::host, "host"},
                                                         {Withheld::cooldown, "cooldown"}});
    return words.text(why);
}

std::optional<OfferedName> parse_offered_name(std::string_view filename) {
    if (auto wheel = wheel::parse_wheel_filename(filename)) {
        return OfferedName{.project = std::move(wheel->project),
                           .version = std::move(wheel->version),
                           .is_variant = wheel->variant.has_value()};
    }
    if (is_variants_file(filename)) return parse_variants_name(filename);
    auto sdist = wheel::parse_sdist_filename(filename);
    if (!sdist || sdist->extension != sdist_extension) return std::nullopt;
    return OfferedName{
        .project = std::move(sdist->project), .version = std::move(sdist->version), .is_sdist = true};
}

bool may_request(const UpstreamConfig& upstream, const std::string& url) {
    const auto parsed = base::parse_url(url);
    if (!parsed || !base::names_host(upstream.hosts, *parsed)) return false;
    return parsed->scheme == "https" || (parsed->scheme == "http" && may_be_private(upstream, *parsed));
}

Withheld why_withheld(const UpstreamFile& file, const std::string& project, const UpstreamConfig& upstream,
                      base::UnixMicros now) {
    const auto name = parse_offered_name(file.link.filename);
    if (!name) return Withheld::not_a_wheel;
    if (name->is_sdist && !upstream.sdists) return Withheld::sdist;
    if ((name->is_variant || name->is_variants) && !upstream.policy.variants) return Withheld::variant;
    if (name->project != project) return Withheld::other_project;
    if (file.link.sha256.empty()) return Withheld::no_hash;
    if (!may_request(upstream, file.link.url)) return Withheld::host;
    if (name->is_variants) return Withheld::nothing;  // it changes with each wheel; those are withheld
    const base::UnixMicros cooldown = cooldown_us(upstream, project);
    if (cooldown > 0 && born(file, now) + cooldown > now) return Withheld::cooldown;
    return Withheld::nothing;
}

bool is_variants_file(std::string_view filename) {
    return filename.ends_with(catalog::variants_suffix);
}

std::string hash_of_text(const UpstreamFile& file) {
    if (is_variants_file(file.link.filename)) return file.link.sha256;
    return file.link.has_metadata ? file.link.metadata_sha256 : std::string();
}

std::string url_of_text(const UpstreamFile& file) {
    return is_variants_file(file.link.filename) ? file.link.url : file.link.url + ".metadata";
}

std::uint64_t max_bytes_of_text(const UpstreamFile& file) {
    return is_variants_file(file.link.filename) ? catalog::max_variants_file_bytes : max_metadata_bytes;
}

std::string key_of_text(const UpstreamFile& file) {
    const std::string& filename = file.link.filename;
    return is_variants_file(filename) ? base::sha256_hex(filename) : hash_of_text(file);
}

base::Status check_text(const UpstreamFile& file, std::string_view bytes) {
    const bool is_promised = base::sha256_hex(bytes) == hash_of_text(file);
    if (!is_variants_file(file.link.filename)) {
        if (is_promised) return {};
        return refused_text(file, "upstream.hash",
                            "The upstream sent METADATA with another hash than its page states");
    }
    if (!is_promised)
        return base::fail_as(base::ErrorKind::malformed, base::Recovery::retry,
                             {"upstream.variants_changed",
                              "The upstream's variants of this version have changed since its page was read",
                              file.link.filename});
    if (file.link.size_bytes > 0 && file.link.size_bytes != bytes.size())
        return refused_text(file, "upstream.size",
                            "The upstream's variants of this version have another size than its page states");
    if (const auto json = io::parse_json(bytes); !json)
        return refused_text(
            file, "upstream.refused",
            "The upstream's variants of this version are no JSON (" + json.error().text() + ")");
    return {};
}

bool has_attestations(const UpstreamFile& file, const UpstreamConfig& upstream) {
    return !file.link.provenance_url.empty() && may_request(upstream, file.link.provenance_url);
}

std::string key_of_attestations(const UpstreamFile& file) {
    return base::sha256_hex("attestations " + file.link.sha256 + "/" + file.link.filename);
}

std::set<std::string> keys_of_texts(const CachedPage& page) {
    std::set<std::string> keys;
    for (const UpstreamFile& file : page.files) {
        if (std::string key = key_of_text(file); !key.empty()) keys.insert(std::move(key));
        if (!file.link.provenance_url.empty()) keys.insert(key_of_attestations(file));
    }
    return keys;
}

bool offers_unfetched(const CachedPage& page, const UpstreamConfig& upstream) {
    return page.absent_since == 0 || !upstream.quarantines_removed;
}

Offer offer_of(const CachedPage& page, const std::string& project, const UpstreamConfig& upstream,
               base::UnixMicros now) {
    Offer offer{};
    for (const UpstreamFile& file : page.files) {
        const Withheld why = why_withheld(file, project, upstream, now);
        if (why == Withheld::nothing) offer.files.push_back(&file);
        ++offer.withheld[static_cast<std::size_t>(why)];
        if (why != Withheld::cooldown) continue;
        const base::UnixMicros ends = born(file, now) + cooldown_us(upstream, project);
        offer.changes_at = offer.changes_at == 0 ? ends : std::min(offer.changes_at, ends);
    }
    return offer;
}

}  // namespace wheelyard::registry
