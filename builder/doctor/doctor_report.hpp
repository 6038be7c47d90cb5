// Renders what the doctor found in a log: as text, and as "wheelyard.doctor/1" JSON. Pure.
#pragma once

#include <string>

#include "builder/doctor/doctor.hpp"

namespace wheelyard::builder {

// `log`: the file name as given on the command line.
[[nodiscard]] std::string render_examination(const Examination& seen, const std::string& log);
[[nodiscard]] std::string render_examination_json(const Examination& seen, const std::string& log);
// One rule with its patterns.
[[nodiscard]] std::string render_rule(const DoctorRule& rule);
[[nodiscard]] std::string render_rules_json();  // "wheelyard.doctor_rules/1"

}  // namespace wheelyard::builder
