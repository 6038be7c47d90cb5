#include "indexer/web/markdown.hpp"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "indexer/web/limits.hpp"
#include "indexer/web/rst.hpp"
#include "indexer/web/shown_project.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

namespace {

// Headings of a description that get a list of contents, and lines of that list.
constexpr std::size_t min_contents_lines = 5;
constexpr std::size_t max_contents_lines = 100;

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

// The page has h1, and h2 above the description. Each heading of it is at most one level below the one before
// it, whatever levels its author chose, so that the outline of the page has no gaps.
constexpr int first_heading = 3;
constexpr int max_heading = 6;

class Outline {
  public:
    [[nodiscard]] int level_of(int written) {
        while (!open_.empty() && open_.back() >= written)
            open_.pop_back();
        open_.push_back(written);
        return std::min(first_heading - 1 + static_cast<int>(open_.size()), max_heading);
    }

  private:
    std::vector<int> open_;  // levels as written, from the outside
};

bool is_badge(cmark_node* image) {
    const char* address = cmark_node_get_url(image);
    const std::string url = base::ascii_lower(address == nullptr ? "" : address);
    return url.find("badge") != std::string::npos || url.find("shields.io") != std::string::npos;
}

bool is_blank(cmark_node* node) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) return true;
    return type == CMARK_NODE_TEXT && base::trim(cmark_node_get_literal(node)).empty();
}

bool has_only(cmark_node* parent, const std::function<bool(cmark_node*)>& counts) {
    for (cmark_node* child = cmark_node_first_child(parent); child != nullptr;
         child = cmark_node_next(child)) {
        if (!is_blank(child) && !counts(child)) return false;
    }
    return true;
}

bool is_image(cmark_node* node) {
    return cmark_node_get_type(node) == CMARK_NODE_IMAGE;
}

// With what held nothing else: an empty paragraph, heading or list.
void remove(cmark_node* node) {
    for (;;) {
        cmark_node* parent = cmark_node_parent(node);
        cmark_node_unlink(node);
        cmark_node_free(node);
        if (parent == nullptr || !has_only(parent, [](cmark_node*) { return false; })) return;
        const cmark_node_type type = cmark_node_get_type(parent);
        const bool can_go = type == CMARK_NODE_PARAGRAPH || type == CMARK_NODE_HEADING ||
                            type == CMARK_NODE_LINK || type == CMARK_NODE_ITEM || type == CMARK_NODE_LIST ||
                            type == CMARK_NODE_EMPH || type == CMARK_NODE_STRONG;
        if (!can_go) return;
        node = parent;
    }
}

// An image becomes a link to it with its text.
void become_link(cmark_node* image) {
    bool is_in_link = false;
    for (cmark_node* up = cmark_node_parent(image); up != nullptr; up = cmark_node_parent(up))
        is_in_link = is_in_link || cmark_node_get_type(up) == CMARK_NODE_LINK;
    if (is_in_link) {
        while (cmark_node* child = cmark_node_first_child(image))
            if (cmark_node_insert_before(image, child) == 0) break;
    } else {
        cmark_node* link = cmark_node_new(CMARK_NODE_LINK);
        cmark_node_set_url(link, cmark_node_get_url(image));
        if (cmark_node_insert_before(image, link) == 0) return cmark_node_free(link);
        while (cmark_node* child = cmark_node_first_child(image))
            if (cmark_node_append_child(link, child) == 0) break;
        // Its text is what the link is called.
        if (cmark_node_first_child(link) == nullptr) {
            cmark_node* text = cmark_node_new(CMARK_NODE_TEXT);
            cmark_node_set_literal(text, "image");
            if (cmark_node_append_child(link, text) == 0) cmark_node_free(text);
        }
    }
    cmark_node_unlink(image);
    cmark_node_free(image);
}

// What a page needs of a heading to lead to it.
struct Heading {
    int level = 0;
    std::string text = {};
    std::string anchor = {};
};

std::string text_of(cmark_node* parent) {
    std::string text;
    const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(parent));
    while (cmark_iter_next(iterator.get()) != CMARK_EVENT_DONE) {
        cmark_node* node = cmark_iter_get_node(iterator.get());
        const cmark_node_type type = cmark_node_get_type(node);
        if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
            text += cmark_node_get_literal(node);
        else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
            text += ' ';
    }
    return std::string(base::trim(text));
}

// "Getting started!" → "readme-getting-started", as the places that show READMEs name it, so that an author's
// own links work; in front of it a word that no other part of the page begins with.
constexpr std::string_view anchor_begin = "readme-";
constexpr std::size_t max_anchor_bytes = 100;
constexpr std::size_t max_anchors = 500;  // of a description that is little else than headings

std::string anchor_for(std::string_view text) {
    std::string anchor(anchor_begin);
    for (const char c : base::fold_case(base::cut_utf8(text, max_anchor_bytes))) {
        if (c == ' ')
            anchor += '-';
        else if (base::is_ascii_alnum(c) || c == '-' || c == '_' || static_cast<unsigned char>(c) >= 0x80)
            anchor += c;
    }
    return anchor;
}

// Each is the only one of its name: "readme-usage", "readme-usage-1".
void name_headings(std::vector<Heading>& headings) {
    std::map<std::string, std::size_t> counts;
    std::set<std::string> known;
    for (Heading& heading : std::span(headings).first(std::min(headings.size(), max_anchors))) {
        const std::string wanted = anchor_for(heading.text);
        heading.anchor = wanted;
        while (!known.insert(heading.anchor).second)
            heading.anchor = wanted + "-" + std::to_string(++counts[wanted]);
    }
}

void lead_to(const std::vector<Heading>& headings, cmark_node* document) {
    std::set<std::string_view> known;
    for (const Heading& heading : headings)
        known.insert(heading.anchor);
    const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(document));
    while (cmark_iter_next(iterator.get()) != CMARK_EVENT_DONE) {
        cmark_node* node = cmark_iter_get_node(iterator.get());
        if (cmark_iter_get_event_type(iterator.get()) != CMARK_EVENT_ENTER ||
            cmark_node_get_type(node) != CMARK_NODE_LINK)
            continue;
        const std::string_view url = cmark_node_get_url(node);
        if (!url.starts_with('#')) continue;
        const auto written = base::decode_percent(url.substr(1));
        const std::string anchor = anchor_for(written ? *written : std::string());
        if (known.contains(anchor)) cmark_node_set_url(node, ("#" + anchor).c_str());
    }
}

// The tags of cmark have no attributes, and neither text nor attributes of others have a bare "<".
std::string with_anchors(std::string_view html, const std::vector<Heading>& headings) {
    std::string made;
    for (const Heading& heading : headings) {
        const std::string tag = "<h" + std::to_string(heading.level) + ">";
        const auto at = html.find(tag);
        if (at == std::string_view::npos || heading.anchor.empty()) break;
        made.append(html.substr(0, at + tag.size() - 1))
            .append(" id=\"")
            .append(heading.anchor)
            .append("\">");
        html.remove_prefix(at + tag.size());
    }
    return made.append(html);
}

page::Html contents_of(const std::vector<Heading>& headings) {
    ShownContents shown;
    for (const Heading& heading : headings) {
        if (heading.level > first_heading + 1 || shown.lines.size() == max_contents_lines ||
            heading.anchor.empty())
            continue;
        shown.lines.push_back({heading.anchor, heading.text, heading.level > first_heading});
    }
    return shown.lines.size() < min_contents_lines ? page::Html() : page::render("contents.html", shown);
}

// Pages load no images: badges say nothing without theirs and leave, with the links that hold nothing else.
std::vector<Heading> adapt(cmark_node* document) {
    std::vector<cmark_node*> empty;
    std::vector<cmark_node*> links;
    std::vector<cmark_node*> images;
    {
        const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(document));
        cmark_node* leaving = nullptr;  // the link around the node that goes with all that it holds
        while (cmark_iter_next(iterator.get()) != CMARK_EVENT_DONE) {
            cmark_node* node = cmark_iter_get_node(iterator.get());
            const bool is_end = cmark_iter_get_event_type(iterator.get()) == CMARK_EVENT_EXIT;
            if (node == leaving && is_end) leaving = nullptr;
            if (leaving != nullptr || is_end) continue;
            if (is_image(node)) images.push_back(node);
            if (cmark_node_get_type(node) != CMARK_NODE_LINK || cmark_node_first_child(node) == nullptr ||
                !has_only(node, is_image))
                continue;
            leaving = node;
            links.push_back(node);
        }
    }
    for (cmark_node* link : links)
        remove(link);
    // From the inside: an image's text may hold another image.
    for (auto image = images.rbegin(); image != images.rend(); ++image)
        is_badge(*image) ? remove(*image) : become_link(*image);
    const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(document));
    Outline outline;
    std::vector<Heading> headings;
    while (cmark_iter_next(iterator.get()) != CMARK_EVENT_DONE) {
        cmark_node* node = cmark_iter_get_node(iterator.get());
        if (cmark_iter_get_event_type(iterator.get()) != CMARK_EVENT_ENTER ||
            cmark_node_get_type(node) != CMARK_NODE_HEADING)
            continue;
        if (has_only(node, [](cmark_node*) { return false; })) {
            empty.push_back(node);  // a heading without words
            continue;
        }
        headings.push_back({outline.level_of(cmark_node_get_heading_level(node)), text_of(node)});
        cmark_node_set_heading_level(node, headings.back().level);
    }
    for (cmark_node* heading : empty)
        remove(heading);
    name_headings(headings);
    lead_to(headings, document);
    return headings;
}

// Text of no stated type is often reStructuredText. It stays as it was written, without what is no text:
// images, badges and the names that stand for them.
std::string without_images(std::string_view text) {
    std::vector<std::string> kept;
    bool is_dropping = false;  // the lines of a directive that are indented
    for (const std::string_view line : base::split(text, '\n')) {
        const std::string_view words = base::trim(line);
        const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
        if (is_dropping && (is_indented || words.empty())) {
            if (words.empty()) is_dropping = false;
            continue;
        }
        is_dropping = words.starts_with(".. image::") || words.starts_with(".. figure::") ||
                      (words.starts_with(".. |") && words.find("| image::") != std::string_view::npos);
        const auto parts = base::split(words, ' ');
        const bool is_only_names =
            !words.empty() && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
                return part.empty() || (part.size() > 2 && part.starts_with('|') &&
                                        (part.ends_with('|') || part.ends_with("|_")));
            });
        if (!is_dropping && !is_only_names) kept.emplace_back(line);
    }
    return base::join(kept, "\n");
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
    const std::vector<Heading> headings = adapt(document.get());
    const std::unique_ptr<char, FreeText> html(
        cmark_render_html(document.get(), options, cmark_parser_get_syntax_extensions(parser.get())));
    // Raw HTML is off, so these are the tables of the extension: a wide one scrolls in its own box, also by
    // keyboard. It has no role: a region needs a name of its own.
    const std::string boxed =
        base::replace_all(html.get(), "<table>", "<div class=\"scroll\" tabindex=\"0\"><table>");
    page::Html made = contents_of(headings);
    made.add(page::SafeMarkup::adopt(
        with_anchors(base::replace_all(boxed, "</table>", "</table></div>"), headings)));
    return made;
}

}  // namespace

page::Html render_description(std::string_view text, std::string_view content_type) {
    const bool is_cut = text.size() > max_description_bytes;
    std::string shown = base::printable(text.substr(0, max_description_bytes));
    page::Html html;
    const std::string type = base::ascii_lower(base::trim(content_type.substr(0, content_type.find(';'))));
    if (type == "text/markdown")
        html.add(render_markdown(shown));
    else if (type == "text/x-rst")
        html.add(render_markdown(markdown_of_rst(shown)));
    else
        html.add("<pre class=\"plain\">")
            .text(type == "text/plain" ? shown : without_images(shown))
            .add("</pre>\n");
    if (is_cut) html.add("<p class=\"quiet\">The description is longer; the wheel has all of it.</p>\n");
    return html;
}

}  // namespace wheelyard::indexer
