# A trap that says good-bye.
. "${0%/*}/serve.sh"
trap 'echo "Shutting down"' EXIT
serve
