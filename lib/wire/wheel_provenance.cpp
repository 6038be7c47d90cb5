#include "lib/wire/wheel_provenance.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/members.hpp"

namespace wheelyard::wire {
namespace {

using io::Json;

constexpr std::string_view provenance_format = "wheelyard.provenance/1";

std::string render(const WheelProvenance& provenance, bool is_cut) {
    const Provenance& build = provenance.build;
    Json json =
        Json::object({{"format", provenance_format},
                      {"wheel", Json::object({{"filename", provenance.wheel.filename},
                                              {"sha256", provenance.wheel.sha256},
                                              {"size", provenance.wheel.size}})},
                      {"site", provenance.site},
                      {"program", provenance.program},
                      {"attempt", provenance.attempt},
                      {"number", provenance.number},
                      {"cell", provenance.cell},
                      {"package", provenance.package},
                      {"version", provenance.version},
                      {"python", provenance.python},
                      {"accelerator", provenance.accelerator},
                      {"began", base::render_rfc3339(provenance.began)},
                      {"source", Json::object({{"kind", provenance.source.kind},
                                               {"origin", provenance.source.origin},
                                               {"filename", provenance.source.filename},
                                               {"sha256", provenance.source.sha256}})},
                      {"build", Json::object({{"script_sha256", build.script_sha256},
                                              {"system", build.system},
                                              {"modules", Json::array_of(build.modules)},
                                              {"tools", render_named_texts(build.tools)},
                                              {"environment", render_named_texts(build.environment)},
                                              {"requirements", render_named_texts(build.requirements)}})},
                      {"log", provenance.log}});
    if (is_cut) json.set("cut", true);
    return json.render() + "\n";
}

tl::unexpected<base::Error> fail_too_large(std::size_t size) {
    return base::fail_malformed("provenance.too_large", "The provenance is too large",
                                std::to_string(size) + " bytes",
                                "send at most " + std::to_string(max_provenance_bytes) + " bytes");
}

}  // namespace

std::string render_wheel_provenance(const WheelProvenance& provenance) {
    std::string whole = render(provenance, provenance.is_cut);
    if (whole.size() <= max_provenance_bytes) return whole;
    WheelProvenance shorter = provenance;
    shorter.build.requirements.clear();
    if (std::string text = render(shorter, true); text.size() <= max_provenance_bytes) return text;
    shorter.build.modules.clear();
    shorter.build.tools.clear();
    shorter.build.environment.clear();
    return render(shorter, true);
}

base::Result<WheelProvenance> parse_wheel_provenance(std::string_view text) {
    if (text.size() > max_provenance_bytes) return fail_too_large(text.size());
    WHEELYARD_ASSIGN(const Json json, io::parse_json(text));
    const std::string found = json.string_or("format", "");
    if (found != provenance_format)
        return base::fail_malformed(
            "provenance.format", "The provenance does not have the format " + std::string(provenance_format),
            found, "upgrade the older of agent and registry");
    WheelProvenance provenance;
    const Json& wheel = member(json, "wheel");
    provenance.wheel = {wheel.string_or("filename", ""), wheel.string_or("sha256", ""),
                        static_cast<std::uint64_t>(std::max<std::int64_t>(0, wheel.int_or("size", 0)))};
    if (provenance.wheel.filename.empty() || !base::is_sha256_hex(provenance.wheel.sha256))
        return base::fail_malformed("provenance.wheel", "The provenance does not name its wheel",
                                    provenance.wheel.filename, "send the wheel's filename and sha256");
    provenance.site = json.string_or("site", "");
    provenance.program = json.string_or("program", "");
    provenance.attempt = json.string_or("attempt", "");
    provenance.number = static_cast<int>(json.int_or("number", 1));
    provenance.cell = json.string_or("cell", "");
    provenance.package = json.string_or("package", "");
    provenance.version = json.string_or("version", "");
    provenance.python = json.string_or("python", "");
    provenance.accelerator = json.string_or("accelerator", "");
    if (const auto began = base::parse_rfc3339(json.string_or("began", ""))) provenance.began = *began;
    const Json& source = member(json, "source");
    provenance.source = {source.string_or("kind", ""), source.string_or("origin", ""),
                         source.string_or("filename", ""), source.string_or("sha256", "")};
    const Json& build = member(json, "build");
    provenance.build = {build.string_or("script_sha256", ""), {},
                        build.string_or("system", ""),        build.texts("modules"),
                        named_texts_in(build, "tools"),       named_texts_in(build, "environment"),
                        named_texts_in(build, "requirements")};
    provenance.log = json.string_or("log", "");
    provenance.is_cut = json.bool_or("cut", false);
    // Escaped characters can make our rendering longer than the text.
    const std::size_t size = render(provenance, true).size();
    if (size > max_provenance_bytes) return fail_too_large(size);
    return provenance;
}

}  // namespace wheelyard::wire
