// Parts of `wheelyard-builder site init`, which writes a site file from what this machine reports.
#pragma once

#include <filesystem>
#include <string>

#include "builder/commands.hpp"
#include "builder/survey/site_draft.hpp"

namespace wheelyard::builder {

// The folder site-configs/common that belongs to this program: installed beside it, or of its source tree. Empty: none.
[[nodiscard]] std::filesystem::path find_common_recipes(const std::filesystem::path& program);

// "wheelyard.site-survey/1": what was found, the file, and what a person must fill in.
[[nodiscard]] std::string render_survey_json(const Survey& survey, const SiteDraft& draft,
                                             const std::filesystem::path& file);

}  // namespace wheelyard::builder
