# An MCP server over stdio in its smallest form, in plain sh without any other program; what the servers beside this file have
# in common. It is clean: nothing but answers on stdout, a word on stderr for each request, status 0 at the end of input.
# It looks for the members that it needs as text, which is enough for requests that are well formed.

: "${fault_before:=:}" "${fault_tool:=:}"

answer() {
    case $1 in *'"id":'*'"method":'*) ;; *) return ;; esac
    id=${1#*'"id":'}
    id=${id%%[,\}]*}
    method=${1#*'"method":"'}
    method=${method%%\"*}
    echo "request $method" >&2
    $fault_before "$1"
    case $method in
    initialize)
        body='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fault","version":"1"}}'
        ;;
    ping) body='"result":{}' ;;
    tools/list) body='"result":{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}' ;;
    tools/call)
        $fault_tool
        body='"result":{"content":[]}'
        ;;
    *) body='"error":{"code":-32601,"message":"Method not found"}' ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$body" || exit 0
}

serve() {
    trap '' PIPE
    while read -r line; do answer "$line"; done
}
