// XPU: Intel's GPUs through SYCL and Level Zero, as PyTorch names them. Its row of the table, and its rules
// as pure functions.
#pragma once

#include <string_view>

#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::accelerator::xpu {

extern const AcceleratorKind kind;

// The architecture of a GPU by its PCI device id: "0x0bd5" → "pvc"; empty: an integrated GPU, or one not in
// the table.
[[nodiscard]] std::string_view architecture_of_device(std::string_view pci_id);

// `xpu-smi discovery -j` (user guide of Intel's XPU System Management Interface): {"device_list":
// [{"device_id": 0, "device_name": "Intel(R) Data Center GPU Max 1550", "pci_device_id": "0xbd5", …}, …]}.
void read_xpu_smi(std::string_view text, FoundGpus& found);

}  // namespace wheelyard::accelerator::xpu
