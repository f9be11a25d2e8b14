# A start script that says so.
echo "Starting MCP server..."
exec sh "${0%/*}/clean_plain.sh"
