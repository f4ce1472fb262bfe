# Parts of the scripts of this folder. Sourced by them, with their own arguments.
#
#   usage               the comment at the head of the script
#   $command, $bridge   the first two arguments, $pairs the rest, each checked to be HOST=BOX
#   each_pair COMMAND   COMMAND HOST BOX for each of them
#   undo_unless_done C  C is run if the script ends before `done_now`

usage() {
	sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
	exit 2
}

[ $# -ge 2 ] || usage
command=$1
bridge=$2
shift 2
pairs=$*
for pair in $pairs; do
	case $pair in
	?*=?*) ;;
	*) usage ;;
	esac
done
case $command in
up) [ -n "$pairs" ] || usage ;;
counts | down) [ -z "$pairs" ] || usage ;;
*) usage ;;
esac

each_pair() {
	for pair in $pairs; do
		"$@" "${pair%%=*}" "${pair#*=}"
	done
}

undo_unless_done() {
	trap "$1" EXIT
	trap 'exit 130' INT TERM HUP
}

done_now() {
	trap - EXIT
}
