# A wrapper with 2>&1, so that the log has everything.
exec sh "${0%/*}/clean_plain.sh" 2>&1
