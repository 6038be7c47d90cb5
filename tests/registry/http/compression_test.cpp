#include "registry/http/compression.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "lib/base/digest/digest.hpp"
#include "lib/io/gzip.hpp"
#include "lib/io/zstd.hpp"
#include "registry/http/rendered_page.hpp"

namespace wheelyard::http {

namespace {

const std::string long_text(5'000, 'x');

RequestHead head_that_accepts(const std::string& codings) {
    RequestHead head;
    head.accept_encoding = codings;
    return head;
}

Reply text_reply(const std::string& content_type, const std::string& body = long_text) {
    Reply reply;
    reply.add("Content-Type", content_type);
    reply.body = body;
    return reply;
}

bool has(const Reply& reply, const std::string& field) {
    const std::string head = render_reply_head(reply, {});
    return head.find("\r\n" + field + "\r\n") != std::string::npos;
}

std::string body_of(const Reply& reply) {
    if (const auto* shared = std::get_if<SharedText>(&reply.body)) return **shared;
    return std::get<std::string>(reply.body);
}

}  // namespace

TEST_CASE("a text that was made for a request is compressed as the client takes it") {
    for (const char* type : {"text/html; charset=utf-8", "text/plain", "application/json", "image/svg+xml"}) {
        CAPTURE(type);
        Reply packed = text_reply(type);
        compress_reply(packed, head_that_accepts("gzip"));
        CHECK(has(packed, "Content-Encoding: gzip"));
        CHECK(has(packed, "Vary: Accept-Encoding"));
        CHECK(io::gunzip(body_of(packed), long_text.size()).value() == long_text);
        Reply best = text_reply(type);
        compress_reply(best, head_that_accepts("gzip, zstd"));
        CHECK(has(best, "Content-Encoding: zstd"));
        CHECK(io::unzstd(body_of(best), long_text.size()).value() == long_text);
        Reply plain = text_reply(type);
        compress_reply(plain, head_that_accepts(""));
        CHECK(has(plain, "Vary: Accept-Encoding"));  // a cache must not give it to others
        CHECK(body_of(plain) == long_text);
    }
}

TEST_CASE("what is no text, is small or is no success stays as it is") {
    std::array<Reply, 4> replies{text_reply("image/png"), text_reply("application/octet-stream"),
                                 text_reply("text/plain", "few bytes"), reply_text(503, long_text)};
    for (Reply& reply : replies) {
        const std::string before = body_of(reply);
        compress_reply(reply, head_that_accepts("gzip, zstd"));
        CHECK_FALSE(has(reply, "Vary: Accept-Encoding"));
        CHECK(body_of(reply) == before);
    }
}

TEST_CASE("the copies of a page that is mostly hashes take no more than is expected of them") {
    std::string text;
    for (int i = 0; i < 1'000; ++i) {
        const std::string hash = base::sha256_hex(std::to_string(i));
        const std::string name = "six-1." + std::to_string(i) + "-py3-none-any.whl";
        text += "<a href=\"../../files/" + hash + "/" + name + "#sha256=" + hash +
                "\" data-core-metadata=\"sha256=" + base::sha256_hex(hash) + "\">" + name + "</a><br>\n";
    }
    PackedCopies copies;
    std::size_t bytes = 0;
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        copies.make(PageForm::html, coding, text);
        REQUIRE((copies.copy(PageForm::html, coding) != nullptr || !io::has_zstd()));
        if (const SharedText copy = copies.copy(PageForm::html, coding)) bytes += copy->size();
    }
    CHECK(bytes > 0);
    CHECK(bytes <= PackedCopies::expected_bytes(text.size()));
}

TEST_CASE("a page of an upstream is compressed once, and each of its representations has its own tag") {
    const auto page = std::make_shared<const RenderedPage>(
        RenderedPage{.html = long_text + "html", .json = long_text + "json", .tag = "t", .modified = 0});
    const Route route{RouteKind::project_page, "site", "six"};
    struct Row {
        const char* accept;
        const char* codings;
        const char* etag;
    };
    for (const Row& row :
         {Row{"", "", "\"t-html\""}, Row{"", "gzip", "\"t-html-gz\""}, Row{"", "zstd", "\"t-html-zst\""},
          Row{"application/vnd.pypi.simple.v1+html", "gzip", "\"t-v1-html-gz\""},
          Row{"application/vnd.pypi.simple.v1+json", "", "\"t\""},
          Row{"application/vnd.pypi.simple.v1+json", "gzip", "\"t-gz\""},
          Row{"application/vnd.pypi.simple.v1+json", "zstd", "\"t-zst\""}}) {
        CAPTURE(row.accept);
        CAPTURE(row.codings);
        RequestHead head = head_that_accepts(row.codings);
        head.accept = row.accept;
        if (is_worth_packing(*page, route, head)) pack_page(*page, route, head);
        CHECK_FALSE(is_worth_packing(*page, route, head));
        const Reply reply = reply_rendered_page(page, route, head);
        CHECK(has(reply, "ETag: " + std::string(row.etag)));
        CHECK(has(reply, "Vary: Accept, Accept-Encoding"));
        CHECK((*row.codings == '\0' || has(reply, "Content-Encoding: " + std::string(row.codings))));
        CHECK(*std::get<SharedText>(reply.body) ==
              *std::get<SharedText>(reply_rendered_page(page, route, head).body));
        head.if_none_match = row.etag;
        CHECK(reply_rendered_page(page, route, head).status == 304);
        head.accept_encoding = "br";
        CHECK((reply_rendered_page(page, route, head).status == 304) == (*row.codings == '\0'));
    }
    const Reply reply = reply_rendered_page(page, route, head_that_accepts("zstd"));
    CHECK(io::unzstd(body_of(reply), page->html.size()).value() == page->html);
}

}  // namespace wheelyard::http
