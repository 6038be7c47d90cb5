// The names that each wheel of torch defines, kept beside the blobs in `torch/`: eight bytes a name instead
// of a wheel of gigabytes, for the question whether a companion can be loaded with it
// (lib/inspect/abi/torch_fit.hpp). A table that is not there, or is damaged, is made from the wheel when it
// is asked for.
//
//     torch/SHA256-OF-THE-WHEEL
//         {"format":"wheelyard.torch/1","machines":["x86_64"],"needed":["libcudart.so.12"],"libraries":["libc10.so"],
//          "strings":"true","complete":true,"names":41300}⏎
//         and each name's torch_name_hash(), big-endian, sorted
//
// What a companion uses is kept beside them from the first question on, with the names as they are, to say
// which one lacks:
//
//     torch/uses/SHA256-OF-THE-WHEEL
//         {"format":"wheelyard.torch_uses/1","machines":["x86_64"],"needed":["libcudart.so.12"],"strings":"true","complete":true,
//          "files":[{"name":"torchvision/_C.so","names":["_ZN2at4_ops5zeros4callEv"],"libraries":["libtorch_cpu.so"]}]}
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/io/json.hpp"
#include "lib/io/record.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/commit/writer.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// The files that the index offers of a project (normalised), its own or inherited ones; none if they cannot
// be read.
using OfferedFiles = std::function<std::vector<catalog::FileRow>(std::string_view project)>;
// The catalog or writer must outlive the result.
[[nodiscard]] OfferedFiles offered_files(const catalog::Catalog& catalog, const std::string& index);
[[nodiscard]] OfferedFiles offered_files(Writer& writer, const std::string& index);

[[nodiscard]] inspect::LibrariesOf library_lookup(OfferedFiles offered);

[[nodiscard]] std::string render_torch_table(const inspect::TorchExports& torch);
// `filename` is that of the wheel, which says version and tags. Error "torch.table": the bytes are no such
// table.
[[nodiscard]] base::Result<inspect::TorchExports> parse_torch_table(const wheel::WheelFilename& filename,
                                                                    std::string_view bytes);

[[nodiscard]] std::string render_torch_uses(const inspect::CompanionUses& companion);
// Error "torch.uses": the bytes are none.
[[nodiscard]] base::Result<inspect::CompanionUses> parse_torch_uses(const wheel::WheelFilename& filename,
                                                                    std::string_view bytes);

// `filename` is the torch's.
[[nodiscard]] io::Json torch_fit_to_json(const std::string& filename, const inspect::TorchFit& fit);
[[nodiscard]] io::Document torch_fit_document();

// Of one process, one wheel at a time is read for want of a table: a wheel of gigabytes takes seconds.
enum class IfBusy { wait, fail };
inline constexpr std::size_t max_tables_looked_up = 16;

class TorchTables {
  public:
    // `blobs` must outlive it. With IfBusy::fail, error "torch.busy" where another wheel is being read.
    TorchTables(const blobs::BlobStore& blobs, const std::filesystem::path& store,
                IfBusy if_busy = IfBusy::wait);
    [[nodiscard]] base::Result<inspect::TorchExports> of(const wheel::WheelFilename& filename,
                                                         const std::string& sha256) const;
    // What the wheel of a companion uses.
    [[nodiscard]] base::Result<inspect::CompanionUses> uses_of(const wheel::WheelFilename& filename,
                                                               const std::string& sha256) const;
    // Keeps the table of a torch that was inspected with InspectOptions::torch_names; ignores other wheels.
    // Each table that is kept removes those of wheels that the store no longer has, of max_tables_looked_up.
    [[nodiscard]] base::Status keep(const std::string& sha256, const inspect::Inspection& inspection) const;

  private:
    [[nodiscard]] base::Result<std::unique_lock<std::mutex>> turn(const wheel::WheelFilename& filename) const;
    [[nodiscard]] base::Result<inspect::Inspection> read(const wheel::WheelFilename& filename,
                                                         const std::string& sha256) const;
    // Into torch/ or torch/uses/.
    [[nodiscard]] base::Status write(const std::filesystem::path& folder, const std::string& sha256,
                                     const std::string& table) const;
    void remove_some(const std::filesystem::path& folder, std::size_t name_size) const;
    const blobs::BlobStore* blobs_;
    std::filesystem::path folder_;
    IfBusy if_busy_;
};

// The offered torches that the requirements allow and a Python of the wheel can load; where some have the
// local version of the wheel (`+cu126`), only those. More than max_torches_judged are not judged. An empty
// function if the policy does not ask for `torch.cannot_load`.
inline constexpr std::size_t max_torches_judged = 64;
[[nodiscard]] inspect::TorchesFor torch_lookup(const inspect::Policy& policy, OfferedFiles offered,
                                               TorchTables tables);

// Asked where a wheel comes from another index: `torch.cannot_load` at quarantine or more refuses it with
// "lifecycle.cannot_load". The torches that come `with` it count as offered. A wheel whose facts say nothing
// of torch is not read.
[[nodiscard]] base::Status check_with_torches(const RegistryConfig& config, const std::string& index,
                                              const catalog::FileRow& row, const OfferedFiles& offered,
                                              const std::vector<catalog::FileRow>& with,
                                              const TorchTables& tables);

}  // namespace wheelyard::registry
