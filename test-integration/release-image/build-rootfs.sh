#!/usr/bin/env bash
# Gets the jars of one ZooKeeper release with Maven, from the repositories that this machine's Maven is configured for, and
# packs them into one tar: the image of that release has them in the place of Debian's.
set -euo pipefail

out=${1:?usage: build-rootfs.sh OUT.tar RELEASE}
release=${2:?usage: build-rootfs.sh OUT.tar RELEASE}
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

case $release in
  3.[567].*) slf4j=1.7.36 ;;
  *) slf4j=2.0.13 ;;
esac

command -v mvn >/dev/null || {
  echo 'Maven is missing. On Debian, as root: apt-get install maven' >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Logback would be a second binding of slf4j; the annotations are Hadoop's and not there at run time.
mvn -q -B -f "$here/pom.xml" -Drelease="$release" -Dslf4j="$slf4j" \
  org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies \
  -DincludeScope=runtime -DexcludeArtifactIds=logback-classic,logback-core,audience-annotations \
  -DoutputDirectory="$work/zk/lib" >&2
tar -C "$work" --owner=0 --group=0 -cf "$out" zk
