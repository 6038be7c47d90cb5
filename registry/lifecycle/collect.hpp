// gc: takes away blobs that no file refers to, once they have been so for a grace.
//
// A pinned or quarantined file is a file: its blobs stay. Rows first (one transaction a batch, with the event
// that names the blobs), then the bytes: killed in between, a blob is an orphan that the next run takes.
#pragma once

#include "registry/lifecycle/perform.hpp"

namespace wheelyard::lifecycle {

[[nodiscard]] base::Result<Done> collect(const Place& place, const Action& action, const std::string& actor);

}  // namespace wheelyard::lifecycle
