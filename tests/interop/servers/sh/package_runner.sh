# What npm writes in front of a script that it runs without --silent.
printf '\n> fault-server@1.0.0 start\n> node server.js\n\n'
exec sh "${0%/*}/clean_plain.sh"
