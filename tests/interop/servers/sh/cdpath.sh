# A change of folder in a shell with CDPATH, which prints where it has come to.
CDPATH=${0%/*}/..
cd sh
. ./serve.sh
serve
