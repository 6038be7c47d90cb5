// Documents of the task service from untrusted peers: accepted documents survive a round trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/wire/task.hpp"

namespace {

using namespace wheelyard;

void require(bool holds) {
    if (!holds) std::abort();
}

template <typename Parse, typename Render>
void try_document(std::string_view body, Parse parse, Render render) {
    const auto once = parse(body);
    if (!once) {
        require(!once.error().code.empty());
        return;
    }
    const auto text = render(*once);
    const auto twice = parse(text);
    require(twice.has_value());
    require(render(*twice) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    try_document(body, wire::parse_wish, wire::render_wish);
    try_document(body, wire::parse_task,
                 [](const wire::Task& task) { return wire::task_json(task).render(); });
    try_document(body, wire::parse_tasks, wire::render_tasks);
    try_document(body, wire::parse_claim, wire::render_claim);
    try_document(body, wire::parse_claimed, wire::render_claimed);
    try_document(body, wire::parse_lease_request, wire::render_lease_request);
    try_document(body, wire::parse_lease, wire::render_lease);
    try_document(body, wire::parse_task_end, wire::render_task_end);
    return 0;
}
