// `[pages]`.
#include "lib/base/files/file.hpp"
#include "registry/config/config_rows.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_pages_text = 2000;         // bytes: a paragraph on the front page
constexpr std::uint64_t max_logo_bytes = 64 * 1024;  // every page loads it

std::string text_fault(const std::string& text) {
    return text.size() <= max_pages_text ? "" : "has at most " + std::to_string(max_pages_text) + " bytes";
}

io::TomlFacts colour_facts(page::Scheme scheme) {
    const auto fault = [scheme](const std::string& colour) { return page::colour_fault(colour, scheme); };
    return {
        .type = "`#rrggbb`", .fallback = "ours", .check = fault, .normal = [=](const std::string& colour) {
            return fault(colour).empty() ? colour : "";
        }};
}

void read_logo(io::TomlTable& table, PagesConfig& pages) {
    const std::filesystem::path& file = pages.logo_file;
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

void finish_pages(io::TomlTable& table, PagesConfig& pages, RegistryConfig&) {
    pages.style = page::render_farm_style(pages.colour, pages.colour_dark);
    if (!pages.style.empty()) pages.farm.style = page::farm_file_name("farm", ".css", pages.style);
    if (!pages.logo_file.empty()) read_logo(table, pages);
}

}  // namespace

io::TomlRow<RegistryConfig> pages_row() {
    using P = PagesConfig;
    using io::key;
    io::TomlRows<P> rows =
        io::within(&P::farm, {key("name", &page::Farm::name, {.fallback = "`Wheelyard`", .check = text_fault})
                                  .hint("in the header of every page", R"("Wheels of Bede")")});
    rows.add({
        key("text", &P::text, {.fallback = "ours", .check = text_fault})
            .hint("what this farm is, on the front page"),
        key("contact", &P::contact, {.check = text_fault})
            .hint("a URL or an address of electronic mail, on the front page"),
        key("colour", &P::colour, colour_facts(page::Scheme::light))
            .hint("of links, in light; it must be readable", R"("#0b57a4")"),
        key("colour_dark", &P::colour_dark, colour_facts(page::Scheme::dark))
            .hint("of links, in dark", R"("#8fc0f8")"),
        key("logo", &P::logo_file, {.fallback = "ours"})
            .hint("a file .svg or .png, at most 64 KiB", R"("logo.svg")"),
    });
    return io::table("pages", &RegistryConfig::look, std::move(rows),
                     {.is_always_read = true, .hint = "How the web UI looks."}, finish_pages);
}

}  // namespace wheelyard::registry
