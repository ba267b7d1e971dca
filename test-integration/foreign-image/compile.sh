#!/bin/sh
# Compiles the programs while the image is built.
set -eu

# The JRE's modules have the compiler, only the command for it is missing, and with it what expands a "*".
java -m jdk.compiler/com.sun.tools.javac.Main -Xlint:all,-path,-classfile,-try -Werror \
  -cp "$(printf %s: /foreign/lib/*.jar /zk/lib/*.jar)" -d /foreign/classes /foreign/*.java
python3.11 -m compileall -q /usr/lib/python3.11 /usr/lib/python3/dist-packages
