// The names that each wheel of torch defines, kept beside the blobs in `torch/`: eight bytes a name instead of a wheel of gigabytes,
// for the question whether a companion can be loaded with it (lib/inspect/abi/torch_fit.hpp). A table that is not there, or is
// damaged, is made from the wheel when it is asked for.
//
//     torch/SHA256-OF-THE-WHEEL
//         {"format":"wheelyard.torch/1","machines":["x86_64"],"needed":["libcudart.so.12"],"libraries":["libc10.so"],
//          "strings":"true","complete":true,"names":41300}⏎
//         and each name's torch_name_hash(), big-endian, sorted
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "registry/blobs/store.hpp"
#include "registry/intake/library_lookup.hpp"

namespace wheelyard::registry {

[[nodiscard]] std::string render_torch_table(const inspect::TorchExports& torch);
// `filename` is that of the wheel, which says version and tags. Error "torch.table": the bytes are no such table.
[[nodiscard]] base::Result<inspect::TorchExports> parse_torch_table(const wheel::WheelFilename& filename,
                                                                    std::string_view bytes);

class TorchTables {
  public:
    // `blobs` must outlive it.
    TorchTables(const blobs::BlobStore& blobs, const std::filesystem::path& store);
    [[nodiscard]] base::Result<inspect::TorchExports> of(const wheel::WheelFilename& filename,
                                                         const std::string& sha256) const;
    // Keeps the table of a torch that was inspected with InspectOptions::torch_names; ignores other wheels. Removes the tables of
    // wheels that the store no longer has.
    [[nodiscard]] base::Status keep(const std::string& sha256, const inspect::Inspection& inspection) const;

  private:
    [[nodiscard]] base::Status write(const std::string& sha256, const inspect::TorchExports& torch) const;
    const blobs::BlobStore* blobs_;
    std::filesystem::path folder_;
};

// The offered torches that the requirements allow and a Python of the wheel can load; where some have the local
// version of the wheel (`+cu126`), only those. More than max_torches_judged are not judged. An empty function if the policy does
// not ask for `torch.cannot_load`.
inline constexpr std::size_t max_torches_judged = 64;
[[nodiscard]] inspect::TorchesFor torch_lookup(const inspect::Policy& policy, OfferedFiles offered,
                                               TorchTables tables);

}  // namespace wheelyard::registry
