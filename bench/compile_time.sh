#!/bin/bash
# What named axes cost at compile time: CPU milliseconds for a pair of ops (a dot with a batch, a summed and two free
# axes, and an add), each pair over axes of its own; for the algebra alone; and for the same algebra on Boost.Hana.
#   bench/compile_time.sh <include directory of tensor> <that of ops> [pairs, default 50]
# The directories are <build>/layers/tensor and <build>/layers/ops.
set -eu
tensor=$1 ops=$2 pairs=${3:-50}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The source of n pairs, in one of three ways.
source_of() {
    local way=$1 n=$2 i
    case $way in
        ops) echo '#include "axial/ops/dot.h"'; echo '#include "axial/ops/elementwise.h"' ;;
        algebra) echo '#include "axial/tensor/view.h"' ;;
        hana)
            echo '#include "axial/tensor/view.h"'
            for header in difference intersection set type union; do echo "#include <boost/hana/$header.hpp>"; done
            echo 'template <class... X> constexpr auto setOf = boost::hana::make_set(boost::hana::type_c<X>...);'
            ;;
    esac
    echo 'using namespace axial;'
    for ((i = 0; i < n; ++i)); do
        local b="Axis<\"b$i\">" k="Axis<\"k$i\">" m="Axis<\"m$i\">" j="Axis<\"n$i\">"
        case $way in
            ops) echo "auto f$i(const Tensor<float, $b{}, $m{}, $k{}>& x, const Tensor<float, $j{}, $b{}, $k{}>& y) {" \
                      "return add(dot(x, y, $k{}), x(${k}{}(0))); }" ;;
            algebra) echo "using L$i = Axes<$b{}, $m{}, $k{}>; using R$i = Axes<$j{}, $b{}, $k{}>;" \
                          "using D$i = joined<without<shared<L$i, R$i>, Axes<$k{}>>, joined<without<without<L$i, R$i>, Axes<$k{}>>," \
                          "without<without<R$i, L$i>, Axes<$k{}>>>>; void f$i(united<D$i, Axes<$b{}, $m{}>>) {}" ;;
            hana) echo "inline constexpr auto l$i = setOf<$b, $m, $k>; inline constexpr auto r$i = setOf<$j, $b, $k>;" \
                       "inline constexpr auto k$i = setOf<$k>; inline constexpr auto d$i = boost::hana::union_(boost::hana::difference(" \
                       "boost::hana::intersection(l$i, r$i), k$i), boost::hana::union_(boost::hana::difference(boost::hana::difference(" \
                       "l$i, r$i), k$i), boost::hana::difference(boost::hana::difference(r$i, l$i), k$i)));" \
                       "void f$i(decltype(boost::hana::union_(d$i, setOf<$b, $m>))) {}" ;;
        esac
    done
}

# User and system milliseconds of one compilation, the best of three.
cost_of() {
    local best=999999 try
    for try in 1 2 3; do
        TIMEFORMAT='%U %S'
        local spent
        spent=$({ time "$1" -std=c++20 -O2 -I"$tensor" -I"$ops" -c "$2" -o "$folder/out.o" 2>"$folder/errors"; } 2>&1) ||
            { cat "$folder/errors" >&2; exit 1; }
        spent=$(awk '{ printf "%d", 1000 * ($1 + $2) }' <<<"$spent")
        if ((spent < best)); then best=$spent; fi
    done
    echo "$best"
}

printf '%-12s %-8s %10s %14s\n' compiler what 'header ms' 'ms per pair'
for compiler in ${COMPILERS:-g++ clang++-16}; do
    command -v "$compiler" >/dev/null || continue
    for way in algebra hana ops; do
        source_of $way 0 >"$folder/none.cpp"
        source_of $way "$pairs" >"$folder/all.cpp"
        none=$(cost_of "$compiler" "$folder/none.cpp")
        all=$(cost_of "$compiler" "$folder/all.cpp")
        printf '%-12s %-8s %10d %14.1f\n' "$compiler" $way "$none" "$(awk "BEGIN { print ($all - $none) / $pairs }")"
    done
done
