#include "lib/accelerator/xpu.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace wheelyard;
using namespace wheelyard::accelerator;
using Names = std::vector<std::string>;

namespace {

// The files of a host, and what its xpu-smi prints.
FoundGpus probe(const std::map<std::string, std::string>& files, const std::string& xpu_smi = {}) {
    FoundGpus found;
    const HostAccess host{
        [&](const std::string& path) { return files.contains(path) ? files.at(path) : std::string(); },
        [&](const std::string& folder) {
            Names entries;
            for (const auto& [path, text] : files) {
                const auto end = path.find('/', folder.size() + 1);
                const std::string entry = path.substr(0, end);
                if (path.starts_with(folder + "/") && (entries.empty() || entries.back() != entry))
                    entries.push_back(entry);
            }
            return entries;
        },
        [&](const std::vector<std::string>& command) {
            CHECK(command == Names{"xpu-smi", "discovery", "-j"});
            return xpu_smi;
        }};
    xpu::kind.probe(host, found);
    return found;
}

// The sample of the user guide, with the name and id of another GPU.
constexpr const char* discovered = R"({
    "device_list": [
        {
            "device_id": 0,
            "device_name": "Intel(R) Data Center GPU Max 1550",
            "device_type": "GPU",
            "pci_bdf_address": "0000:4d:00.0",
            "pci_device_id": "0xbd5",
            "uuid": "00000000-0000-0000-0000-020a00008086",
            "vendor_name": "Intel(R) Corporation"
        },
        {"device_id": 1, "device_name": "Intel(R) Graphics [0x020a]", "pci_device_id": "0x20a"}
    ]
})";

}  // namespace

TEST_CASE(
    "a GPU of the Max series is found by the kernel's PCI ids; integrated GPUs and connectors do not count") {
    const auto node = probe({{"/sys/class/drm/card0/device/vendor", "0x102b\n"},  // the console's
                             {"/sys/class/drm/card0/device/device", "0x0536\n"},
                             {"/sys/class/drm/card1/device/vendor", "0x8086\n"},
                             {"/sys/class/drm/card1/device/device", "0x0bd5\n"},
                             {"/sys/class/drm/card2/device/vendor", "0x8086\n"},
                             {"/sys/class/drm/card2/device/device", "0x0bd5\n"},
                             {"/sys/class/drm/renderD128/device/vendor", "0x8086\n"}});
    REQUIRE(node.gpus);
    CHECK(node.gpus->archs == Names{"pvc"});
    CHECK_FALSE(node.driver);
    const auto laptop = probe({{"/sys/class/drm/card0/device/vendor", "0x8086\n"},
                               {"/sys/class/drm/card0/device/device", "0x46a6\n"},
                               {"/sys/class/drm/card0-eDP-1/device/vendor", "0x8086\n"},
                               {"/sys/class/drm/card0-eDP-1/device/device", "0x0bd5\n"}});
    CHECK_FALSE(laptop.gpus);
}

TEST_CASE("xpu-smi is asked where the kernel's devices are hidden") {
    const auto node = probe({}, discovered);
    REQUIRE(node.gpus);
    CHECK(node.gpus->archs == Names{"pvc"});
    CHECK(node.gpus->names == Names{"Intel(R) Data Center GPU Max 1550"});
    for (const char* text : {"", "{", "No device discovered", R"({"device_list": "none"})",
                             R"({"device_list": [1, null]})", R"({"device_list": [{"device_name": "x"}]})"}) {
        CAPTURE(text);
        CHECK_FALSE(probe({}, text).gpus);
    }
}

TEST_CASE("PCI ids are read with and without leading zeros") {
    for (const char* known : {"0x0bd5", "0xbd5", "0x0BDA", "0x0b69", "0x0be5"})
        CHECK_MESSAGE(xpu::architecture_of_device(known) == "pvc", known);
    for (const char* unknown : {"", "0x", "0bd5", "0x0bd3", "0x56c0", "0x0bd5x", "0xfffffffffffff"})
        CHECK_MESSAGE(xpu::architecture_of_device(unknown).empty(), unknown);
}

TEST_CASE("architectures are the names of ocloc; models of the Max series have one") {
    for (const char* text : {"pvc", "bmg", "bmg-g21", "dg2", "ats-m150", "lnl-m", "ptl-u"})
        CHECK_MESSAGE(is_gpu_architecture(text), text);
    for (const char* text : {"pvcx", "pvc_vg", "PVC", "xe", "ats", "gfx90a:pvc", "sm_pvc"})
        CHECK_MESSAGE((!is_gpu_architecture(text) || kind_of_architecture(text) != &xpu::kind), text);
    CHECK(xpu::kind.parse_gpu("Intel(R) Data Center GPU Max 1550") == "pvc");
    CHECK(xpu::kind.parse_gpu("pvc") == "pvc");
    CHECK(xpu::kind.parse_gpu("NVIDIA H100").empty());
}

TEST_CASE("the label xpu names no release of oneAPI") {
    CHECK(xpu::kind.toolkit_of_label("xpu") == "");
    CHECK(xpu::kind.toolkit_of_label("xpu.dawn") == "");
    for (const char* label : {"", "cu126", "xpux", "rocm6.2"})
        CHECK_FALSE(xpu::kind.toolkit_of_label(label));
}
