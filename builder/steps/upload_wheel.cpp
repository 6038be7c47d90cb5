// uploading ─► done: sends the wheel once if its page does not show it, then waits until the page does. Without a
// registry the wheel stays in the work folder.
#include "builder/steps/built_wheel.hpp"

#include <cstdint>

#include "builder/steps/provenance.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::builder {
namespace {

// How long a page may lag behind an accepted upload.
constexpr std::int64_t upload_visible_ms = 60 * 60'000;

namespace fs = std::filesystem;

// No connection, refused credentials, an expired lease, or an upload that can be resumed.
bool is_no_fault_of_the_wheel(base::ErrorKind kind) {
    using enum base::ErrorKind;
    return kind == unreachable || kind == unauthorized || kind == lost || kind == in_progress;
}

constexpr const char* offer_again =
    "see the registry's log; `wheelyard-builder retry` uploads the wheel again";

// A wheel for a task is uploaded with the task's own credentials.
bool is_granted(const Attempt& attempt, const Ports& ports) {
    return ports.registry_of(attempt) != ports.registry;
}

base::Result<bool> is_published(const Attempt& attempt, const Ports& ports) {
    WHEELYARD_ASSIGN(const auto page, ports.registry_of(attempt)->page(attempt.asked.package));
    const auto* file = page ? simple::find_file(*page, attempt.wheel.filename) : nullptr;
    if (file == nullptr) return false;
    if (file->sha256 == attempt.wheel.sha256) return true;
    return base::fail("upload.name_taken",
                      "The index has another file of this name: sha256 " + file->sha256 + ", ours is " +
                          attempt.wheel.sha256,
                      attempt.wheel.filename,
                      "a published file never changes its bytes; build another version");
}

// Tries once; on failure the attempt keeps its wheel and waits for another tick.
base::Result<Next> send_wheel(Attempt& attempt, Ports& ports) {
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, ports, file));
    const io::HttpProgress still_ours = [&ports](std::uint64_t, std::uint64_t) {
        return ports.still_ours().has_value();  // false ends the transfer
    };
    const auto sent = ports.registry_of(attempt)->upload(
        {file, attempt.wheel.sha256, *inspection,
         wire::render_wheel_provenance(provenance_of_wheel(attempt, ports))},
        still_ours);
    if (!sent) {
        const base::ErrorKind kind = sent.error().kind;
        if (kind == base::ErrorKind::unauthorized && !is_granted(attempt, ports))
            ports.uploads_paused = sent.error();
        if (is_no_fault_of_the_wheel(kind)) --attempt.wheel.sends;
        return tl::unexpected(sent.error());
    }
    ports.failpoints.hit("upload.sent");
    attempt.wheel.sent = ports.clock.now();
    attempt.waiting = {};
    return Record{upload_wheel};
}

// The try is journaled before the bytes are sent, so that an agent that is killed repeatedly does not send without
// limit.
base::Result<Next> begin_sending(Attempt& attempt, Ports& ports) {
    if (ports.uploads_paused && !is_granted(attempt, ports))
        return TryLater{*ports.uploads_paused, false};  // reported by the wheel that got the error
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    WHEELYARD_TRY(inspection_of(attempt, ports, file));  // an error of the disk is not a try
    if (attempt.wheel.sends >= max_sends) {
        return base::fail("upload.too_often",
                          "The wheel was sent " + std::to_string(attempt.wheel.sends) +
                              " times and never accepted. The last answer: " + attempt.waiting.reason,
                          attempt.wheel.filename, offer_again);
    }
    ++attempt.wheel.sends;
    return Record{send_wheel};
}

base::Status keep(const Attempt& attempt, const Ports& ports) {
    const fs::path kept = kept_wheel(attempt, ports);
    const auto digest = base::sha256_hex_of_file(kept);
    if (digest && *digest == attempt.wheel.sha256) return {};  // moved before the agent was killed
    WHEELYARD_ASSIGN(const auto file, find_wheel(attempt, ports));
    WHEELYARD_TRY(base::make_directories(kept.parent_path()));
    WHEELYARD_TRY(base::rename_durably(file, kept));
    ports.report(attempt, "kept as " + kept.string());
    return {};
}

// An accepted wheel is not sent again.
base::Status wait_for_page(const Attempt& attempt, const Ports& ports) {
    if (ports.clock.now() - attempt.wheel.sent > upload_visible_ms * 1000) {
        return base::fail("upload.never_visible",
                          "The registry accepted the wheel at " + base::render_rfc3339(attempt.wheel.sent) +
                              ", but its page never showed it",
                          attempt.wheel.filename, offer_again);
    }
    return base::fail_for_now("upload.not_visible",
                              "The registry accepted the wheel, but its page does not show it yet",
                              attempt.wheel.filename);
}

}  // namespace

base::Result<Next> upload_wheel(Attempt& attempt, Ports& ports) {
    const Registry* const registry = ports.registry_of(attempt);
    if (registry == nullptr && attempt.asked.for_task)
        return base::fail_as(
            base::ErrorKind::lost, base::Recovery::retry,
            {"upload.no_grant", "The lease of the wheel's task is not available now", attempt.asked.cell});
    if (registry == nullptr) {
        WHEELYARD_TRY(keep(attempt, ports));
    } else {
        WHEELYARD_ASSIGN(const bool is_there, is_published(attempt, ports));
        if (!is_there && attempt.wheel.sent == 0) return begin_sending(attempt, ports);
        if (!is_there) WHEELYARD_TRY(wait_for_page(attempt, ports));
        attempt.wheel.index = registry->index();
        ports.report(attempt, "published in " + attempt.wheel.index);
    }
    ports.failpoints.hit("upload.seen");
    return Move{State::done};
}

}  // namespace wheelyard::builder
