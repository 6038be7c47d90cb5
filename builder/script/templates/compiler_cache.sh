
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
