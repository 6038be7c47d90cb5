// The codecs and the members that several documents share.
#pragma once

#include <string>

#include "lib/io/record.hpp"
#include "lib/wire/governed_build.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::wire {

using io::Moment;

// Pairs of texts as an object: {"c++":"c++ (GCC) 12.2.0"}. Other values are ignored.
struct TextPairs {
    static io::Json to(const NamedTexts& pairs) {
        io::Json json = io::Json::object();
        for (const auto& [name, text] : pairs)
            json.set(name, text);
        return json;
    }
    static bool from(const io::Json& json, NamedTexts& into) {
        if (json.as_object() == nullptr) return false;
        for (const auto& [name, value] : *json.as_object()) {
            if (value.as_string() != nullptr) into.emplace_back(name, *value.as_string());
        }
        return true;
    }
    static std::string type() { return "object of texts"; }
};

struct Governed {
    static io::Json to(const GovernedBuild& build) { return render_governed_build(build); }
    static bool from(const io::Json& json, GovernedBuild& into) {
        if (json.as_object() != nullptr) into = parse_governed_build(json);
        return json.as_object() != nullptr;
    }
    static std::string type() { return "object"; }
};

inline constexpr auto source_record = io::record<SourceFile>({
    io::field<&SourceFile::kind>(
        "kind", "`sdist`, `tarball`, `git`, `path`, `upstream`; `wheel` for tests and promotions"),
    io::field<&SourceFile::origin>("origin", "URL without credentials, or folder"),
    io::field<&SourceFile::filename>("filename", "name of the downloaded file"),
    io::field<&SourceFile::sha256>("sha256", "digest of the downloaded file; empty for a path"),
});

inline constexpr auto wheel_record = io::record<WheelFile>({
    io::field<&WheelFile::filename>("filename", "its file name"),
    io::field<&WheelFile::sha256>("sha256", "the digest of its bytes"),
    io::field<&WheelFile::size>("size", "in bytes"),
});

inline constexpr auto uploaded_record = io::record<UploadedSource>({
    io::field<&UploadedSource::index>("index", "the index that has it"),
    io::field<&UploadedSource::filename>("filename", "its file name; the registry adds it to a request"),
    io::field<&UploadedSource::sha256>("sha256", "its digest; likewise"),
});

}  // namespace wheelyard::wire
