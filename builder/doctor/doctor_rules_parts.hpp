// The parts of the table of rules, one file each.
#pragma once

#include <vector>

#include "builder/doctor/doctor_rules.hpp"

namespace wheelyard::builder {

[[nodiscard]] const std::vector<DoctorRule>& machine_rules();
[[nodiscard]] const std::vector<DoctorRule>& toolchain_rules();
[[nodiscard]] const std::vector<DoctorRule>& packaging_rules();

}  // namespace wheelyard::builder
