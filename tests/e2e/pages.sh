#!/bin/bash
# Man pages without warnings, and bash completion.
#   tests/e2e/pages.sh FOLDER_OF_PAGES PYTHON
set -u
pages=$1
python=${2:-python3}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ringfold-pages.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
fail() {
	echo "FAIL  $*"
	failures=$((failures + 1))
}

# warnings FILE: what the formatters say about a page
warnings() {
	if command -v mandoc > /dev/null; then
		mandoc -Tlint -W warning "$1"
	fi
	if command -v groff > /dev/null; then
		groff -ww -man -Tutf8 -z "$1" 2>&1
	fi
}
if command -v mandoc > /dev/null || command -v groff > /dev/null; then
	printf '.TH X 1\n.SH NAME\nx \\- y\n.nonsense\n' > "$dir/bad.1"
	[ -n "$(warnings "$dir/bad.1")" ] || fail "a wrong page is not noticed"
	n=0
	for f in "$pages"/man?/*; do
		text=$(warnings "$f")
		[ -z "$text" ] || fail "$text"
		n=$((n + 1))
	done
	echo "$n pages without a warning"
	[ $n -ge 40 ] || fail "only $n pages"
else
	echo "no formatter (groff or mandoc): pages are only searched"
fi
has() {
	grep -q -e "$2" "$pages/$1" || fail "$1: no \"$2\""
}
has man1/ringfold-sim.1 '^\\fB\\-n\\fR, \\fB\\-\\-ranks\\fR \\fIN\\fR$'
has man1/ringfold-sim.1 '(default 4)$'
has man1/ringfold-run.1 '^ringfold\\-run \\- Starts a simulated box'
has man1/ringfold-plan-compare.1 '\\-\\-topology'
has man1/ringfold.1 '^.BR ringfold\\-run (1)'
has man3/rf_allreduce.3 '^int rf_allreduce(struct rf_comm \*comm, const void \*send, void \*recv, size_t count,'
has man3/rf_op_name.3 'static; "unknown" for other values'
has man3/rf_comm_create.3 'struct rf_comm_config {'
has man3/rf_mem_forget.3 '^int rf_mem_forget(struct rf_context \*ctx, const void \*addr, size_t bytes);$'
has man3/ringfold.3 'RF_ERR_STEERING = \\-11'
# a function without a comment is refused
printf '/*\n * x: y.\n * z\n */\n#define RF_VERSION_MAJOR 0\nextern "C" {\n#endif\nenum rf_status {\n\tRF_OK = 0,\n};\nint rf_new(void);\n' > "$dir/x.h"
"$python" -B mk/pages.py api "$dir/man3" "$dir/x.h" 2> "$dir/err" && fail "a function without a comment has a page"
grep -q "rf_new has no comment" "$dir/err" || fail "the message about a function without a comment"

# complete WANTED WORD...: what bash offers for the last word
# shellcheck disable=SC1091
. "$pages/completion"
complete_to() {
	local want=$1
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_ringfold
	[ "${COMPREPLY[*]}" = "$want" ] || fail "after \"$*\": \"${COMPREPLY[*]}\" instead of \"$want\""
}
complete_to "sim" ringfold si
complete_to "--engine" ringfold sim --eng
complete_to "rtl model soft" ringfold sim --engine ""
complete_to "rtl" ringfold box -e r
complete_to "model" ringfold sim --engine = mo
complete_to "status stragglers" ringfold ctl st
complete_to "status" ringfold ctl stat
complete_to "compare" ringfold plan co
complete_to "--topology" ringfold plan compare --top
complete_to "--defaults" ringfoldd --def
complete_to "" ringfold sim --ranks ""
cd "$dir" && touch some-file && mkdir some-folder
complete_to "some-folder" ringfold sim --pcapng some
complete_to "some-file" ringfold run -n 4 -- some-fi
[ "$failures" = 0 ]
