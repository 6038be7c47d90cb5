// Environment markers (PEP 508): `python_version < "3.11" and extra == "test"`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::wheel {

// Variable → value: python_version, python_full_version, os_name, sys_platform, platform_machine,
// platform_system, platform_release, platform_version, platform_python_implementation, implementation_name,
// implementation_version, extra. Of a lock (PEP 751) also extras and dependency_groups: names, separated by
// spaces. Of the wheel that requires something (PEP 825) also those of set_variant().
using MarkerEnvironment = std::map<std::string, std::string, std::less<>>;

struct MarkerNode;  // immutable, shared

class Marker {
  public:
    // Bounds nesting and length. Error "marker.invalid" with the position.
    [[nodiscard]] static base::Result<Marker> parse(std::string_view text);
    // A variable that is missing from the environment is the empty string.
    [[nodiscard]] bool evaluate(const MarkerEnvironment& environment) const;
    [[nodiscard]] std::string text() const;  // normalised spelling
    // The first comparison that is valid by the grammar but that an installer of such wheels raises an
    // exception for in every environment; empty if there is none. They evaluate all comparisons of a marker.
    // `is_of_variant` false: `packaging`, and therefore pip, which knows no variable of PEP 825.
    [[nodiscard]] std::string undefined_comparison(bool is_of_variant = false) const;

  private:
    std::shared_ptr<const MarkerNode> root_;
};

// The environment in which markers are evaluated for a Linux machine with CPython. `python`: "3.12" (its
// first release) or "3.12.4"; `machine`: "x86_64". No extra, and a kernel of no known version.
[[nodiscard]] inline MarkerEnvironment linux_markers(const std::string& python, const std::string& machine) {
    const auto dot = python.find('.', python.find('.') + 1);
    const std::string full = dot == std::string::npos ? python + ".0" : python;
    return {{"python_version", python.substr(0, dot)},
            {"python_full_version", full},
            {"implementation_version", full},
            {"os_name", "posix"},
            {"sys_platform", "linux"},
            {"platform_system", "Linux"},
            {"platform_machine", machine},
            {"implementation_name", "cpython"},
            {"platform_python_implementation", "CPython"}};
}

// The variables of PEP 825 for a wheel with this label: variant_label, and the sets variant_namespaces,
// variant_features and variant_properties. For a wheel without a label all of them stay empty.
void set_variant(MarkerEnvironment& environment, const std::string& label,
                 const std::vector<VariantProperty>& properties);

}  // namespace wheelyard::wheel
