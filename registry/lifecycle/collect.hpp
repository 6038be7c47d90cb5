// gc: removes blobs that no file has referred to for a grace period.
//
// Blobs of pinned and quarantined files stay. Rows are removed first, in one transaction per batch with the event
// that lists the blobs, and then the bytes: after a crash in between, the next run removes the orphans.
#pragma once

#include "registry/lifecycle/perform.hpp"

namespace wheelyard::lifecycle {

[[nodiscard]] base::Result<Done> collect(const Place& place, const Action& action, const std::string& actor);

}  // namespace wheelyard::lifecycle
