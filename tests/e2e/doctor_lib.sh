# lib.sh, and functions shared by the tests of ringfold doctor. Sourced by bash scripts.
. "$(dirname "$0")/lib.sh"

# doctor RANK [options]: its output goes to $dir/RANK.err
doctor() {
	local r=$1
	shift
	RF_IP=10.0.0.$((r + 1)) RF_DEVICE=${RF_DEVICE//%r/$r} "$bin/ringfold-doctor" --steering both "$@" > "$dir/$r.err" 2>&1
}

# Whether rank N's run failed only at this check, with a remedy.
fails_at() {
	[ "$(grep -c '^FAILED' "$dir/$1.err")" = 1 ] && grep -q "^FAILED   $2 " "$dir/$1.err" && grep -q ' fix: ..........' "$dir/$1.err"
}
