#!/usr/bin/env bash
# Unpacks the foreign clients from Debian's packages into one tar: what the test image lacks to run them.
set -euo pipefail

out=${1:?usage: build-rootfs.sh OUT.tar}

packages=(
  zookeeper
  libcurator-recipes-java libcurator-discovery-java libcurator-framework-java libcurator-client-java libguava-java
  python3-kazoo python3-six python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libssl3 libexpat1
)
jars=(curator-recipes curator-x-discovery curator-framework curator-client guava)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/foreign/lib"
bash "$(dirname "${BASH_SOURCE[0]}")/../image/unpack-packages.sh" "$root" "${packages[@]}"

for jar in "${jars[@]}"; do cp -L "$root/usr/share/java/$jar.jar" "$root/foreign/lib/"; done
# Tests of the library itself, and what belongs to a desktop.
rm -rf "$root"/usr/share/{java,zookeeper/zooinspector} "$root/usr/lib/python3/dist-packages/kazoo/tests"

tar -C "$root" --owner=0 --group=0 -cf "$out" foreign usr etc
