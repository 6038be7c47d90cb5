// What an untrusted upstream answers for a project: "Name: value" lines of its header, an empty line, the body.
// Whatever it sends: a file is offered only with a valid hash from a permitted host, the cache file keeps the page,
// freshness has its limits, and a later answer cannot change a hash.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "registry/upstream/freshness.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/offer.hpp"
#include "registry/upstream/page_fetch.hpp"

namespace {

using namespace wheelyard;

constexpr base::UnixMicros noon = 1'700'000'000'000'000;
constexpr base::UnixMicros second = 1'000'000;

void require(bool holds) {
    if (!holds) std::abort();
}

io::HttpAnswer answer_of(std::string_view text) {
    io::HttpAnswer answer;
    answer.status = 200;
    answer.final_url = "https://index.example.org/simple/six/";
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty()) break;
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        answer.headers.emplace_back(base::ascii_lower(line.substr(0, colon)),
                                    std::string(base::trim(line.substr(colon + 1))));
    }
    answer.body = std::string(text);
    return answer;
}

// What is sent for a version's variants: JSON of the size and the hash that the page states.
void check_variants(registry::UpstreamFile file, const std::string& bytes) {
    file.link.sha256 = base::sha256_hex(bytes);
    file.link.size_bytes = bytes.size();
    require(registry::check_text(file, bytes).has_value() == io::parse_json(bytes).has_value());
    file.link.size_bytes = bytes.size() + 1;
    require(!registry::check_text(file, bytes));
    require(registry::url_of_text(file) == file.link.url);
    require(registry::max_bytes_of_text(file) == catalog::max_variants_file_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::registry;
    const io::HttpAnswer answer = answer_of({reinterpret_cast<const char*>(data), size});
    const std::int64_t pause_s = retry_after_seconds(answer);
    require(pause_s >= 1 && pause_s <= max_retry_after_s);
    const auto read = read_page_answer(answer, answer.final_url, nullptr, noon);
    if (!read) return 0;
    require(read->alarms.empty());
    require(read->page.fresh_until >= noon + min_fresh_s * second);
    require(read->page.fresh_until <= noon + max_fresh_s * second);
    const std::string text = render_cached_page(read->page);
    const auto again = parse_cached_page(text);
    require(again.has_value() && render_cached_page(*again) == text);

    UpstreamConfig upstream;
    upstream.url = "https://index.example.org/simple/";
    upstream.hosts = {"index.example.org"};
    upstream.cooldown_days = 1;
    for (const bool takes_variants : {false, true}) {
        upstream.policy.variants = takes_variants;
        for (const UpstreamFile* file : offer_of(read->page, "six", upstream, noon).files) {
            const std::string& filename = file->link.filename;
            require(base::is_sha256_hex(file->link.sha256));
            require(base::ascii_lower(file->link.url).starts_with("https://index.example.org"));
            require(filename.ends_with(".whl") || (takes_variants && is_variants_file(filename)));
            require(takes_variants || !catalog::is_variant_wheel(filename));
            if (is_variants_file(filename)) check_variants(*file, answer.body);
        }
    }
    CachedPage pinned = read->page;
    for (UpstreamFile& file : pinned.files)
        file.link.sha256 = std::string(64, 'a');
    const auto later = read_page_answer(answer, answer.final_url, &pinned, noon + second);
    require(later.has_value());
    for (const UpstreamFile& file : later->page.files)
        require(file.link.sha256 == std::string(64, 'a') || is_variants_file(file.link.filename));
    return 0;
}
