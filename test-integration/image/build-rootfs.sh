#!/usr/bin/env bash
# Unpacks a JRE and ZooKeeper from Debian's packages into one tar: the whole file system of the test image.
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
mkdir -p "$root"/{etc,tmp,conf,data,datalog,logs,root,proc,sys,dev,zk/lib}
bash "$(dirname "${BASH_SOURCE[0]}")/unpack-packages.sh" "$root" "${packages[@]}"

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
