# A job in the background that reports now and then; a client that speaks at once never sees it.
. "${0%/*}/serve.sh"
(
    sleep 0.7
    echo "heartbeat: 1 session"
) &
job=$!
serve
kill "$job" 2>/dev/null
wait "$job" 2>/dev/null
exit 0
