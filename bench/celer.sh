#!/bin/sh
# celer.sh ARGUMENT... - peer_lasso.py celer in a virtual environment of its own: celer 0.7 does not run beside the newest
# scikit-learn and numpy. bench/iterreg.sh makes the environment.
exec "${CELER_PYTHON:-build-bench/celer/bin/python}" bench/peer_lasso.py celer "$@"
