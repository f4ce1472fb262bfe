#!/bin/bash
# ringfold plan on the command line: every command works, reports each error with its cause, and writes nothing after an error.
#
#   tests/e2e/plan.sh [FOLDER OF ringfold-plan]
set -u
bin=${1:-build/bin}
plan=$(cd "$bin" && pwd)/ringfold-plan
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

check() {
	local text=$1
	shift
	if "$@"; then
		echo "ok    $text"
	else
		echo "FAIL  $text"
		sed 's/^/      | /' out err 2> /dev/null | head -n 12
		failed=1
	fi
}

# run CODE NAME ARGS...: output in out, messages in err
run() {
	local want=$1 text=$2
	shift 2
	"$plan" "$@" > out 2> err
	local code=$?
	check "$text: exit code $want" test $code = "$want"
}

says() {
	grep -q -- "$1" out err
}

# Whether the folder has the same files as before, besides out and err.
nothing_new() {
	[ "$(ls)" = "$before" ]
}

json() {
	python3 -c "import json, sys; d = json.load(open('$1')); assert $2, d"
}

# --- commands that succeed
run 0 "help" --help
check "... names the commands" says "compare"
for command in make compare generate check jobs replan; do
	run 0 "help of $command" $command --help
	check "... with options" says "^options:"
done
run 0 "make --help" make --help
check "... lists the schemes" says "^  best "
run 0 "generate a leaf-spine" generate leaf-spine --leaves 2 --hosts 4 --host-link 10 --fabric-link 10 --out t.json
check "... 8 hosts, 2 boxes" json t.json "[sum(n['kind'] == k for n in d['nodes']) for k in ('host', 'box')] == [8, 2]"
run 0 "generate, the same on stdout" generate leaf-spine --leaves 2 --hosts 4 --host-link 10 --fabric-link 10
check "... the same" cmp -s out t.json
for shape in star fat-tree rail random machines; do
	run 0 "generate $shape" generate $shape --seed 3 --out $shape.json
	check "... is JSON" json $shape.json "d['format'] == 'ringfold-topology'"
done
run 0 "a plan" --topology t.json --scheme best --out p.json --dot p.dot --simulate --size 10M
check "... says its throughput" says "^throughput  *10 Gbps"
check "... and the runs'" says "^chunk run "
check "... is JSON" json p.json "abs(d['throughput'] - 10) < 1e-6 and d['scheme'] == 'best'"
run 0 "generate boxes with low limits" generate leaf-spine --leaves 2 --hosts 4 --groups 1 --fan-in 2 --out few.json
check "... the file has the limits" json few.json "d['boxes'] == {'groups': 1, 'ranks': None, 'fan_in': 2, 'slots': None, 'ports': None}"
run 0 "a plan with them" --topology few.json --scheme best --out fp.json
run 0 "... which check accepts" check --topology few.json --plan fp.json
run 3 "a plan that exceeds the limits" check --topology few.json --plan p.json
check "... names the box and the limit" says 'box "leaf[01]" has a fan_in of 2'
run 0 "a forest of two trees" -t t.json --scheme forest --trees 2 --json
check "... has at most two" json out "len(d['trees']) <= 2"
rm -f few.json fp.json
cat > jobs.json << END
{"format": "ringfold-jobs", "version": 1, "jobs": [
 {"name": "a", "hosts": ["m0", "m1"], "rate": 150}, {"name": "b", "hosts": ["m2", "m3"]}]}
END
run 0 "jobs" jobs --topology machines.json --jobs jobs.json --out-prefix job-
check "... a table" says "^a  *8  *150\.0000 "
check "... a plan for each" json job-b.json "len(d['hosts']) == 8"
run 0 "... which check accepts" check --topology machines.json --plan job-b.json
run 0 "... and both together" check --topology machines.json --plan job-a.json --plan job-b.json
check "... which exceed nothing" says "exceed no limit"
run 3 "the same plan twice" check --topology machines.json --plan job-b.json --plan job-b.json
check "... names a link" says "the plans together put .* on the link"
run 2 "a picture of two plans" check --topology machines.json --plan job-a.json --plan job-b.json --picture x.svg
rm -f job-a.json job-b.json jobs.json
run 0 "a plan that loses a link" replan --topology t.json --plan p.json --without-link leaf0,spine0 --out q.json --topology-out u.json
check "... reports the number of trees kept" says "^trees  *[0-9]* kept"
run 0 "... which check accepts" check --topology u.json --plan q.json
rm -f q.json u.json
run 0 "a network with a switch for nothing" generate leaf-spine --leaves 2 --spines 2 --hosts 2 --out idle.json
run 0 "... planned" make -t idle.json --scheme best --out ip.json
run 0 "... whose spine loses all links" replan --topology idle.json --plan ip.json --without-link leaf0,spine1 --without-link spine1,leaf1 --out q.json --topology-out u.json
check "... it is left out" says '"spine1" has no path to a host with data any more, and is left out'
check "... of the remaining topology" json u.json "len(d['nodes']) == 7"
run 0 "... which check accepts" check --topology u.json --plan q.json
rm -f idle.json ip.json q.json u.json
run 0 "a random network" generate random --seed 8 --out drawn.json
run 0 "... planned" make -t drawn.json --scheme best --out dp.json
run 0 "... that loses a link and needs more new trees" replan -t drawn.json -P dp.json --without-link s2,s1 --out q.json --topology-out u.json
check "... says how many" says "1 of the removed trees used no failed link or node"
check "... reaches 95 %" python3 -c "import re; assert float(re.search(r'([0-9.]+)% of a new plan$', open('out').read(), re.M)[1]) >= 95"
run 0 "... which check accepts" check --topology u.json --plan q.json
run 0 "... that keeps all trees it can" replan -t drawn.json -P dp.json --without-link s2,s1 --at-least 0
check "... has a lower rate" python3 -c "import re; assert float(re.search(r'([0-9.]+)% of a new plan$', open('out').read(), re.M)[1]) < 95"
check "... and says nothing" test ! -s err
rm -f drawn.json dp.json q.json u.json
run 0 "a larger network" generate fat-tree --k 16 --hosts 8 --boxes share --box-share 20% --out large.json
run 0 "... planned" make -t large.json --scheme best
# Values follow the round if there are any at that moment.
check "... with progress messages" grep -q "s  .*, round [0-9]*\(: [0-9.]*, bound [0-9.]*\)\?$" err
run 0 "... with --quiet" make -t large.json --scheme best --quiet
check "... prints no messages" test ! -s err
rm -f large.json
before=$(ls)
run 1 "a link that does not exist" replan --topology t.json --plan p.json --without-link leaf0,leaf1 --out q.json
check "... names its ends" says "no link joins \"leaf0\" and \"leaf1\""
run 1 "a host's last link" replan --topology t.json --plan p.json --without-link h0,leaf0 --out q.json
check "... names the host" says '"h0" has no link'
check "... nothing is written" nothing_new
run 0 "a plan in chunk classes" make -t t.json --scheme forest --chunks 64 --json
check "... 64 of them" json out "d['chunks'] == 64 and sum(t['chunks'] for t in d['trees']) == 64"
check "... with its certificate" json p.json "d['bounds']['ratio'] > 1 - 1e-6 and d['bounds']['exact'] and abs(d['bounds']['dual'] - 10) < 1e-6 and abs(d['bounds']['cut'] - 10) < 1e-6 and abs(d['bounds']['flow'] - 10) < 1e-5"
check "... and its prices: capacity times price is the bound" json p.json "abs(sum(10 * p[-1] for p in d['bounds']['link_prices']) - 10) < 1e-6"
run 0 "the plan checked" check --topology t.json --plan p.json
check "... same throughput" says "^throughput  *10 Gbps"
check "... and the bound by its prices" says "^dual bound  *10 Gbps"
run 0 "a ring's rounds" -t t.json --scheme ring
check "... 2 (N - 1) of them" says "^rounds  *14$"
run 0 "a forest of hosts" -t t.json --scheme forest --json
check "... its ratio is relative to the bound of all trees, not of trees of hosts" json out "abs(d['bounds']['dual'] - 40 / 7) < 1e-6 and d['bounds']['dual_of'] == 'trees of hosts' and abs(d['bounds']['ratio'] - 4 / 7) < 1e-6 and d['bounds']['ratio_of'] == 'cut'"
run 0 "generate long links" generate leaf-spine --leaves 2 --hosts 6 --boxes none --delay 1ms --out far.json
run 0 "a plan for a small vector" -t far.json --scheme best --size 4K --json --simulate
check "... has fewer steps" cp out small.json
run 0 "a plan for a large one" -t far.json --scheme best --size 10G --json --simulate
check "... may have more" python3 -c "import json; a, b = (json.load(open(f)) for f in ('small.json', 'out')); assert a['steps'] < b['steps'], (a['steps'], b['steps'])"
run 2 "an invalid size" -t far.json --scheme best --size 4X
rm -f far.json small.json
run 0 "a picture of the second tree" -t t.json --scheme forest --tree 2 --dot p.dot
check "... says so" grep -q "number 2 by size" p.dot
check "... has its hosts in order" grep -q "n[0-9]* -> n[0-9]* .style=invis" p.dot
run 0 "a picture of many trees" -t t.json --scheme ring --dot p.dot
check "... shows the load of links" grep -q "links by load" p.dot
run 1 "a tree that does not exist" -t t.json --scheme netreduce-rack --tree 2 --dot none.dot
check "... reports the number of trees" says "there is no tree 2: the plan has 1"
check "... writes nothing" test ! -e none.dot
run 0 "compare, sorted" compare --topology t.json --json
check "... the fastest first" json out "(lambda v: v == sorted(v, reverse=True))([s['throughput'] for s in d['schemes'] if 'throughput' in s])"
run 0 "compare" compare --topology t.json --chart c.svg
check "... ring" says "^ring  *5\.714"
check "... best" says "^best  *10.0000 *100.00%"
check "... the chart is XML with a bar of ring" python3 -c "
import xml.dom.minidom
d = xml.dom.minidom.parse('c.svg')
assert any('ring' in t.firstChild.data for t in d.getElementsByTagName('text'))"
run 0 "compare --json" compare --topology t.json --schemes ring,best --json
check "... two schemes" json out "[s['scheme'] for s in d['schemes']] == ['best', 'ring'] and abs(d['bound'] - 10) < 1e-6"
check "... and all bounds" json out "abs(d['bounds']['cut'] - 10) < 1e-6 and abs(d['bounds']['flow'] - 10) < 1e-5"
# No limit is null with a reason: JSON has no infinite numbers.
run 0 "generate more racks" generate leaf-spine --leaves 8 --hosts 4 --out servers.json
sed -i 's/"kind": "host"/"kind": "host", "server": true/' servers.json
run 0 "compare without a cut bound" compare --topology servers.json --schemes ps --reduce-only --json
check "... null and the reason" json out "d['bounds']['cut'] is None and d['bounds']['no_cut'] == 'there is no limit' and d['bound_by'] == 'degree' and d['schemes'][0]['throughput'] > 0"
run 0 "a plan without a cut bound" -t servers.json --scheme ps --reduce-only --json
check "... null and the reason" json out "d['bounds']['cut'] is None and d['bounds']['no_cut'] == 'there is no limit' and d['bounds']['ratio_of'] == 'degree'"
if command -v dot > /dev/null; then
	sed 's/leaf0/le"<\&>/; s/"h3"/"key0"/' t.json | sed 's/le"</le\\"</' > odd.json
	run 0 "a picture of odd names" -t odd.json --scheme best --picture odd.svg --out odd-plan.json
	check "... is XML" python3 -c "import xml.dom.minidom; assert 'le\"<&>' in ''.join(t.firstChild.data for t in xml.dom.minidom.parse('odd.svg').getElementsByTagName('text') if t.firstChild)"
	run 0 "a chart of odd names" compare -t odd.json --schemes ring --chart odd-chart.svg --out odd-table
	check "... is XML" python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('odd-chart.svg')"
	run 0 "a picture" -t t.json --scheme best --picture p.svg
	check "... is XML" python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('p.svg')"
else
	echo "skip  a picture: Graphviz is not installed"
fi
empty=$(mktemp -d "$dir/empty.XXXX")
before=$(ls)
PATH=$empty run 1 "a picture without Graphviz" -t t.json --scheme ring --picture q.svg --out q.json
check "... names the package" says "apt-get install graphviz"
check "... and writes nothing" nothing_new

# --- errors: reason and exit code, and nothing is written
bad() {
	local code=$1 reason=$2
	shift 2
	before=$(ls)
	run "$code" "refused: $reason" "$@"
	check "... reports the reason" says "$reason"
	check "... writes nothing" nothing_new
}

# line FILE TEXT N: the line number of the N-th occurrence of the text
line() {
	grep -n -- "$2" "$1" | sed -n "$3s/:.*//p"
}

# topo NAME CODE: writes bad-NAME.json, the topology t.json changed by a line of Python
topo() {
	python3 -c "
import json
d = json.load(open('t.json'))
n, l = d['nodes'], d['links']
$2
print(json.dumps(d, indent=1), file=open('bad-$1.json', 'w'))"
}

topo cut "d['links'] = [x for x in l if not (x['b'].startswith('spine') and x['a'] == 'leaf1')]"
topo zero "l[3]['capacity'] = 0"
topo negative "l[3]['capacity'] = [10, -1]"
topo twice "n[6]['name'] = 'h1'"
topo lonely "n.append({'name': 'lonely', 'kind': 'host'})"
topo box "n.append({'name': 'y', 'kind': 'box'}); n.append({'name': 'z', 'kind': 'box'}); l.append({'a': 'y', 'b': 'leaf0', 'capacity': 1}); l.append({'a': 'y', 'b': 'z', 'capacity': 1})"
topo far "l[3]['capacity'] = 1e-9"
topo control "n[4]['name'] = 'h\\x01'; [x.update(a='h\\x01') for x in l if x['a'] == 'h2']"
topo hosts "d['nodes'] = [x for x in n if x['kind'] != 'host']; d['links'] = [x for x in l if x['a'][0] != 'h']"
echo '{"format": "ringfold-topology",' > bad-json.json
touch p2.json p2.svg; rm -f out err p2.json p2.svg; touch out err

for command in "make --scheme best --out p2.json --dot p2.dot" "compare --out p2.json --chart p2.svg"; do
	bad 1 "bad-cut.json:[0-9]*: the topology is not connected" $command --topology bad-cut.json
	bad 1 "bad-zero.json:[0-9]*: the capacity from .* is 0" $command --topology bad-zero.json
	bad 1 "bad-negative.json:[0-9]*: the capacity from .* is -1" $command --topology bad-negative.json
	bad 1 "bad-twice.json:$(($(line bad-twice.json '"name": "h1"' 2) - 1)): the name \"h1\" is used twice" $command --topology bad-twice.json
	bad 1 "bad-far.json:[0-9]*: the capacity from .* is 1e-09, less than a billionth of the largest, 10" $command --topology bad-far.json
	bad 1 "bad-control.json:[0-9]*: \"name\" must not contain control characters" $command --topology bad-control.json
	bad 1 "bad-lonely.json:[0-9]*: \"lonely\" has no link" $command --topology bad-lonely.json
	bad 1 "bad-box.json:[0-9]*: the box \"z\" cannot merge anything" $command --topology bad-box.json
	bad 1 "bad-hosts.json:[0-9]*: no host has data to sum" $command --topology bad-hosts.json
	bad 1 "bad-json.json:2: " $command --topology bad-json.json
	bad 1 "none.json: No such file" $command --topology none.json
done

python3 -c "
import json
def put(name, change):
	d = json.load(open('p.json'))
	change(d)
	print(json.dumps(d, indent=1), file=open(name, 'w'))
put('bad-shares.json', lambda d: d['trees'][0].update(share=d['trees'][0]['share'] * 0.9))
put('bad-fast.json', lambda d: d.update(throughput=10.1))
put('bad-lost.json', lambda d: d['trees'][0]['up'].pop())
put('bad-number.json', lambda d: d['trees'][0]['up'][0].append(2 ** 32 + 1))
put('bad-steps.json', lambda d: d.update(steps=2 ** 32 + 4))
put('bad-down.json', lambda d: d.update(reduce_only=True))
put('bad-root.json', lambda d: (d.update(reduce_only=True), [t.pop('down') for t in d['trees']]))
put('bad-phases.json', lambda d: d.update(sequential=True))
put('bad-name.json', lambda d: d['trees'][0].update(root='nobody'))"
bad 3 "bad-shares.json:$(line bad-shares.json '"trees"' 1): the shares add up to 0.9" check -t t.json -P bad-shares.json --dot p2.dot
bad 3 "bad-fast.json:[0-9]*: throughput 10.1 is not possible: " check -t t.json -P bad-fast.json --dot p2.dot
bad 3 "bad-lost.json:$(($(line bad-lost.json '"trees"' 1) + 1)): tree 0: " check -t t.json -P bad-lost.json --dot p2.dot
bad 3 "bad-down.json:[0-9]*: tree 0: edges down in a plan without a way down" check -t t.json -P bad-down.json --dot p2.dot
bad 3 "bad-root.json:[0-9]*: tree 0: with reduce_only trees must end at parameter servers, \"leaf[01]\" is not one" check -t t.json -P bad-root.json --dot p2.dot
bad 3 "bad-phases.json:[0-9]*: throughput 10 is not possible: the way up and the way down, one after the other, allow 5" check -t t.json -P bad-phases.json --dot p2.dot
bad 1 "bad-number.json:[0-9]*: 4294967297 is not a valid link number" check -t t.json -P bad-number.json --dot p2.dot
bad 1 "bad-steps.json:[0-9]*: \"steps\" must be a whole number from 0 to" check -t t.json -P bad-steps.json --dot p2.dot
bad 1 "bad-name.json:[0-9]*: there is no node \"nobody\"" check -t t.json -P bad-name.json --dot p2.dot

bad 2 "there is no scheme \"none\"" -t t.json --scheme none --out p2.json
bad 2 "there is no scheme \"none\"" compare -t t.json --schemes ring,none --out p2.json
bad 2 "there is no command \"draw\"" draw
bad 2 "are required" --topology t.json
bad 2 "unexpected argument \"more\"" -t t.json --scheme ring --out p2.json more
bad 2 "the first argument must be a shape" generate cube --out p2.json
bad 2 "did you mean star?" generate str --out p2.json
bad 2 "did you mean leaf-spine?" generate leafspine --hosts 4 --out p2.json
bad 2 "^--hosts: \"99999999\" must be a whole number up to 1000000" generate star --hosts 99999999 --out p2.json
bad 2 "^--host-link: \"x\" must be a positive number" generate star --host-link x --out p2.json
bad 2 "^--fan-in: \"x\" must be a whole number" generate star --fan-in x --out p2.json
bad 2 "^--processing: \"5:3\" must be" generate star --processing 5:3 --out p2.json
bad 2 "positive" generate star --host-link -3 --out p2.json
bad 1 "must be even" generate fat-tree --k 5 --out p2.json
for option in --groups --ranks --fan-in --slots --ports; do
	for value in -1 1000001 1.5 x; do
		bad 2 "\"$value\" must be a whole number up to 1000000" generate star $option $value --out p2.json
	done
done
bad 1 "needs at least one GPU for each of its" generate machines --gpus 1 --leaves 2 --out p2.json
bad 2 "must be a positive number" generate machines --nvlink 0 --out p2.json
bad 2 "\"-1\" is not a valid N" -t t.json --scheme best --trees -1 --out p2.json
for value in 1048577 3000000000; do
	bad 2 "^--trees: \"$value\" must be a whole number from 0 to 1048576" -t t.json --scheme best --trees $value --out p2.json
	bad 2 "^--chunks: \"$value\" must be a whole number from 0 to 1048576" -t t.json --scheme best --chunks $value --out p2.json
	bad 2 "^--chunks: \"$value\" must be a whole number from 0 to 1048576" compare -t t.json --schemes ring --chunks $value --out p2.json
	for option in --chunks --trees; do
		bad 2 "^$option: \"$value\" must be a whole number from 0 to 1048576" jobs -t t.json -J none.json $option $value --out-prefix p2
	done
done
bad 2 "^--roundings: \"100001\" must be a whole number from 0 to 100000" -t t.json --scheme grid --roundings 100001 --out p2.json
bad 2 "^--scheme: there is no scheme \"foo\"; it must be one of ring, .*best" jobs -t t.json -J none.json --scheme foo --out-prefix p2
bad 2 "jobs: --topology and --jobs are required" jobs -t t.json
bad 2 "unexpected argument \"more\"" jobs -t t.json -J none.json more
bad 2 "unexpected argument \"more\"" replan -t t.json -P p.json --without-link leaf0,h0 more
for value in 2 2147483648 3000000000 4294967295; do
	bad 1 "there is no tree $value: the plan has 1" -t t.json --scheme netreduce-rack --tree $value --dot p2.dot
done
bad 2 "\"x\" is not a valid N" -t t.json --scheme best --tree x --out p2.json
bad 2 "\"-3s\" is not a valid TIME" -t t.json --scheme best --limit -3s --out p2.json
for value in 0 -1 x; do
	bad 2 "^--size: \"$value\" must be a size above 0" -t t.json --scheme best --size $value --out p2.json
done
for value in x 1, ,1 -1,2 inf nan 1:2; do
	bad 2 "^--shares: \"$value\" must be a list of at most 64 numbers" -t t.json --scheme inart-exact --shares $value --out p2.json
done
for scheme in best inart ring; do
	bad 2 "shares is an option of the scheme inart-exact, not of \"$scheme\"" -t t.json --scheme $scheme --shares 0.6,0.4 --out p2.json
done
for scheme in best ring inart-exact forest; do
	for option in as-printed "roundings 5"; do
		bad 2 "${option%% *} is an option of the scheme grid, grid-classes, inart or inart-equal, not of \"$scheme\"" -t t.json --scheme $scheme --$option --out p2.json
	done
done
for value in 0 11% 1e-8 -1 x; do
	bad 2 "^--gap: \"$value\" must be a part from 1e-05% to 10%" -t t.json --scheme best --gap $value --out p2.json
done
bad 2 "gap is an option of the scheme best, not of \"forest\"" -t t.json --scheme forest --gap 1% --out p2.json
bad 2 "tree needs --picture or --dot" -t t.json --scheme ring --tree 1 --out p2.json
bad 2 "tree needs --picture or --dot" check -t t.json -P p.json --tree 1
bad 2 "sim-chunks needs --simulate or --size" -t t.json --scheme ring --sim-chunks 256 --out p2.json
bad 2 "sim-chunks needs exactly one --plan" check -t t.json -P p.json -P p.json --sim-chunks 8
bad 2 "size needs exactly one --plan" check -t t.json -P p.json -P p.json --size 8M
for value in 0 -1 1048577 x; do
	bad 2 "^--sim-chunks: \"$value\" must be a whole number from 1 to 1048576" -t t.json --scheme ring --simulate --sim-chunks $value --out p2.json
done
bad 2 "leaves does not belong to the shape star, but to leaf-spine rail random machines" generate star --leaves 3 --out p2.json
bad 2 "k does not belong to the shape leaf-spine, but to fat-tree" generate leaf-spine --k 8 --out p2.json
bad 2 "gpus does not belong to the shape rail, but to machines" generate rail --gpus 8 --out p2.json
bad 2 "degree does not belong to the shape fat-tree, but to random" generate fat-tree --degree 4 --out p2.json
bad 2 "nvlink does not belong to the shape star, but to machines" generate star --nvlink 400 --out p2.json
bad 2 "box-share needs --boxes share" generate leaf-spine --box-share 30% --out p2.json
bad 1 "shares has 2 values" -t t.json --scheme inart-exact --shares 0.6,0.4 --out p2.json
bad 1 "shares has 1 values" -t t.json --scheme inart-exact --shares 0 --out p2.json
for value in leaf0 leaf0, ,leaf0 leaf0,h0,0 leaf0,h0,x leaf0,h0,1,1; do
	bad 2 "^--without-link: \"$value\" must have the form A,B or A,B,K" replan -t t.json -P p.json --without-link $value --out p2.json
done
for value in 105% -1 x; do
	bad 2 "^--at-least: \"$value\" is not a valid PART" replan -t t.json -P p.json --without-link leaf0,spine0 --at-least $value --out p2.json
done
bad 1 "there is no node \"leaf9\"" replan -t t.json -P p.json --without-link leaf9,h0 --out p2.json
bad 1 "fewer than 2 links join \"leaf0\" and \"h0\"" replan -t t.json -P p.json --without-link leaf0,h0,2 --out p2.json
bad 1 "no link joins \"h0\" and \"h1\"" replan -t t.json -P p.json --without-link h0,h1 --out p2.json
bad 1 "the host \"h0\" has data in the plan" replan -t t.json -P p.json --without-node h0 --out p2.json
sed 's/"dual": [0-9.]*/"dual": 1.5/' p.json > low.json
bad 3 "more than the dual bound 1.5 that the plan states as proven" check -t t.json -P low.json
rm -f low.json
# What a plan states as proven is true, whatever the names of its scheme and hosts are.
python3 -c "
import json
hosts = [n['name'] for n in json.load(open('t.json'))['nodes'] if n['kind'] == 'host']
def forge(name, **to):
	d = json.load(open('p.json'))
	d['throughput'] = 5
	d['bounds'].update(exact=True, dual=6)
	for key, value in to.items():
		(d['bounds'] if key in d['bounds'] else d)[key] = value
	if to.get('link_prices') == 0:
		del d['bounds']['link_prices'], d['bounds']['box_prices']
	json.dump(d, open('forged-%s.json' % name, 'w'))
forge('plain')
forge('hosts', hosts=hosts)
forge('forest', scheme='forest', throughput=10)
forge('bare', link_prices=0)
forge('bare-hosts', link_prices=0, hosts=hosts)
forge('tiny', link_prices=[['h0', 'leaf0', 5e-324], ['leaf0', 'h0', 5e-324]])
forge('modest', link_prices=0, exact=False)
"
for name in plain hosts; do
	bad 3 "forged-$name.json: the prices in the plan do not prove its dual bound 6 for this topology, but 10 " check -t t.json -P forged-$name.json
done
for name in bare bare-hosts; do
	bad 3 "forged-$name.json: the plan states the dual bound 6 as proven, without the prices" check -t t.json -P forged-$name.json
done
bad 3 "forged-forest.json: the throughput is 10, more than the dual bound 6 that the plan states as proven" check -t t.json -P forged-forest.json
bad 1 "forged-tiny.json:1: a link price must be .* with a price of 0 or at least 2.22507e-308" check -t t.json -P forged-tiny.json
run 0 "a plan that proves nothing and says so" check -t t.json -P forged-modest.json
rm -f forged-*.json
bad 1 "nobody" replan -t t.json -P p.json --without-node nobody --out p2.json
bad 1 "cannot write nowhere/p.json" -t t.json --scheme ring --out nowhere/p.json
bad 1 "not a regular file" -t t.json --scheme ring --out .

# No input file is overwritten, and no two results have the same file.
bad 1 "t.json is an input file" -t t.json --scheme ring --out t.json
bad 1 "t.json is an input file" compare -t t.json --schemes ring --chart ./t.json
bad 1 "p.json is an input file" check -t t.json -P p.json --dot ./p.json
bad 1 "two results have the path ./p2.json" -t t.json --scheme ring --out p2.json --dot ./p2.json
bad 1 "two results have the path -;" -t t.json --scheme ring --out - --dot -

# If memory runs out the plan ends with a message, also inside CLP, and nothing is written.
run 0 "a network that needs some memory" generate fat-tree --k 8 --hosts 4 --boxes share --spread 30% --out memory.json
before=$(ls)
short=0
for kilobytes in $(seq 20000 3000 50000); do
	(ulimit -v "$kilobytes" && exec "$plan" -t memory.json --scheme best --quiet --out short.json) > out 2> err
	code=$?
	grep -q "^planner: out of memory" err && short=$((short + 1))
	[ $code = 0 ] && break
	[ $code = 127 ] && continue # the libraries did not load
	check "$kilobytes kB of memory: exit code 1" test $code = 1
	check "... says so" grep -qi "memory" err
	check "... writes nothing" nothing_new
done
check "memory ran out in a scheme" test $short -gt 0
check "... and was sufficient at the end" test $code = 0
rm -f memory.json short.json

# An error does not change an older result file.
cp p.json old.json
run 1 "an error with an older result file" -t bad-zero.json --scheme ring --out old.json
check "... which is unchanged" cmp -s p.json old.json
exit $failed
