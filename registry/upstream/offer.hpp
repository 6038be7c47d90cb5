// What an index offers of an upstream: which projects, and which files of a page. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/version.hpp"
#include "registry/config/upstream_config.hpp"
#include "registry/upstream/cached_page.hpp"

namespace wheelyard::registry {

// By `allow` and `deny`; `project` is normalised.
[[nodiscard]] bool is_permitted(const UpstreamConfig& upstream, const std::string& project);

// What the variants of a version are: NAME-VERSION-variants.json (PEP 825). Unlike any other file it may
// change.
[[nodiscard]] bool is_variants_file(std::string_view filename);

// Why a file is not offered.
enum class Withheld {
    nothing,        // it is offered
    not_a_wheel,    // an egg, an invalid name
    sdist,          // the index offers no source distributions
    variant,        // the index takes no variant wheels (PEP 825)
    other_project,  // a wheel of another project
    no_hash,        // the page gives no SHA-256
    host,           // its host is not in `hosts`, or it would be fetched without TLS
    cooldown,       // too young
};
inline constexpr std::size_t withheld_kinds = static_cast<std::size_t>(Withheld::cooldown) + 1;
[[nodiscard]] std::string_view withheld_text(Withheld why);

// The project and version that the name of a wheel, of a tar.gz sdist or of a version's variants says;
// nullopt: it is none.
struct OfferedName {
    std::string project;  // normalised
    wheel::Version version;
    bool is_sdist = false;
    bool is_variant = false;   // a variant wheel
    bool is_variants = false;  // what the variants of a version are: NAME-VERSION-variants.json
};
[[nodiscard]] std::optional<OfferedName> parse_offered_name(std::string_view filename);

[[nodiscard]] Withheld why_withheld(const UpstreamFile& file, const std::string& project,
                                    const UpstreamConfig& upstream, base::UnixMicros now);

// Says whether a request may be sent to this URL: its host is named with its port, and it uses TLS unless the
// host may be private.
[[nodiscard]] bool may_request(const UpstreamConfig& upstream, const std::string& url);

// Of the text that answer_text() sends: the file itself if it is what a version's variants are, else a
// wheel's METADATA; empty: the page gives none.
[[nodiscard]] std::string hash_of_text(const UpstreamFile& file);
[[nodiscard]] std::string url_of_text(const UpstreamFile& file);
[[nodiscard]] std::uint64_t max_bytes_of_text(const UpstreamFile& file);
// The key of its file in the store. All states of a version's variants have one: only the last state is kept.
[[nodiscard]] std::string key_of_text(const UpstreamFile& file);
// Says whether these bytes are what the page promises. Errors "upstream.variants_changed": malformed;
// "upstream.hash", and of a version's variants "upstream.size" and "upstream.refused": refused.
[[nodiscard]] base::Status check_text(const UpstreamFile& file, std::string_view bytes);

// Says whether attestations of the file (PEP 740) may be asked for where the page says that they are.
[[nodiscard]] bool has_attestations(const UpstreamFile& file, const UpstreamConfig& upstream);
[[nodiscard]] std::string key_of_attestations(const UpstreamFile& file);
// The keys of all that the store may have beside a file of a page.
[[nodiscard]] std::set<std::string> keys_of_texts(const CachedPage& page);

// False: the upstream has lost the project, whose former files it removed for a reason; its servers may still
// send them.
[[nodiscard]] bool offers_unfetched(const CachedPage& page, const UpstreamConfig& upstream);

struct Offer {
    std::vector<const UpstreamFile*> files;            // of the page, in its order
    std::array<std::size_t, withheld_kinds> withheld;  // number of files by reason
    base::UnixMicros changes_at = 0;                   // the next end of a cooldown; 0: none
};
[[nodiscard]] Offer offer_of(const CachedPage& page, const std::string& project,
                             const UpstreamConfig& upstream, base::UnixMicros now);

}  // namespace wheelyard::registry
