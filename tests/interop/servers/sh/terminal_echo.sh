# The input comes back, as from a terminal that docker run -t puts between.
. "${0%/*}/serve.sh"
echo_back() { printf '%s\n' "$1"; }
fault_before=echo_back
serve
