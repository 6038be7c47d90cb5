// The XML of a blob store: any bytes end in a bounded document or in an error, and its texts survive a round
// trip.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/base/text/encoding.hpp"
#include "lib/store/blobs/s3/client.hpp"

namespace {

using wheelyard::blobs::XmlElement;

std::string render(const XmlElement& element) {
    std::string text = "<" + element.name + ">" + wheelyard::base::escape_html(element.text);
    for (const XmlElement& child : element.children)
        text += render(child);
    return text + "</" + element.name + ">";
}

bool same(const XmlElement& a, const XmlElement& b) {
    if (a.name != b.name || a.text != b.text || a.children.size() != b.children.size()) return false;
    for (std::size_t at = 0; at < a.children.size(); ++at) {
        if (!same(a.children[at], b.children[at])) return false;
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto root = wheelyard::blobs::parse_xml(text);
    if (!root) return 0;
    const auto again = wheelyard::blobs::parse_xml(render(*root));
    if (!again || !same(*again, *root)) std::abort();
    return 0;
}
