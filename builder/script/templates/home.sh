# What programs keep at home lies in the build's tree (`home` of [build]). What the user set up for ssh, git, pip and
# Cargo is copied or included, since programs write through links; .ssh and pip's cache are links.
if test -n "${HOME-}" && test "$HOME" != "$build/home"; then
    test ! -L "$build/home/.config/git" || rm "$build/home/.config/git"
    mkdir -p "$build/home/.config/git" "$build/home/.cache" "$build/home/.cargo"
    test ! -e "$HOME/.ssh" || ln -sfn "$HOME/.ssh" "$build/home/.ssh"
    for kept in .gitconfig .config/git/config; do
        rm -f "$build/home/$kept"
        test ! -e "$HOME/$kept" || printf '[include]\n\tpath = "%s"\n' "$HOME/$kept" > "$build/home/$kept"
    done
    for kept in .git-credentials .netrc .config/git/credentials .config/git/ignore .config/git/attributes \
        .cargo/config .cargo/config.toml; do
        rm -f "$build/home/$kept"
        test ! -r "$HOME/$kept" || (umask 077 && cat "$HOME/$kept" > "$build/home/$kept")
    done
    cache="${XDG_CACHE_HOME:-$HOME/.cache}/pip"
    ! mkdir -p "$cache" 2> /dev/null || ln -sfn "$cache" "$build/home/.cache/pip"
    toolchain=$(timeout 20 rustc --print sysroot 2> /dev/null < /dev/null) || toolchain=
    case "$toolchain" in */toolchains/*) export PATH="$toolchain/bin:$PATH" ;; esac
fi
mkdir -p "$build/home"
export HOME="$build/home"
