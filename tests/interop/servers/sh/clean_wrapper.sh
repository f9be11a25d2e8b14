# Clean: a wrapper that says what it does on stderr, and whose own commands don't have the server's stdout.
{
    echo "preparing"
    cd "${0%/*}/.." && pwd
    which sh
} >&2
trap 'echo done >&2' EXIT
sh sh/clean_plain.sh 2>/dev/null
