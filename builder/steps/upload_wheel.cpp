// uploading ─► done: sends the wheel once if its page does not show it, then waits until the page does. Without a
// registry the wheel stays in the work folder. Then the same for its variant, where one is asked for.
#include <cstdint>
#include <optional>

#include "builder/steps/built_wheel.hpp"
#include "builder/steps/provenance.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {

namespace {

// How long a page may lag behind an accepted upload.
constexpr std::int64_t upload_visible_ms = 60 * 60'000;
// How long an index of variants may fail; shorter than max_error_wait_ms.
constexpr std::int64_t variant_wait_ms = std::int64_t{24} * 60 * 60'000;

namespace fs = std::filesystem;

// No connection, refused credentials, a task that the site does not have, or an upload that can be resumed.
bool is_no_fault_of_the_wheel(base::ErrorKind kind) {
    using enum base::ErrorKind;
    return kind == unreachable || kind == unauthorized || kind == lost || kind == in_progress;
}

constexpr const char* offer_again =
    "see the registry's log; `wheelyard-builder retry` uploads the wheel again";

base::Result<Next> send_wheel(Attempt& attempt, Ports& ports);
base::Result<Next> send_variant(Attempt& attempt, Ports& ports);
base::Result<Next> upload_variant(Attempt& attempt, Ports& ports);

// A file of the attempt on its way into an index.
struct Parcel {
    WheelRecord& wheel;
    Registry* registry;
    base::Result<fs::path> file;
    Step send, look;        // the step that sends it, and the one that looks for it on the page
    std::string_view sent;  // the failpoint
};
Parcel wheel_of(Attempt& attempt, Ports& ports) {
    return {attempt.wheel, ports.registry_of(attempt), find_wheel(attempt, ports), send_wheel, upload_wheel,
            "upload.sent"};
}
Parcel variant_of(Attempt& attempt, Ports& ports) {
    return {attempt.variant, ports.variants, ports.folder_of(attempt).variant() / attempt.variant.filename,
            send_variant,    upload_variant, "variant.sent"};
}
// Rights in the index of variants are others.
bool has_token_of_site(const Parcel& parcel, const Ports& ports) {
    return parcel.registry != ports.variants;
}

base::Result<bool> is_published(const Attempt& attempt, const Parcel& parcel) {
    WHEELYARD_ASSIGN(const auto page, parcel.registry->page(attempt.asked.package));
    const auto* file = page ? simple::find_file(*page, parcel.wheel.filename) : nullptr;
    if (file == nullptr) return false;
    if (file->sha256 == parcel.wheel.sha256) return true;
    return base::fail("upload.name_taken",
                      "The index has another file of this name: sha256 " + file->sha256 + ", ours is " +
                          parcel.wheel.sha256,
                      parcel.wheel.filename,
                      "a published file never changes its bytes; build another version");
}

// Tries once; on failure the attempt keeps its file and waits for another tick.
base::Result<Next> send(Attempt& attempt, Ports& ports, const Parcel& parcel) {
    WHEELYARD_TRY(parcel.file);
    WHEELYARD_ASSIGN(const auto* inspection, inspection_of(attempt, ports, *parcel.file));
    const io::HttpProgress still_ours = [&ports](std::uint64_t, std::uint64_t) {
        return ports.still_ours().has_value();  // false ends the transfer
    };
    const auto sent = parcel.registry->upload(
        {*parcel.file, parcel.wheel.sha256, *inspection,
         wire::render_wheel_provenance(provenance_of_wheel(attempt, parcel.wheel, ports))},
        still_ours);
    if (!sent) {
        const base::ErrorKind kind = sent.error().kind;
        if (kind == base::ErrorKind::unauthorized && has_token_of_site(parcel, ports))
            ports.uploads_paused = sent.error();
        if (is_no_fault_of_the_wheel(kind)) --parcel.wheel.sends;
        return tl::unexpected(sent.error());
    }
    ports.failpoints.hit(parcel.sent);
    parcel.wheel.sent = ports.clock.now();
    attempt.waiting = {};
    return WriteJournal{parcel.look};
}

// The try is journaled before the bytes are sent, so that an agent that is killed repeatedly does not send
// without limit.
base::Result<Next> begin_sending(Attempt& attempt, Ports& ports, const Parcel& parcel) {
    if (ports.uploads_paused && has_token_of_site(parcel, ports))
        return TryLater{*ports.uploads_paused, false};  // reported by the wheel that got the error
    WHEELYARD_TRY(parcel.file);
    WHEELYARD_TRY(inspection_of(attempt, ports, *parcel.file));  // an error of the disk is not a try
    if (parcel.wheel.sends >= max_sends) {
        return base::fail("upload.too_often",
                          "The wheel was sent " + std::to_string(parcel.wheel.sends) +
                              " times and never accepted. The last answer: " + attempt.waiting.reason,
                          parcel.wheel.filename, offer_again);
    }
    ++parcel.wheel.sends;
    return WriteJournal{parcel.send};
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
base::Status wait_for_page(const WheelRecord& wheel, const Ports& ports) {
    if (ports.clock.now() - wheel.sent > upload_visible_ms * 1000) {
        return base::fail("upload.never_visible",
                          "The registry accepted the wheel at " + base::render_rfc3339(wheel.sent) +
                              ", but its page never showed it",
                          wheel.filename, offer_again);
    }
    return base::fail_for_now("upload.not_visible",
                              "The registry accepted the wheel, but its page does not show it yet",
                              wheel.filename);
}

// Sends it unless the page shows it; nullopt: the page does.
base::Result<std::optional<Next>> publish(Attempt& attempt, Ports& ports, const Parcel& parcel) {
    WHEELYARD_ASSIGN(const bool is_there, is_published(attempt, parcel));
    if (!is_there && parcel.wheel.sent == 0) return begin_sending(attempt, ports, parcel);
    if (!is_there) WHEELYARD_TRY(wait_for_page(parcel.wheel, ports));
    const bool is_known = parcel.wheel.index == parcel.registry->index();
    parcel.wheel.index = parcel.registry->index();
    if (!is_known) ports.report(attempt, "published in " + parcel.wheel.index);
    return std::nullopt;
}

base::Result<Next> send_wheel(Attempt& attempt, Ports& ports) {
    return send(attempt, ports, wheel_of(attempt, ports));
}

// The wheel itself is published: what makes its variant impossible is noted, and is no failure of the
// attempt.
base::Result<Next> without_variant(Attempt& attempt, Ports& ports, const base::Error& why) {
    attempt.variant = {};
    attempt.variant.not_made = why.text();
    ports.report(attempt, "no variant in " + ports.variants->index() + ": " + attempt.variant.not_made);
    return Move{State::done};
}
// An attempt does not fail for its variant: it goes on without it before it would have waited for too long.
bool is_final(const Attempt& attempt, const Ports& ports, const base::Error& error) {
    const bool has_waited =
        attempt.waiting.since != 0 && ports.clock.now() - attempt.waiting.since >= variant_wait_ms * 1000;
    return !error.may_pass() || error.recovery == base::Recovery::person || has_waited;
}

base::Result<Next> send_variant(Attempt& attempt, Ports& ports) {
    auto next = send(attempt, ports, variant_of(attempt, ports));
    return !next && is_final(attempt, ports, next.error()) ? without_variant(attempt, ports, next.error())
                                                           : next;
}

base::Result<Next> upload_variant(Attempt& attempt, Ports& ports) {
    if (attempt.variant.filename.empty()) {
        const auto made = make_variant(attempt, ports);
        if (made) return WriteJournal{upload_variant};
        if (is_final(attempt, ports, made.error())) return without_variant(attempt, ports, made.error());
        return tl::unexpected(made.error());
    }
    auto next = publish(attempt, ports, variant_of(attempt, ports));
    if (!next && is_final(attempt, ports, next.error())) return without_variant(attempt, ports, next.error());
    if (!next) return tl::unexpected(next.error());
    if (*next) return **next;
    ports.failpoints.hit("variant.seen");
    return Move{State::done};
}

}  // namespace

base::Result<Next> upload_wheel(Attempt& attempt, Ports& ports) {
    const Registry* const registry = ports.registry_of(attempt);
    if (registry == nullptr && attempt.asked.for_task)
        return base::fail_as(
            base::ErrorKind::lost, base::Recovery::retry,
            {"upload.no_task", "The site does not have the wheel's task now", attempt.asked.cell});
    if (registry == nullptr) {
        WHEELYARD_TRY(keep(attempt, ports));
    } else if (attempt.wheel.index != registry->index()) {  // else it was seen: its variant took another tick
        WHEELYARD_ASSIGN(const auto next, publish(attempt, ports, wheel_of(attempt, ports)));
        if (next) return *next;
    }
    ports.failpoints.hit("upload.seen");
    if (wants_variant(attempt, ports)) return WriteJournal{upload_variant};
    return Move{State::done};
}

// planned ─► done, for a promotion: one request to the registry for the wheel and its set. If the request is repeated
// after a kill, the registry answers that they are already promoted.
base::Result<Next> promote_wheel(Attempt& attempt, Ports& ports) {
    std::vector<std::string> filenames{attempt.source.filename};
    filenames.insert(filenames.end(), attempt.asked.with.begin(), attempt.asked.with.end());
    if (ports.registry == nullptr || ports.site.registry->promote_to.empty())
        return base::fail("promote.nowhere", "The site file no longer says where to promote wheels to",
                          filenames.front());
    WHEELYARD_TRY(ports.registry->promote(filenames));
    ports.failpoints.hit(promotion_failpoint);
    for (const auto& filename : filenames) {
        WHEELYARD_ASSIGN(const auto name, wheel::parse_wheel_filename(filename));
        WHEELYARD_ASSIGN(const auto page, ports.registry->promoted_page(name.project));
        if (!page || simple::find_file(*page, filename) == nullptr)
            return base::fail_for_now("upload.not_visible",
                                      "The wheel is promoted, but its page does not show it yet", filename);
    }
    ports.report(attempt, "promoted to index `" + ports.site.registry->promote_to + "`" +
                              (filenames.size() == 1 ? "" : ", with its set"));
    return Move{State::done};
}

}  // namespace wheelyard::builder
