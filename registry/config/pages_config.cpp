// `[pages]`.
#include "registry/config/config.hpp"

#include "lib/base/files/file.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_pages_text = 2000;         // bytes: a paragraph on the front page
constexpr std::uint64_t max_logo_bytes = 64 * 1024;  // every page loads it

std::string read_colour(io::TomlTable& table, std::string_view key, page::Scheme scheme) {
    std::string colour = table.string_or(key, "");
    if (colour.empty()) return colour;
    if (const std::string fault = page::colour_fault(colour, scheme); !fault.empty()) {
        table.report(key, fault);
        return {};
    }
    return colour;
}

std::string read_text(io::TomlTable& table, std::string_view key) {
    std::string text = table.string_or(key, "");
    if (text.size() > max_pages_text)
        table.report(key, "has at most " + std::to_string(max_pages_text) + " bytes");
    return text;
}

void read_logo(io::TomlTable& table, PagesConfig& pages) {
    const auto given = table.path_if("logo");
    if (!given) return;
    const std::filesystem::path& file = *given;
    const std::string extension = file.extension().native();
    if (extension != ".svg" && extension != ".png") return table.report("logo", "is a file .svg or .png");
    auto bytes = base::read_file(file, max_logo_bytes);
    if (!bytes) return table.report("logo", "cannot be read: " + bytes.error().text());
    const bool is_png = bytes->starts_with("\x89PNG\r\n");
    const bool is_svg = bytes->find("<svg") != std::string::npos;
    if (extension == ".png" ? !is_png : !is_svg) return table.report("logo", "is not a picture of its type");
    pages.farm.logo = page::farm_file_name("logo", extension, *bytes);
    pages.logo = *std::move(bytes);
}

}  // namespace

PagesConfig read_pages(io::TomlTable table) {
    PagesConfig pages;
    pages.farm.name = read_text(table, "name");
    pages.text = read_text(table, "text");
    pages.contact = read_text(table, "contact");
    const std::string light = read_colour(table, "colour", page::Scheme::light);
    const std::string dark = read_colour(table, "colour_dark", page::Scheme::dark);
    pages.style = page::render_farm_style(light, dark);
    if (!pages.style.empty()) pages.farm.style = page::farm_file_name("farm", ".css", pages.style);
    read_logo(table, pages);
    return pages;
}

}  // namespace wheelyard::registry
