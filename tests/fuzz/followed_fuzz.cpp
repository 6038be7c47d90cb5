// What `follow` reads from an untrusted source: a project's JSON page and a file of the event log. Our page, rendered
// from what was read, states the same.
#include <cstdlib>

#include "indexer/follow/followed_page.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/tree/event_log.hpp"

namespace {

std::string text_of(const wheelyard::indexer::FollowedPage& page) {
    return wheelyard::indexer::render_project_json(page.view);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::indexer;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::string from = "https://index.example/main/";
    if (const auto page = read_followed_page(text, from, "six")) {
        const auto again = read_followed_page(text_of(*page), from, "six");
        if (!again || text_of(*again) != text_of(*page)) std::abort();
        if (again->files.size() != page->files.size()) std::abort();
        const std::string html = render_project_html(page->view);
        if (html.find("<script") != std::string::npos) std::abort();
    }
    if (const auto segment = parse_event_segment(text)) {
        const auto again = parse_event_segment(render_event_segment(*segment));
        if (!again || again->serial != segment->serial || again->events.size() != segment->events.size())
            std::abort();
    }
    return 0;
}
