// What AMD's tools print, for the tests of the row of ROCm and of a node's probe.
#pragma once

namespace wheelyard {

// `amd-smi static --asic --json` as posted by users: a Radeon, and an MI210 converted from the plain output
// to this format.
inline constexpr const char* amd_smi_gpus = R"([
    {
        "gpu": 0,
        "asic": {
            "market_name": "AMD Instinct MI210",
            "vendor_id": "0x1002",
            "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
            "subvendor_id": "0x1002",
            "device_id": "0x740f",
            "subsystem_id": "0x0c34",
            "rev_id": "0x02",
            "oam_id": "N/A",
            "num_compute_units": 104,
            "target_graphics_version": "gfx90a"
        }
    },
    {
        "gpu": 1,
        "asic": {
            "market_name": "AMD Radeon RX 7800 XT",
            "vendor_id": "0x1002",
            "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
            "subvendor_id": "0x1eae",
            "device_id": "0x747e",
            "subsystem_id": "0x7801",
            "rev_id": "0xc8",
            "oam_id": "N/A",
            "num_compute_units": 60,
            "target_graphics_version": "gfx1101"
        }
    }
])";

}  // namespace wheelyard
