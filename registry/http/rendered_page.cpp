#include "registry/http/rendered_page.hpp"

#include <string>
#include <utility>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/io/zstd.hpp"
#include "registry/http/compression.hpp"
#include "registry/http/limits.hpp"
#include "registry/http/negotiation.hpp"
#include "registry/http/ranges.hpp"

namespace wheelyard::http {

constexpr std::size_t etag_characters = 32;

Reply reply_not_acceptable(std::string_view accept) {
    Reply reply = reply_problem(wire::make_problem(
        "page.not_acceptable", "Not acceptable", "Pages are HTML or application/vnd.pypi.simple.v1+json.",
        std::string(accept.substr(0, 200)), "ask for one of these, or for */*"));
    reply.add("Vary", "Accept");
    return reply;
}

namespace {

std::optional<PageForm> form_for(const Route& route, const RequestHead& head) {
    return route.form ? route.form : choose_page_form(head.accept);
}

const std::string& text_of(const RenderedPage& page, PageForm form) {
    return form == PageForm::json ? page.json : page.html;
}

}  // namespace

bool is_worth_packing(const RenderedPage& page, const Route& route, const RequestHead& head) {
    const auto form = form_for(route, head);
    const Coding coding = choose_coding(head.accept_encoding, io::has_zstd());
    return form && !page.packed->has(*form, coding) && text_of(page, *form).size() >= min_packed_bytes;
}

void pack_page(const RenderedPage& page, const Route& route, const RequestHead& head) {
    const Coding coding = choose_coding(head.accept_encoding, io::has_zstd());
    if (const auto form = form_for(route, head)) page.packed->make(*form, coding, text_of(page, *form));
}

Reply reply_rendered_page(const std::shared_ptr<const RenderedPage>& page, const Route& route,
                          const RequestHead& head) {
    const auto form = form_for(route, head);
    if (!form) return reply_not_acceptable(head.accept);
    Coding coding = choose_coding(head.accept_encoding, io::has_zstd());
    SharedText smaller = page->packed->copy(*form, coding);
    if (!smaller) coding = Coding::none;
    const std::string_view form_tag = *form == PageForm::html_v1 ? "-v1-html"
                                      : *form == PageForm::html  ? "-html"
                                                                 : "";
    const std::string etag = etag_of(page->tag, form_tag, coding);
    Reply reply;
    reply.add("ETag", etag);
    reply.add("Last-Modified", base::render_http_date(page->modified));
    reply.add("Cache-Control", "no-cache");
    reply.add("Vary", "Accept, Accept-Encoding");
    if (names_etag(head.if_none_match, etag)) {
        reply.status = 304;
        return reply;
    }
    reply.add("Content-Type", content_type_of(*form));
    reply.add("X-Content-Type-Options", "nosniff");
    if (*form != PageForm::json) reply.add("Content-Security-Policy", simple_page_policy);
    if (smaller) reply.add("Content-Encoding", content_coding(coding));
    reply.body = smaller ? std::move(smaller) : SharedText(page, &text_of(*page, *form));
    return reply;
}

namespace {

// Their address has no hash of these bytes.
Reply reply_attestations(SharedText bytes, const Route& route, const RequestHead& head) {
    const std::string_view type =
        route.kind == RouteKind::integrity ? choose_integrity_type(head.accept) : "application/octet-stream";
    const std::string etag =
        "\"" + base::sha256_hex(std::string(type) + *bytes).substr(0, etag_characters) + "\"";
    Reply reply;
    reply.add("ETag", etag);
    reply.add("Cache-Control", "no-cache");
    if (route.kind == RouteKind::integrity) reply.add("Vary", "Accept");
    if (names_etag(head.if_none_match, etag)) {
        reply.status = 304;
        return reply;
    }
    reply.add("Content-Type", type);
    reply.add("X-Content-Type-Options", "nosniff");
    reply.body = std::move(bytes);
    return reply;
}

}  // namespace

Reply reply_metadata(SharedText bytes, const Route& route, const RequestHead& head) {
    if (route.kind == RouteKind::integrity || route.filename.ends_with(attestations_suffix))
        return reply_attestations(std::move(bytes), route, head);
    const bool is_variants = route.filename.ends_with(".json");  // else METADATA
    const std::string etag = "\"" + route.sha256 + (is_variants ? "\"" : ".metadata\"");
    Reply reply;
    reply.add("ETag", etag);
    reply.add("Cache-Control", "public, max-age=31536000, immutable");
    if (names_etag(head.if_none_match, etag)) {
        reply.status = 304;
        return reply;
    }
    reply.add("Content-Type", is_variants ? "application/json" : "application/octet-stream");
    reply.add("X-Content-Type-Options", "nosniff");
    reply.body = std::move(bytes);
    return reply;
}

Reply reply_arriving(SharedArrivingFile file, const Route& route) {
    Reply reply;
    reply.add("ETag", "\"" + route.sha256 + "\"");
    reply.add("Cache-Control", "public, max-age=31536000, immutable");
    reply.add("Accept-Ranges", "bytes");
    reply.add("Content-Type", "application/octet-stream");
    reply.add("X-Content-Type-Options", "nosniff");
    reply.body = std::move(file);
    return reply;
}

}  // namespace wheelyard::http
