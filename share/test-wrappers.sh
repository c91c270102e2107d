#!/bin/sh
# Tests the compiler wrappers and mpi.pc: share/test-wrappers.sh LIBRARY FORTRAN_LIBRARY
#
# Makes an installation of its own around LIBRARY (a libmpi_abi.so) and FORTRAN_LIBRARY (a
# libmpifort_abi.so), with a blank in its path, moves it, and builds programs with it. What takes a
# Fortran compiler is left out where gfortran is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
library=$1
fortran_library=$(cd "$(dirname "$2")" && pwd)/${2##*/}
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
same -compile_info "$(first/bin/mpicc -compile_info)" "cc -I$first/include"
same -profile "$(first/bin/mpicc -show -profile=mine a.c)" "cc -I$first/include a.c -lmine $link"
same --showme:libs "$(first/bin/mpicc --showme:libs)" mpi_abi
same --showme:libdirs "$(first/bin/mpicc --showme:libdirs)" "$first/lib"
same --showme:command "$(CATENA_CC='ccache gcc-x' first/bin/mpicc --showme:command)" 'ccache gcc-x'
same -echo "$(first/bin/mpicc -echo -cc=true -c a.c)" "true -I$first/include -c a.c"
first/bin/mpicc -help | grep -q -- '-profile=NAME' || fail "-help does not tell of -profile"
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

# As Python's packages lay it out: the library in lib/catena alone, and a text that names it.
mkdir lean && cp -R "$second/bin" "$second/include" lean/ && mkdir -p lean/lib/catena
cp "$second/lib/libmpi_abi.so.1" lean/lib/catena/
echo 'INPUT(catena/libmpi_abi.so.1)' >lean/lib/libmpi_abi.so
lean/bin/mpicc program.c -o five && ./five || fail "the layout of a wheel builds no programs"

# Another library wins by LD_LIBRARY_PATH.
mkdir other && echo 'long MPI_Aint_add(long a, long b) { return a * b; }' >other/other.c
cc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 other/other.c -o other/libmpi_abi.so.1
if LD_LIBRARY_PATH=$work/other ./one; then fail "LD_LIBRARY_PATH is ignored"; fi

# What pkg-config says of a path with a blank a shell reads, as make and eval do.
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH="$second/lib/pkgconfig" pkg-config --cflags --libs mpi)
    eval "cc program.c $flags -o four" && ./four || fail "mpi.pc with a blank in its path does not build a program"
fi
third=$work/third
mv "$second" "$third"
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH="$third/lib/pkgconfig" pkg-config --cflags --libs mpi)
    # shellcheck disable=SC2086
    cc program.c $flags -o four && ./four || fail "mpi.pc does not build a program"
fi
# Fortran: modules for a compiler are made once, whoever comes first, and found again.
mkdir -p "$third/share/catena/fortran"
cp "$here"/../crates/fortran/made/*.f90 "$third/share/catena/fortran"
cp "$here/../crates/fortran/made/mpif.h" "$third/include"
cp "$fortran_library" "$third/lib/libmpifort_abi.so.1"
ln -s libmpifort_abi.so.1 "$third/lib/libmpifort_abi.so"
sed 's/@VERSION@/9.9.9/; s/@SUM@/77/' "$here/mpifort.in" >"$third/bin/mpifort"
chmod +x "$third/bin/mpifort"
sed 's/@VERSION@/9.9.9/' "$here/mpifort.pc.in" >"$third/lib/pkgconfig/mpifort.pc"
ln -s mpifort "$third/bin/mpif77"
cd "$work"
export XDG_CACHE_HOME=$work/cache
cat >fake <<'F'
#!/bin/sh
case $1 in
    --version) echo; echo "Fake Fortran (x) 1.2" ;;
    -c) echo "$2" >>"$FAKE_LOG"; touch "$(basename "$2" .f90).mod" ;;
    -i8) [ "$2" != -c ] || { shift; exec "$0" "$@"; }; echo "$@" ;;
    *) echo "$@" ;;
esac
F
chmod +x fake
export FAKE_LOG=$work/fake.log
key=Fake-Fortran-x-1.2-9.9.9-77
same modules "$(third/bin/mpifort -fc="$work/fake" -modules)" "$work/cache/catena/fortran/$key"
same 'modules again' "$(third/bin/mpifort -fc="$work/fake" -modules)" "$work/cache/catena/fortran/$key"
[ "$(wc -l <fake.log)" = 5 ] || fail "modules are made twice"
same '-showme:compile' "$(CATENA_FC=$work/fake third/bin/mpifort -showme:compile)" \
    "-I$third/include -I$work/cache/catena/fortran/$key"
same '-showme:libs' "$(CATENA_FC=$work/fake third/bin/mpifort -showme:libs)" "mpifort_abi mpi_abi"
fortran_link="-L$third/lib -Wl,-rpath,$third/lib -Wl,--enable-new-dtags -lmpifort_abi -lmpi_abi"
same 'mpif77 -show' "$(third/bin/mpif77 -show -f77="$work/fake" a.f)" \
    "$work/fake a.f -I$third/include -I$work/cache/catena/fortran/$key $fortran_link"
same 'no sources' "$(third/bin/mpifort -fc="$work/fake" a.o)" "a.o -I$third/include $fortran_link"
third/bin/mpifort -help | grep -q -- '-fc=COMMAND' || fail "mpifort -help says nothing"
same 'mpifort -echo' "$(third/bin/mpifort -fc="$work/fake" -echo -profile=tool -o x a.o)" \
    "$work/fake -o x a.o -I$third/include -ltool $fortran_link
-o x a.o -I$third/include -ltool $fortran_link"
if third/bin/mpifort -fc=fake-none a.f 2>said; then fail "a missing compiler is accepted"; fi
grep -q 'fake-none does not run' said || fail "a missing compiler is not named"
# Modules of another compiler are told.
mkdir others && touch others/mpi.mod
third/bin/mpifort -fc="$work/fake" -Iothers a.f 2>said >/dev/null
grep -q 'others has a module mpi or mpi_f08 of another compiler' said || fail "others' modules go unseen"
third/bin/mpifort -fc="$work/fake" -I"$work/cache/catena/fortran/$key" a.f 2>said >/dev/null
[ ! -s said ] || fail "the right modules are told of: $(cat said)"
# INTEGERs of 8 bytes have modules, an mpif.h and linker options of their own.
long="$work/cache/catena/fortran/$key-integer-8"
same '-i8' "$(third/bin/mpifort -fc="$work/fake" -i8 a.f)" \
    "-i8 a.f -I$long -I$third/include -I$long -Wl,@$third/share/catena/fortran/integer-8 $fortran_link"
grep -q 'MPI_INTEGER_KIND=8' "$long/mpif.h" || fail "mpif.h does not know of -i8"
grep -q "NAME='mpif8_bottom'" "$long/mpif.h" || fail "mpif.h has the sentinels of shorter INTEGERs"
# Several at once, where nothing may be written but the cache; then for all users.
rm -rf cache fake.log said
for i in 1 2 3 4; do third/bin/mpifort -fc="$work/fake" -modules >>folders & done
wait
[ "$(sort -u folders | wc -l)" = 1 ] || fail "several folders of modules"
same 'the cache' "$(ls cache/catena/fortran)" "$key"
third/bin/mpifort -fc="$work/fake" -modules="$third/share/catena/fortran/modules" >/dev/null
same 'the installation first' "$(third/bin/mpifort -fc="$work/fake" -modules)" \
    "$third/share/catena/fortran/modules/$key"
if command -v gfortran >/dev/null; then
    printf '%s\n' 'program p' 'use mpi_f08' 'if (MPI_Aint_add(40_MPI_ADDRESS_KIND, &' \
        '  2_MPI_ADDRESS_KIND) /= 42) error stop 1' 'end program' >p.f90
    printf '%s\n' '      PROGRAM Q' "      INCLUDE 'mpif.h'" '      CALL MPI_ABI_GET_VERSION(I,J,IERR)' \
        '      IF (I .NE. 1) STOP 1' '      END' >q.f
    third/bin/mpifort -fc=gfortran p.f90 -o p && ./p || fail "mpifort does not build a program"
    third/bin/mpif77 -fc=gfortran q.f -o q && ./q || fail "mpif77 does not build a program"
    if command -v pkg-config >/dev/null; then
        flags=$(PKG_CONFIG_PATH="$third/lib/pkgconfig" pkg-config --cflags --libs mpifort)
        # shellcheck disable=SC2086
        gfortran q.f $flags -o r && ./r || fail "mpifort.pc does not build a program"
    fi
fi
echo "compiler wrappers: ok"
