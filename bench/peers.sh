#!/bin/sh
# peers.sh SUITE - gets what the suite is run beside: Debian packages, and Python packages into virtual environments
# below build/ (celer and adelie into one of their own: they want older ones of NumPy and scikit-learn). Prints "NAME VERSION" for each, "NAME -" for
# one that could not be had: the suite then runs without it.
set -eu
suite=${1:?"usage: peers.sh SUITE"}
tools='' debian='' pip='' older=''
case $suite in
algebra) debian=libopenblas0-pthread ;;
complete) pip="numpy scipy" ;;
coordinate | svm_text) debian=liblinear-dev ;;
deblur) pip="numpy scikit-image" ;;
fft) debian=libfftw3-double3 ;;
io) tools=bzip2 pip=scikit-learn ;;
kernel) tools=g++ pip="numpy scikit-learn scikit-learn-intelex libsvm-official" ;;
lasso) debian=r-cran-glmnet pip="numpy scipy scikit-learn skglm" older="numpy<2 scikit-learn<1.6 celer adelie" ;;
margin) debian=liblinear-dev pip="numpy scipy scikit-learn quadprog" ;;
multiclass) debian=liblinear-dev pip="numpy scipy scikit-learn" ;;
svm) debian=liblinear-dev pip="numpy scikit-learn" ;;
svm_l1) debian=liblinear-dev pip="numpy scipy" ;;
waits) tools=binutils ;;
esac

say() { printf '%s\n' "bench: $*" >&2; }

# found NAME VERSION - the line about a peer; an empty VERSION: it is not there
found() {
    [ -n "$2" ] || say "$1 could not be had; the suite runs without it"
    printf '%s %s\n' "$1" "${2:--}"
}

# environment FOLDER - a virtual environment; Debian's Python has what makes one in a package of its own
environment() {
    [ ! -x "$1/bin/python" ] || return 0
    python3 -c 'import ensurepip, venv' 2>/dev/null || ./dev need python3-venv || return 1
    say "making the virtual environment $1"
    python3 -m venv "$1" >&2
}

version_of() {
    "$1/bin/python" -c 'import importlib.metadata as m, sys; print(m.version(sys.argv[1]))' "$2" 2>/dev/null || true
}

# python_packages FOLDER PACKAGE... - one by one: one that cannot be had leaves the others alone
python_packages() {
    folder=$1
    shift
    environment "$folder" || true
    for package in "$@"; do
        name=${package%%<*}
        if [ -z "$(version_of "$folder" "$name")" ] && [ -x "$folder/bin/python" ]; then
            say "installing $package into $folder"
            "$folder/bin/python" -m pip install -q --disable-pip-version-check "$package" >&2 || true
        fi
    done
    for package in "$@"; do
        name=${package%%<*}
        found "$name" "$(version_of "$folder" "$name")"
    done
}

command -v python3 >/dev/null 2>&1 || tools="$tools python3"
# shellcheck disable=SC2086
[ -z "$tools" ] || ./dev need $tools || say "without$tools the suite may fail"
for package in $debian; do
    ./dev need "$package" || true
    found "$package" "$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null || true)"
done
# shellcheck disable=SC2086
[ -z "$pip" ] || python_packages build/peers $pip
# shellcheck disable=SC2086
[ -z "$older" ] || python_packages build/peers-older $older | grep -v '^[ns]' # what the others have themselves
