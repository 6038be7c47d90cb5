mkdir -p "$folder/separate" "$folder/scratch" "$folder/shm" "$folder/fetch/wheelhouse" "$folder/fetch/tmp"
passed=()
for name in PATH LANG LC_ALL LC_CTYPE LOGNAME USER TZ http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY \
    CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE; do
    test -z "${!name-}" || passed+=("$name=${!name}")
done
resolver=$(readlink -f /etc/resolv.conf) # often a link into /run, which is not there
help=$({{program}} --help 2>&1) || true
shm=(--bind "$folder/shm" /dev/shm) # on the disk, whose limit holds: bubblewrap before 0.7
case "$help" in *' --size '*) shm=(--size {{shm}} --tmpfs /dev/shm) ;; esac
case "$help" in *' --disable-userns '*) shm+=(--disable-userns) ;; esac
in_namespace() { # FOLDER FILE [ARGUMENTS]: runs bash there, with "${mounts[@]}"
    env -i "${passed[@]}" {{governor}} bound {{bounds}} --folder "$folder" -- \
        {{program}} --unshare-user --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session \
        --cap-drop ALL --proc /proc --dev /dev "${shm[@]}" --remount-ro /dev \
        {{readable}} \
        --ro-bind-try /sys/devices/system/cpu /sys/devices/system/cpu \
        "${mounts[@]}" --remount-ro / --chdir "$1" /bin/bash "$1/$2" "${@:3}"
}
separately() { # FILE [ARGUMENTS]: as the build sees the attempt's folder, without a network
    local mounts=(--unshare-net --bind "$folder/scratch" /tmp --bind "$folder/separate" "$folder"
        --ro-bind "$folder/fetch/wheelhouse" "$folder/wheelhouse")
    in_namespace "$folder" "$@"
}
fetching() { # with the network: runs no code of the source, and writes where that never does
    local mounts=(--ro-bind-try "$resolver" "$resolver" --bind "$folder/fetch/tmp" /tmp
        --ro-bind "$folder/separate" "$folder/separate" --bind "$folder/fetch" "$folder/fetch")
    in_namespace "$folder/fetch" {{fetch}}
}
