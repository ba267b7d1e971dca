#!/usr/bin/env bash
# Unpacks Debian packages into a directory. Nothing is installed and no maintainer script runs, so any Debian user can do
# it, without an image registry.
set -euo pipefail

root=${1:?usage: unpack-packages.sh ROOT PACKAGE...}
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$root/usr" "$work"/{debs,lists/partial}

# As root, apt drops to a user without write access to our directory.
download() { (cd "$work/debs" && apt-get -qq -o APT::Sandbox::User=root "$@"); }

# The machine's package lists may be missing, or name versions the mirror no longer has. Fetch our own then:
# that needs no root and leaves the machine's as they are.
if ! download download "$@" 2>"$work/first-try"; then
  lists=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work")
  if ! { download "${lists[@]}" update && download "${lists[@]}" download "$@"; }; then
    cat "$work/first-try" >&2
    exit 1
  fi
fi

for d in bin sbin lib lib64; do
  mkdir -p "$root/usr/$d"
  [ -e "$root/$d" ] || ln -s "usr/$d" "$root/$d"
done
for deb in "$work"/debs/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner \
    --exclude='./usr/share/doc*' --exclude='./usr/share/man*' --exclude='./usr/share/maven-repo*' \
    --exclude='./usr/share/lintian*' --exclude='./usr/lib/debug*' --exclude='./usr/lib/*/gconv*'
done
