# Clean: the server as it is.
. "${0%/*}/serve.sh"
serve
