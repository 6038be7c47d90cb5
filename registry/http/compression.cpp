#include "registry/http/compression.hpp"

#include <memory>
#include <utility>

#include "lib/io/gzip.hpp"
#include "lib/io/zstd.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace {

// By the Content-Type that the reply has.
bool is_text(const Reply& reply) {
    std::string_view type = reply.field("Content-Type");
    type = type.substr(0, type.find(';'));
    return type.starts_with("text/") || type.ends_with("json") || type.ends_with("xml");
}

}  // namespace

SharedText compressed(std::string_view text, Coding coding) {
    if (coding == Coding::none || text.size() < min_packed_bytes) return nullptr;
    auto bytes = coding == Coding::zstd ? io::zstd(text) : io::gzip(text);
    if (!bytes || bytes->size() >= text.size()) return nullptr;
    return std::make_shared<const std::string>(*std::move(bytes));
}

std::string_view content_coding(Coding coding) {
    if (coding == Coding::none) return {};
    return coding == Coding::zstd ? "zstd" : "gzip";
}

std::string etag_of(std::string_view tag, std::string_view form, Coding coding) {
    std::string etag = "\"";
    etag.append(tag).append(form);
    if (coding != Coding::none) etag += coding == Coding::zstd ? "-zst" : "-gz";
    return etag + "\"";
}

void compress_reply(Reply& reply, const RequestHead& head) {
    const auto* text = std::get_if<std::string>(&reply.body);
    if (reply.status != 200 || text == nullptr || text->size() < min_packed_bytes || !is_text(reply)) return;
    if (!reply.field("Content-Encoding").empty()) return;  // by the node that answered
    reply.add("Vary", "Accept-Encoding");
    const Coding coding = choose_coding(head.accept_encoding, io::has_zstd());
    SharedText smaller = compressed(*text, coding);
    if (!smaller) return;
    reply.add("Content-Encoding", content_coding(coding));
    reply.body = std::move(smaller);
}

std::size_t PackedCopies::place_of(PageForm form, Coding coding) {
    return (form == PageForm::json ? 0U : 2U) + (coding == Coding::zstd ? 0U : 1U);
}

bool PackedCopies::has(PageForm form, Coding coding) const {
    if (coding == Coding::none) return true;
    const std::lock_guard lock(mutex_);
    return copies_[place_of(form, coding)].is_made;
}

SharedText PackedCopies::copy(PageForm form, Coding coding) const {
    if (coding == Coding::none) return nullptr;
    const std::lock_guard lock(mutex_);
    return copies_[place_of(form, coding)].text;
}

void PackedCopies::make(PageForm form, Coding coding, const std::string& text) {
    if (has(form, coding)) return;
    SharedText made = compressed(text, coding);
    const std::lock_guard lock(mutex_);
    copies_[place_of(form, coding)] = {std::move(made), true};
}

}  // namespace wheelyard::http
