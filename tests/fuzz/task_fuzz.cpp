// Documents of the task service and of uploads from untrusted peers: accepted documents survive a round trip.
#include <cstdint>
#include <string_view>

#include "lib/wire/task.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    using fuzz::check_round_trip;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    check_round_trip(
        body, [](std::string_view text) { return wire::parse_task_request(text); },
        wire::render_task_request);
    check_round_trip(body, wire::parse_task,
                     [](const wire::Task& task) { return wire::task_json(task).render(); });
    check_round_trip(body, wire::parse_tasks, wire::render_tasks);
    check_round_trip(body, wire::parse_claim, wire::render_claim);
    check_round_trip(body, wire::parse_claimed, wire::render_claimed);
    check_round_trip(body, wire::parse_wheel_provenance, wire::render_wheel_provenance);
    return 0;
}
