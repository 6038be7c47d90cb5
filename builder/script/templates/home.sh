# What programs keep at home lies in the build's tree (`home` of [build]). What the user set up for ssh, git, pip and
# Cargo is copied or included, since programs write through links; .ssh and pip's cache are links.
test -n "${user_home-}" || user_home=${HOME:-$(unset HOME && echo ~)} # on the login node; a job has it
if test -d "$user_home" && test "$user_home" != "$build/home"; then
    test ! -L "$build/home/.config/git" || rm "$build/home/.config/git"
    mkdir -p "$build/home/.config/git" "$build/home/.cache" "$build/home/.cargo"
    test ! -e "$user_home/.ssh" || ln -sfn "$user_home/.ssh" "$build/home/.ssh"
    for kept in .gitconfig .config/git/config; do
        rm -f "$build/home/$kept"
        test ! -e "$user_home/$kept" || printf '[include]\n\tpath = "%s"\n' "$user_home/$kept" > "$build/home/$kept"
    done
    for kept in .git-credentials .netrc .config/git/credentials .config/git/ignore .config/git/attributes \
        .cargo/config .cargo/config.toml; do
        rm -f "$build/home/$kept"
        test ! -r "$user_home/$kept" || (umask 077 && cat "$user_home/$kept" > "$build/home/$kept")
    done
    cache="${XDG_CACHE_HOME:-$user_home/.cache}/pip"
    ! mkdir -p "$cache" 2> /dev/null || ln -sfn "$cache" "$build/home/.cache/pip"
    toolchain=$(HOME=$user_home timeout 20 rustc --print sysroot 2> /dev/null < /dev/null) || toolchain=
    case "$toolchain" in */toolchains/*) export PATH="$toolchain/bin:$PATH" ;; esac
fi
mkdir -p "$build/home"
export HOME="$build/home"
