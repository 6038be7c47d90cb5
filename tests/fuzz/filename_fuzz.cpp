// File names of wheels and sdists: accepted names survive a round trip.
#include <cstdlib>

#include "lib/wheel/filename.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::wheel;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto filename = parse_wheel_filename(text)) {
        if (filename->text() != text) std::abort();
        const auto again = parse_wheel_filename(filename->text());
        if (!again || again->tags != filename->tags || again->version != filename->version) std::abort();
        (void)form_of(*filename);
    }
    (void)parse_sdist_filename(text, text.substr(0, size / 2));
    (void)spelling_key(text);
    (void)parse_tag_set(text);
    (void)parse_platform(text);
    return 0;
}
