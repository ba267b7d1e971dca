#!/usr/bin/env bash
# Unpacks a JRE and ZooKeeper from Debian's packages into one tar: the whole file system of the test image.
# Nothing is installed and no maintainer script runs, so any Debian user can do it, without an image registry.
set -euo pipefail

out=${1:?usage: build-rootfs.sh OUT.tar}

packages=(
  libc6 libgcc-s1 libstdc++6 zlib1g busybox-static openjdk-17-jre-headless
  libzookeeper-java libslf4j-java liblog4j1.2-java libnetty-java libcommons-cli-java libcommons-io-java
  libsnappy-java libdropwizard-metrics-java libjetty9-java libservlet-api-java
  libjackson2-core-java libjackson2-databind-java libjackson2-annotations-java
)
# zookeeper.jar's own Class-Path is not enough: it leaves out the log4j binding, parts of Netty, the servlet API.
jars=(
  zookeeper zookeeper-jute slf4j-api slf4j-log4j12 log4j-1.2 commons-cli commons-io snappy-java metrics-core
  servlet-api jetty9-{http,io,security,server,servlet,util,util-ajax} jackson-{core,databind,annotations}
  netty-{buffer,codec,common,handler,resolver,transport,transport-native-epoll,transport-native-unix-common}
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$work"/{debs,lists/partial} \
  "$root"/{usr/{bin,sbin,lib,lib64},etc,tmp,conf,data,datalog,logs,root,proc,sys,dev,zk/lib}

# As root, apt drops to a user who cannot write to our directory.
download() { (cd "$work/debs" && apt-get -qq -o APT::Sandbox::User=root "$@" download "${packages[@]}"); }

# The machine's package lists may be missing, or name versions the mirror no longer has. Fetch our own then:
# that needs no root and leaves the machine's as they are.
if ! download 2>"$work/first-try"; then
  lists=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work")
  if ! { apt-get -qq -o APT::Sandbox::User=root "${lists[@]}" update && download "${lists[@]}"; }; then
    cat "$work/first-try" >&2
    exit 1
  fi
fi

for d in bin sbin lib lib64; do ln -s "usr/$d" "$root/$d"; done
for deb in "$work"/debs/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner \
    --exclude='./usr/share/doc*' --exclude='./usr/share/man*' --exclude='./usr/share/maven-repo*' \
    --exclude='./usr/share/lintian*' --exclude='./usr/lib/debug*' --exclude='./usr/lib/*/gconv*'
done

for jar in "${jars[@]}"; do cp -L "$root/usr/share/java/$jar.jar" "$root/zk/lib/"; done
rm -rf "$root/usr/share/java"

for applet in $("$root/bin/busybox" --list); do [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"; done
for tool in java keytool; do
  ln -sf "/usr/lib/jvm/java-17-openjdk-$(dpkg --print-architecture)/bin/$tool" "$root/bin/$tool"
done
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
chmod 1777 "$root/tmp"

tar -C "$root" --owner=0 --group=0 -cf "$out" .
