// GPU models by the names that batch systems and drivers use.
#include "builder/survey/survey.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

std::optional<GpuType> find_gpu_type(std::string_view text) {
    const std::string lower = base::ascii_lower(text);
    for (std::size_t begin = 0; begin < lower.size();) {
        std::size_t end = begin;
        while (end < lower.size() && base::is_ascii_alnum(lower[end]))
            ++end;
        const auto word = std::string_view(lower).substr(begin, end - begin);
        for (const auto* kind : accelerator::accelerator_kinds()) {
            for (const auto& model : kind->models) {
                if (word == model.name) return GpuType{model.name, kind, model.architecture};
            }
        }
        begin = end + 1;
    }
    return std::nullopt;
}

}  // namespace wheelyard::builder
