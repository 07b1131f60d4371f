#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make test-container: the image of build/container, with hardly any privileges: the program works on time stamps and
# says what it lacks. In bubblewrap as another user, and in podman and docker where these can run anything here.
# shellcheck source=../scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

version=$(cat "$root/VERSION")
folder=$root/${BUILD:-build}/container
unset CHARACTERIZE_DATA
cp "$folder/characterize-$version-image.tar" "$folder/characterize-$version-root.tar.gz" "$tmp" 2>"$tmp/out"
check "there is an image in $folder" "$tmp/out" [ "$?" -eq 0 ]
cd "$tmp" || exit 1
mkdir bare image && chmod 755 "$tmp"
tar -x -z --no-same-owner --exclude='./dev/*' -C bare -f characterize-*-root.tar.gz
tar -x -C image -f characterize-*-image.tar

# the digests of the image are those of its parts, as registries and runtimes check
(cd image/blobs/sha256 && for blob in *; do echo "$blob  $blob"; done | sha256sum -c --quiet) >out 2>&1
check "the parts of the image have the digests by which they are named" out [ "$?" -eq 0 ]
config=$(sed 's/.*"Config":"\([^"]*\)".*/\1/' image/manifest.json)
layer=$(sed 's/.*"Layers":\["\([^"]*\)".*/\1/' image/manifest.json)
grep -o '"diff_ids":\["sha256:[0-9a-f]*' "image/$config" | sed 's/.*://' >want
zcat "image/$layer" | sha256sum | cut -d ' ' -f 1 >out
check "... and the layer that of its files" out same want out
# try WHAT COMMAND...: runs the program in some container
try() {
    try_what=$1
    shift
    "$@" --version >out 2>&1 </dev/null
    check "$try_what: it starts" out grep -qx "characterize $version" out
    "$@" --machine model:xeon-gold-6130 --transition 128fma:512fma --output /results/model >out 2>&1 </dev/null
    check "$try_what: a transition on a model" out grep -q 'latency 60.*2 halts' out
    # again where others keep this machine too busy
    for _ in 1 2 3 4 5; do
        "$@" --machine timing --transition 64add:64mul --runs 20 --active-cores 1 --output /results/timing >out 2>&1 \
            </dev/null && break
        sleep 1
    done
    check "$try_what: a transition by time stamps" out grep -q '^Source *measured with time stamps' out
    "$@" --machine msr --transition 64add:64mul >out 2>&1 </dev/null
    status=$?
    check "$try_what: registers: status 3, and what is missing" out [ "$status/$(grep -c 'msr' out)" = 3/1 ]
    "$@" --list machines >out 2>&1 </dev/null
    check "$try_what: what each machine would need" out [ "$(grep -c 'no  .*remedy: ' out)" -eq 3 ]
}

mkdir results && chmod 777 results
as_user=
[ "$(id -u)" -ne 0 ] || as_user='setpriv --reuid 65534 --regid 65534 --clear-groups'
bubble() {
    # shellcheck disable=SC2086 # words
    $as_user bwrap --unshare-all --die-with-parent --ro-bind bare / --bind results /results --chdir /results \
        --tmpfs /tmp --proc /proc "$@"
}
if ! command -v bwrap >/dev/null 2>&1; then
    skip "in bubblewrap" "needs bubblewrap: apt-get install bubblewrap"
elif ! bubble true >out 2>&1; then
    skip "in bubblewrap" "this machine allows no user namespaces: $(head -n 1 out)"
else
    try "no devices, no /sys" bubble characterize
    rm -rf results/*
    try "read-only /sys" bubble --ro-bind /sys /sys --dev /dev characterize
    rm -rf results/*
    bubble --ro-bind /sys /sys characterize --quiet-machine --transition 64add:64mul >out 2>&1
    check "settings that cannot be changed are named" out grep -q '^--quiet-machine leaves unchanged:' out
fi

# runtime NAME COMMAND...: loads the image and runs it, unless nothing can be run by it
runtime() {
    name=$1
    shift
    if ! "$@" load -i "characterize-$version-image.tar" >out 2>&1; then
        skip "in $name" "$name cannot load an image here: $(tail -n 1 out)"
    elif
        # shellcheck disable=SC2086 # words
        ! "$@" run --rm --network none $limits "characterize:$version" --version >out 2>&1
    then
        skip "in $name" "$name cannot run anything here: $(tail -n 1 out)"
    else
        # shellcheck disable=SC2086 # words
        try "in $name" "$@" run --rm --network none $limits -v "$tmp/results:/results" "characterize:$version"
    fi
}
# fewer than the runtime's own, which this machine may not allow
limits='--ulimit nofile=1024:1024 --ulimit nproc=1024:1024'
if command -v podman >/dev/null 2>&1; then
    set -- podman --root "$tmp/podman" --runroot "$tmp/podman-run" --storage-driver vfs --cgroup-manager cgroupfs \
        --events-backend file
    # one of its runtimes knows this machine's kind of control groups
    if command -v runc >/dev/null 2>&1 && [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
        set -- "$@" --runtime runc
    fi
    runtime podman "$@"
    "$@" rmi -a -f >/dev/null 2>&1
else
    skip "in podman" "not installed: apt-get install podman"
fi
if docker info >/dev/null 2>&1; then
    runtime docker docker
    docker rmi "characterize:$version" >/dev/null 2>&1
else
    skip "in docker" "no docker daemon answers here"
fi
finish
