#include "builder/script/compiler_cache.hpp"

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// CMake takes a CC of two words for a compiler with an argument, and ccache refuses to run itself: a project has either
// launchers or a CC.
constexpr std::string_view cache_part = R"sh(
# Compiles go through the site's cache.
if command -v ccache > /dev/null; then
    export CCACHE_DIR={{folder}} CCACHE_MAXSIZE={{gib}}Gi CCACHE_BASEDIR="$build" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    if test -e CMakeLists.txt; then
        for language in C CXX CUDA; do
            declare -n launcher="CMAKE_${language}_COMPILER_LAUNCHER"
            export "CMAKE_${language}_COMPILER_LAUNCHER=${launcher:-ccache}"
        done
    else # setuptools, Meson: before the compiler that they would use
        compiler_of_python() { python -I -c "import sysconfig; print(sysconfig.get_config_var('$1') or '$2')"; }
        export CC="${CC:-$(compiler_of_python CC cc)}" CXX="${CXX:-$(compiler_of_python CXX c++)}"
        case "$CC" in *ccache*) ;; *) CC="ccache $CC" ;; esac
        case "$CXX" in *ccache*) ;; *) CXX="ccache $CXX" ;; esac
    fi
else
    echo "There is no ccache on PATH: compiles are not cached."
fi
)sh";

}  // namespace

std::string render_compiler_cache(const ScriptInput& input) {
    if (input.site.compiler_cache_gib == 0 || input.attempt.asked.purpose != Purpose::build) return "";
    const std::string folder = base::quote_shell((input.site.work_directory / "ccache").string());
    const std::string text = base::replace_all(cache_part, "{{folder}}", folder);
    return base::replace_all(text, "{{gib}}", std::to_string(input.site.compiler_cache_gib));
}

}  // namespace wheelyard::builder
