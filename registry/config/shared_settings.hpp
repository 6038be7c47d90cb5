// What the nodes over one database have to have alike, of the configuration file as it is written: a digest
// of each table, by which a node sees in what another one differs. A key that is new is compared; those of
// one machine are named here.
#pragma once

#include <string>

#include "lib/io/json.hpp"
#include "lib/store/nodes/node_board.hpp"

namespace wheelyard::registry {

// "[tasks]" -> "5f3a9c01", also "[[index]]"; a table without shared keys has none. The order of keys does not
// count.
[[nodiscard]] nodes::SharedSettings shared_settings(const io::Json& document);

}  // namespace wheelyard::registry
