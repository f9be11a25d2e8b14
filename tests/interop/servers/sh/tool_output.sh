# A tool whose program's output goes where the answers go.
. "${0%/*}/serve.sh"
list_files() { echo "total 48"; }
fault_tool=list_files
serve
