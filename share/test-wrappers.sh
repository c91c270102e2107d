#!/bin/sh
# Tests the compiler wrapper and mpi.pc: share/test-wrappers.sh LIBRARY
#
# Makes an installation of its own around LIBRARY (a libmpi_abi.so), with a
# blank in its path, moves it, and builds programs with it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
library=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test-wrappers: $*" >&2
    exit 1
}
# same WHAT FOUND EXPECTED
same() {
    [ "$2" = "$3" ] || fail "$1: found \"$2\", expected \"$3\""
}

first=$work/first
mkdir -p "$first/bin" "$first/lib/pkgconfig" "$first/include"
for name in mpicc mpicxx; do
    sed 's/@VERSION@/9.9.9/' "$here/mpicc.in" >"$first/bin/$name"
    chmod +x "$first/bin/$name"
done
sed 's/@VERSION@/9.9.9/' "$here/mpi.pc.in" >"$first/lib/pkgconfig/mpi.pc"
cp "$here/../include/mpi.h" "$first/include"
cp "$library" "$first/lib/libmpi_abi.so.1"
ln -s libmpi_abi.so.1 "$first/lib/libmpi_abi.so"
cat >"$work/program.c" <<'C'
#include <mpi.h>
int main(void) { return MPI_Aint_add(40, 2) == 42 ? 0 : 1; }
C
cp "$work/program.c" "$work/program.cc"
cd "$work"

# What build systems ask.
link="-L$first/lib -Wl,-rpath,$first/lib -Wl,--enable-new-dtags -lmpi_abi"
same -showme:compile "$(first/bin/mpicc -showme:compile)" "-I$first/include"
same --showme:link "$(first/bin/mpicc --showme:link)" "$link"
same -showme:incdirs "$(first/bin/mpicc -showme:incdirs)" "$first/include"
same -show "$(CATENA_CC=gcc-x first/bin/mpicc -show -O2 a.c)" \
    "gcc-x -I$first/include -O2 a.c $link"
same '-show -c' "$(first/bin/mpicc -cc=tcc -show -c 'a b.c')" "tcc -I$first/include -c 'a b.c'"
same -compile-info "$(first/bin/mpicxx -compile-info)" "c++ -I$first/include"
same -link-info "$(first/bin/mpicxx -link-info)" "c++ -I$first/include $link"
same version "$(first/bin/mpicxx -showme:version)" "mpicxx: Catena 9.9.9 (language C++)"
if first/bin/mpicc -showme:nonsense 2>/dev/null; then fail "-showme:nonsense is accepted"; fi
first/bin/mpicc --version >/dev/null || fail "mpicc --version links"
if first/bin/mpicc missing.c -o x 2>/dev/null; then fail "errors of the compiler are lost"; fi

# Moved, with a blank in the path, by a link, from PATH, and built in steps.
second="$work/second place"
mv "$first" "$second"
ln -s "$second/bin/mpicc" "$work/linked-mpicc"
(PATH="$second/bin:$PATH" && mpicc program.c -o one && mpicxx program.cc -o two)
./linked-mpicc -c program.c -o three.o
./linked-mpicc three.o -o three
for program in one two three; do
    ./$program || fail "$program does not run from where it was built"
done

# Another library wins by LD_LIBRARY_PATH.
mkdir other && echo 'long MPI_Aint_add(long a, long b) { return a * b; }' >other/other.c
cc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 other/other.c -o other/libmpi_abi.so.1
if LD_LIBRARY_PATH=$work/other ./one; then fail "LD_LIBRARY_PATH is ignored"; fi

# pkg-config itself cannot hand on a linker option with a blank in it.
third=$work/third
mv "$second" "$third"
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH="$third/lib/pkgconfig" pkg-config --cflags --libs mpi)
    # shellcheck disable=SC2086
    cc program.c $flags -o four && ./four || fail "mpi.pc does not build a program"
fi
echo "compiler wrappers: ok"
