// Facts (lib/inspect/facts.hpp) as the JSON document that the catalog, the catalogue file and `check --json`
// carry.
//
//     {"size_bytes":…,"tags":["cp312-cp312-linux_aarch64"],"machines":["aarch64"],"symbol_floors":{"GLIBC":"2.17"},…}
#pragma once

#include "lib/inspect/facts.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::wire {

[[nodiscard]] io::Json render_facts(const inspect::Facts& facts);

}  // namespace wheelyard::wire
