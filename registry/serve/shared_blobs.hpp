// Whether all nodes keep their wheels in one store: a mark in it, whose name is in the database.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/config/config.hpp"
#include "registry/nodes/node_board.hpp"

namespace wheelyard::registry {

// Machine and data folder, "login1:/var/lib/wheelyard".
[[nodiscard]] std::string place_of(const RegistryConfig& config);

// "8f0c5a… s3://farm": the mark's name, and where the node that left it found the store.
[[nodiscard]] std::string name_of_mark(const std::string& mark);

// The mark that the store of the wheels has in common with those of the nodes that run; "node.differs": they have another
// one. Where none runs, the store may be another one than before: it gets a mark of its own, and who has the former one is
// no longer alike. The mark as the database has it, unproved, where the store does not answer.
[[nodiscard]] base::Result<std::string> prove_blobs(nodes::NodeBoard& board, const blobs::BlobStore& blobs,
                                                    const RegistryConfig& config);

}  // namespace wheelyard::registry
