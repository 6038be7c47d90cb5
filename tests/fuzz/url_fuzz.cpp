// A parsed URL survives a round trip; resolving a reference yields a parsable URL.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/base/text/url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::base;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto same = [](const Url& url) {
        const auto again = parse_url(url.text());
        return again && again->text() == url.text() && again->host == url.host && again->path == url.path;
    };
    if (const auto url = parse_url(text)) {
        if (!same(*url)) std::abort();
        static_cast<void>(last_segment(*url));
        if (const auto resolved = resolve_url(*url, "../x/./y?z#w"); !resolved || !same(*resolved))
            std::abort();
    }
    static const auto base = parse_url("https://user:secret@host.example/simple/six/").value();
    const auto resolved = resolve_url(base, text);
    // A reference close to the length limit may exceed it after resolution.
    if (resolved && size < 4096 && !same(*resolved)) std::abort();
    return 0;
}
