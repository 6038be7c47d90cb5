// gc: removes blobs that no file has referred to for a grace period.
//
// A pinned or quarantined file is a file: its blobs stay. Rows first (one transaction a batch, with the event
// that names the blobs), then the bytes: after a crash in between, the next run removes the orphans.
#pragma once

#include "registry/lifecycle/perform.hpp"

namespace wheelyard::lifecycle {

[[nodiscard]] base::Result<Done> collect(const Place& place, const Action& action, const std::string& actor);

}  // namespace wheelyard::lifecycle
