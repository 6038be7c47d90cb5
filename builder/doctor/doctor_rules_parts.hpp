// The parts of the table of rules, one file each, in the order in which they are asked.
#pragma once

#include <vector>

#include "builder/doctor/doctor_rules.hpp"

namespace wheelyard::builder {

[[nodiscard]] const std::vector<DoctorRule>& machine_rules();
[[nodiscard]] const std::vector<DoctorRule>& toolchain_rules();
[[nodiscard]] const std::vector<DoctorRule>& packaging_rules();
[[nodiscard]] const std::vector<DoctorRule>& general_rules();

}  // namespace wheelyard::builder
