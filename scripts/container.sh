#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: container.sh DEB FOLDER      (make container)
#
# Makes an image of the package DEB on a bare Debian of the release on which it was built, without a registry:
# FOLDER/characterize-VERSION-image.tar, for docker load and podman load (an OCI layout that is also a Docker
# archive), and FOLDER/characterize-VERSION-root.tar.gz, its files alone, for docker import, systemd-nspawn, bubblewrap
# or chroot. CONTAINER_PACKAGES names what else is to be in it. MIRROR: lines of sources.list, if not this machine's.
# Exit status: 0, or 1 if they cannot be made, 3 if a package that this needs is missing.
set -eu

say() {
    printf 'container: %s\n' "$*" >&2
}

[ $# -eq 2 ] || {
    say "usage: container.sh DEB FOLDER"
    exit 2
}
scripts=$(dirname -- "$(readlink -f -- "$0")")
"$scripts/missing.sh" container root || exit 3
# shellcheck source=mirror.sh
. "$scripts/mirror.sh"
deb=$1 out=$2
[ -e "$deb" ] || {
    say "no package $deb: make deb builds it"
    exit 1
}
mirror=${MIRROR:-$(mirror_line)}
[ -n "$mirror" ] || {
    say "apt has no mirror of this machine's release: set MIRROR='deb URL RELEASE main'"
    exit 1
}
release=$(echo "$mirror" | cut -d ' ' -f 3)
version=$(dpkg-deb -f "$deb" Version)
image=characterize-$version-image.tar root=characterize-$version-root.tar.gz
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date +%s)}
export SOURCE_DATE_EPOCH
mkdir -p "$out"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# without what nobody reads in a container: other packages' documents, translations, apt's lists
# shellcheck disable=SC2016 # $1 is the new root
mmdebstrap --variant=minbase --quiet --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-include=/usr/share/doc/characterize/*' --dpkgopt='path-include=/usr/share/man/man*/characterize*' \
    --customize-hook="copy-in '$deb' /tmp" \
    --customize-hook='chroot "$1" sh -c "
        apt-get install -q -y --no-install-recommends /tmp/*.deb '"${CONTAINER_PACKAGES-}"' &&
        rm -f /tmp/*.deb /var/log/*.log /var/log/apt/* && mkdir -m 1777 /results"' \
    "$release" "$tmp/layer.tar" "$mirror" >"$tmp/log" 2>&1 </dev/null || {
    tail -n 20 "$tmp/log" >&2
    say "mmdebstrap could not make the root; its last lines are above"
    exit 1
}

# the OCI image specification 1.0: blobs by their digest, and an index of them; for docker load a manifest.json as well
# add FILE: the file becomes a blob; sets digest and size
add() {
    digest=$(sha256sum "$1" | cut -d ' ' -f 1) size=$(stat -c %s "$1")
    mv "$1" "$tmp/image/blobs/sha256/$digest"
}
mkdir -p "$tmp/image/blobs/sha256"
unpacked=$(sha256sum "$tmp/layer.tar" | cut -d ' ' -f 1)
gzip -6n <"$tmp/layer.tar" >"$out/$root"
rm "$tmp/layer.tar"
cp "$out/$root" "$tmp/layer"
add "$tmp/layer"
layer=$digest layer_size=$size
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
cat >"$tmp/config" <<END
{"created":"$created","architecture":"amd64","os":"linux","config":{"Entrypoint":["/usr/bin/characterize"],\
"Cmd":["--help"],"WorkingDir":"/results","Env":["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]},\
"rootfs":{"type":"layers","diff_ids":["sha256:$unpacked"]},\
"history":[{"created":"$created","created_by":"characterize $version on Debian $release"}]}
END
add "$tmp/config"
config=$digest config_size=$size
cat >"$tmp/manifest" <<END
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":\
"application/vnd.oci.image.config.v1+json","digest":"sha256:$config","size":$config_size},"layers":[{"mediaType":\
"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:$layer","size":$layer_size}]}
END
add "$tmp/manifest"
cat >"$tmp/image/index.json" <<END
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":\
"application/vnd.oci.image.manifest.v1+json","digest":"sha256:$digest","size":$size,"platform":{"architecture":"amd64",\
"os":"linux"},"annotations":{"io.containerd.image.name":"docker.io/library/characterize:$version",\
"org.opencontainers.image.ref.name":"$version"}}]}
END
printf '{"imageLayoutVersion":"1.0.0"}' >"$tmp/image/oci-layout"
cat >"$tmp/image/manifest.json" <<END
[{"Config":"blobs/sha256/$config","RepoTags":["characterize:$version"],"Layers":["blobs/sha256/$layer"]}]
END
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$tmp/image" -f "$out/$image" blobs index.json manifest.json oci-layout
(cd "$out" && ls -sh1 "$image" "$root")
