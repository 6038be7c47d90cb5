// Replies with what comes from an upstream: a page that lies in memory in all of its forms, METADATA, an
// arriving file.
#pragma once

#include "registry/http/reply.hpp"
#include "registry/http/request_head.hpp"
#include "registry/http/routes.hpp"
#include "registry/http/upstream.hpp"

namespace wheelyard::http {

// Says whether compressing the page for this request takes noticeable time: pack_page, not on an I/O thread,
// makes the copy that the page then keeps.
[[nodiscard]] bool is_worth_packing(const RenderedPage& page, const Route& route, const RequestHead& head);
void pack_page(const RenderedPage& page, const Route& route, const RequestHead& head);
// The form that the route or the Accept header names: 200, 304 or 406. The reply shares the page's text.
[[nodiscard]] Reply reply_rendered_page(const std::shared_ptr<const RenderedPage>& page, const Route& route,
                                        const RequestHead& head);

// METADATA of a file, or its attestations: as the published tree sends it.
[[nodiscard]] Reply reply_metadata(SharedText bytes, const Route& route, const RequestHead& head);

// A whole file that still arrives: for a request without ranges and conditions.
[[nodiscard]] Reply reply_arriving(SharedArrivingFile file, const Route& route);

[[nodiscard]] Reply reply_not_acceptable(std::string_view accept);

}  // namespace wheelyard::http
