# A lock that a kill leaves behind, and that stops the next start.
. "${0%/*}/serve.sh"
lock=${FAULT_LOCK:?}
mkdir "$lock" || exit 1
trap 'rmdir "$lock"' EXIT
serve
