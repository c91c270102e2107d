#!/bin/sh
# Behaves like ssh, and stays here: several hosts on one, for `mpirun --launcher-agent`.
shift
exec sh -c "$*"
