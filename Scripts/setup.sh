#!/usr/bin/env bash
# Checks the prerequisites of the build ("setup.sh"), of the tests ("setup.sh tests"), of the benchmarks
# ("setup.sh benchmarks"), and of Spark and the wheel ("setup.sh integrations"). Missing packages are installed with apt
# if it is available and permitted; otherwise they are listed with the command that installs them. Tests and benchmarks
# run without optional servers and tools, unless CI is set: then a missing one is an error.
set -euo pipefail

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

check_swift() {
    local oldest=6.2 version
    have swift || fail "Swift $oldest or newer is needed. Get it from https://www.swift.org/install"
    version=$( (swift --version 2>/dev/null || true) | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p')
    if [ "$(printf '%s\n' "$oldest" "$version" | sort -V | head -n 1)" != "$oldest" ]; then
        fail "Swift $oldest or newer is needed; this is ${version:-one that does not start}." \
            "Get it from https://www.swift.org/install"
    fi
}

# The Debian and Ubuntu packages that are missing, one a line.
missing_packages() {
    has_module 'libcurl >= 7.88' || echo libcurl4-openssl-dev
    has_module openssl || echo libssl-dev
    has_module libnghttp2 || echo libnghttp2-dev
    has_module libjpeg || echo libjpeg-dev # libjpeg62-turbo-dev on Debian, libjpeg-turbo8-dev on Ubuntu
    has_module libpng || echo libpng-dev
    has_module zlib || echo zlib1g-dev
    has_module libwebp libwebpdemux libwebpmux || echo libwebp-dev
    has_module lcms2 || echo liblcms2-dev
    has_header gif_lib.h || echo libgif-dev # not every giflib comes with a pkg-config file
    local formats
    formats=$(tr 'A-Z ' 'a-z,' <<<"${FORMATS:-}")
    if [ "$purpose" = tests ] || [[ ,$formats, =~ ,(all|avif), ]]; then
        has_module libavif || echo libavif-dev
    fi
    if [ "$purpose" = tests ] || [[ ,$formats, =~ ,(all|heic), ]]; then
        has_module libheif || echo libheif-dev
    fi
    if [ "$purpose" = tests ] || [[ ,$formats, =~ ,(all|jpegxl), ]]; then
        has_module libjxl || echo libjxl-dev
    fi
    if [ "$purpose" = tests ] || [[ ,$formats, =~ ,(all|tiff), ]]; then
        has_module 'libtiff-4 >= 4.5' || echo libtiff-dev
    fi
    if [ "$purpose" = tests ] || [[ ,$formats, =~ ,(all|svg), ]]; then
        has_module librsvg-2.0 || echo librsvg2-dev
    fi
    have pkg-config || echo pkg-config
    have make || echo make
    [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ] || echo ca-certificates
    [ "$purpose" != build ] || return 0
    { have cjpeg && have djpeg; } || echo libjpeg-turbo-progs
    { have cwebp && have dwebp; } || echo webp
    { have cjxl && have djxl; } || echo libjxl-tools
    { have avifenc && have avifdec; } || echo libavif-bin
    { have heif-enc && have heif-convert; } || echo libheif-examples
    have rsvg-convert || echo librsvg2-bin
    have openssl || echo openssl
}

# The missing servers of tests and benchmarks, and the missing tools that benchmarks compare with.
missing_peers() {
    [ "$purpose" != build ] || return 0
    [ "$purpose" != integrations ] || { missing_integrations && return; }
    have nginx || [ -x /usr/sbin/nginx ] || echo nginx
    have gdb || echo gdb # prints the stacks of tests that hang
    [ "$purpose" = benchmarks ] || return 0
    have vipsthumbnail || echo libvips-tools
    have curl || echo curl
    have aria2c || echo aria2
    have tiff2rgba || echo libtiff-tools
    [ -x /usr/bin/time ] || echo time # not the shell's
}

# The missing packages that Spark, the wheel, and the examples need.
missing_integrations() {
    have java || echo default-jre-headless
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    have objdump || echo binutils
    have parallel || echo parallel
}

has_module() { pkg-config --exists "$@" 2>/dev/null; }

has_header() {
    local directory
    for directory in /usr/include /usr/local/include /usr/include/*-linux-gnu*; do
        [ -e "$directory/$1" ] && return 0
    done
    return 1
}

# Sets as_root to the prefix of a command that runs as root; false if that is not permitted.
become_root() {
    as_root=()
    [ "$(id -u)" -ne 0 ] || return 0
    if have sudo && sudo -n true 2>/dev/null; then
        as_root=(sudo -n)
    elif have sudo && [ -t 0 ]; then
        as_root=(sudo)
    else
        return 1
    fi
}

install_with_apt() {
    local packages=("$@") as_root
    become_root || fail "missing: ${packages[*]}" "Install them, then try again:" \
        "  apt-get update && apt-get install -y --no-install-recommends ${packages[*]}    (as root)"
    echo "setup: installing ${packages[*]}" >&2
    # If the update fails, the old lists may suffice: the installation decides.
    "${as_root[@]}" apt-get update -q >&2 || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${packages[@]}" >&2 ||
        fail "apt-get could not install: ${packages[*]}"
}

# Installs servers for the tests without starting them, neither now (policy-rc.d forbids it to Debian's invoke-rc.d and
# deb-systemd-invoke) nor at boot. Runs in a subshell.
install_without_services() (
    local as_root policy=/usr/sbin/policy-rc.d
    if become_root && [ ! -e "$policy" ]; then
        trap '"${as_root[@]}" rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
        "${as_root[@]}" chmod 755 "$policy"
    fi
    install_with_apt "$@"
    case " $* " in *" nginx "*) "${as_root[@]}" update-rc.d nginx disable >&2 || true ;; esac
)

check_macos() {
    local name prefix missing=()
    have brew || fail "Homebrew is needed for the C libraries. Get it from https://brew.sh"
    prefix=$(brew --prefix)
    for name in curl openssl@3 libnghttp2 jpeg-turbo libpng webp giflib little-cms2 pkgconf; do
        [ -d "$prefix/opt/$name" ] || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] || fail "missing: ${missing[*]}" "Install them, then try again:" \
        "  brew install ${missing[*]}"
}

check_linux() {
    local peers=()
    check_linux_packages
    mapfile -t peers < <(missing_peers)
    [ ${#peers[@]} -gt 0 ] || return 0
    if ! have apt-get || ! install_without_services "${peers[@]}"; then
        # In continuous integration, missing tests must not go unnoticed.
        [ -z "${CI:-}" ] || fail "missing: ${peers[*]}; with CI set, tests are not skipped for that"
        echo "setup: $purpose will run without ${peers[*]}" >&2
    fi
}

check_linux_packages() {
    local missing=()
    mapfile -t missing < <(missing_packages)
    [ ${#missing[@]} -gt 0 ] || return 0
    if have apt-get; then
        install_with_apt "${missing[@]}"
        mapfile -t missing < <(missing_packages)
        [ ${#missing[@]} -eq 0 ] || fail "still missing after the installation: ${missing[*]}"
    else
        fail "missing, by their Debian names: ${missing[*]}" \
            "Install what your distribution calls them (on Fedora: libcurl-devel openssl-devel libnghttp2-devel libjpeg-turbo-devel" \
            "libpng-devel zlib-devel libwebp-devel giflib-devel lcms2-devel libjpeg-turbo-utils libwebp-tools), then try again."
    fi
}

purpose=${1:-build}
check_swift
case $(uname -s) in
    Darwin) check_macos ;;
    *) check_linux ;;
esac
