// Whatever a template contains, a value in it can neither open an element nor leave its attribute.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lib/page/template.hpp"

namespace {

using namespace wheelyard::page;

struct View {
    std::string x;
    std::vector<std::string> list;
    void show(Values& to) const { to("x", x)("list", list); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t max_bytes = 4096;
    const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, max_bytes));
    const auto made = Template::parse(text);
    if (!made) return 0;
    const std::string value = "javascript:\"'<q>&";
    try {
        const std::string html = made->render(Values::of(View{value, {value, value}})).bytes();
        for (const std::string_view raw : {"\"'<q", "'<q>", "<q>&"})
            if (html.find(raw) != std::string::npos && text.find(raw) == std::string_view::npos) std::abort();
    } catch (const std::logic_error&) {  // it names what the view has not
    }
    return 0;
}
