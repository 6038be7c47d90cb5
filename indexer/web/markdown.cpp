#include "indexer/web/markdown.hpp"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "indexer/web/limits.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {

namespace {

struct FreeParser {
    void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};
struct FreeNode {
    void operator()(cmark_node* node) const { cmark_node_free(node); }
};
struct FreeIterator {
    void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};
struct FreeText {
    void operator()(char* text) const { std::free(text); }
};

// The description has a heading of its own above it.
constexpr int heading_below = 2;
constexpr int max_heading = 6;

// An image becomes a link to it with its text; a heading goes below that of the page.
void adapt(cmark_node* document) {
    std::vector<cmark_node*> images;
    const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(document));
    while (cmark_iter_next(iterator.get()) != CMARK_EVENT_DONE) {
        cmark_node* node = cmark_iter_get_node(iterator.get());
        if (cmark_iter_get_event_type(iterator.get()) != CMARK_EVENT_EXIT &&
            cmark_node_get_type(node) == CMARK_NODE_HEADING)
            cmark_node_set_heading_level(
                node, std::min(cmark_node_get_heading_level(node) + heading_below, max_heading));
        const bool is_last = cmark_iter_get_event_type(iterator.get()) == CMARK_EVENT_EXIT;
        if (is_last && cmark_node_get_type(node) == CMARK_NODE_IMAGE) images.push_back(node);
    }
    for (cmark_node* image : images) {
        const bool is_in_link = [&] {
            for (cmark_node* up = cmark_node_parent(image); up != nullptr; up = cmark_node_parent(up)) {
                if (cmark_node_get_type(up) == CMARK_NODE_LINK) return true;
            }
            return false;
        }();
        cmark_node* target = image;
        if (!is_in_link) {
            cmark_node* link = cmark_node_new(CMARK_NODE_LINK);
            cmark_node_set_url(link, cmark_node_get_url(image));
            if (cmark_node_insert_before(image, link) == 0) {
                cmark_node_free(link);
                continue;
            }
            while (cmark_node* child = cmark_node_first_child(image))
                if (cmark_node_append_child(link, child) == 0) break;
        } else {
            while (cmark_node* child = cmark_node_first_child(image))
                if (cmark_node_insert_before(image, child) == 0) break;
        }
        cmark_node_unlink(target);
        cmark_node_free(target);
    }
}

page::Html render_markdown(const std::string& text) {
    cmark_gfm_core_extensions_ensure_registered();
    const int options = CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8;  // without CMARK_OPT_UNSAFE: no raw HTML
    const std::unique_ptr<cmark_parser, FreeParser> parser(cmark_parser_new(options));
    for (const char* name : {"table", "strikethrough", "autolink"}) {
        if (cmark_syntax_extension* extension = cmark_find_syntax_extension(name))
            cmark_parser_attach_syntax_extension(parser.get(), extension);
    }
    cmark_parser_feed(parser.get(), text.data(), text.size());
    const std::unique_ptr<cmark_node, FreeNode> document(cmark_parser_finish(parser.get()));
    adapt(document.get());
    const std::unique_ptr<char, FreeText> html(
        cmark_render_html(document.get(), options, cmark_parser_get_syntax_extensions(parser.get())));
    // Raw HTML is off, so these are the tables of the extension: a wide one scrolls in its own box, also by keyboard.
    // It has no role: a region needs a name of its own.
    const std::string boxed =
        base::replace_all(html.get(), "<table>", "<div class=\"scroll\" tabindex=\"0\"><table>");
    return page::SafeMarkup::adopt(base::replace_all(boxed, "</table>", "</table></div>"));
}

}  // namespace

page::Html render_description(std::string_view text, std::string_view content_type) {
    const bool is_cut = text.size() > max_description_bytes;
    std::string shown = base::printable(text.substr(0, max_description_bytes));
    page::Html html;
    const std::string type = base::ascii_lower(base::trim(content_type.substr(0, content_type.find(';'))));
    if (type == "text/markdown")
        html.add(render_markdown(shown));
    else
        html.add("<pre class=\"plain\">").text(shown).add("</pre>\n");
    if (is_cut) html.add("<p class=\"quiet\">The description is longer; the wheel has all of it.</p>\n");
    return html;
}

}  // namespace wheelyard::indexer
