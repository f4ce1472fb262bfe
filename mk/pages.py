#!/usr/bin/env python3
"""Man pages and bash completion, from what the tools and the public header say themselves.

  pages.py man OUT PROGRAM ...          OUT/NAME.1 of each program and of the commands of ringfold plan, by --help=man
  pages.py api OUT HEADER PART ...      OUT/ringfold.3, and OUT/FUNCTION.3 of each function, from the comments of the
                                        public header and of the headers that are parts of it
  pages.py completion OUT PROGRAM ...   a file for bash, by --help=words
"""
import os
import re
import subprocess
import sys


def ask(program, *words):
    done = subprocess.run([program] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit("pages.py: %s %s: exit code %d" % (program, " ".join(words), done.returncode))
    return done.stdout


def commands_in(program):
    """The names in the list of commands that --help prints."""
    text = ask(program, "--help")
    match = re.search(r"^[Cc]ommands[^\n]*:\n((?:  [^\n]*\n)+)", text, re.M)
    if not match:
        return []
    # a further line of one command's text begins with more blanks
    return [line.split()[0] for line in match.group(1).split("\n") if re.match(r"  [a-z]", line)]


def pages_of(programs):
    """(name of the page, command line) of everything that has options of its own."""
    for program in programs:
        name = os.path.basename(program)
        yield name, [program]
        if name == "ringfold-plan":
            for command in commands_in(program):
                yield name + "-" + command, [program, command]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def man(out, programs):
    names = []
    for name, line in pages_of(programs):
        names.append(name)
        write(os.path.join(out, name + ".1"), ask(*line, "--help=man"))
    # the page of ringfold itself names the others
    path = os.path.join(out, "ringfold.1")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # without the tools that are not installed
    text = "".join(line for line in text.splitlines(True)
                   if not re.match(r"  [a-z0-9]+ ", line) or "ringfold-" + line.split()[0] in names)
    also = ",\n".join(".BR %s (1)" % n.replace("-", "\\-") for n in names if n != "ringfold").replace(" (1),", " (1),")
    write(path, text.replace(".BR ringfold (1)", re.sub(r"\(1\),\n", "(1),\n", also) + ",\n.BR ringfold (3)"))


# ---- the header ----

def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(comment):
    """roff of a comment's text; lines that are indented are kept."""
    out, kept = [], False
    for line in comment.split("\n"):
        keep = line.startswith("    ")
        if line.strip() == "":
            out.append(".fi\n.PP" if kept else ".PP")
            kept = False
            continue
        if keep != kept:
            out.append(".nf" if keep else ".fi")
            kept = keep
        out.append(escape(line if keep else line.strip()))
    if kept:
        out.append(".fi")
    return "\n".join(out)


def text_of(comment):
    """The text of a C comment without its stars."""
    body = re.sub(r"^/\*+|\*/$", "", comment.strip())
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in body.split("\n")).strip("\n").strip()


def pieces(header):
    """The header as a list of ("comment", text) and ("code", text), at the outermost level."""
    start = 'extern "C" {\n#endif\n'
    body = header[header.index(start) + len(start):]
    depth, code, found, at = 0, "", [], 0
    while at < len(body):
        if depth == 0 and not code.strip() and body.startswith("/*", at):
            end = body.index("*/", at) + 2
            found.append(("comment", text_of(body[at:end])))
            at, code = end, ""
            continue
        if body.startswith("/*", at):
            end = body.index("*/", at) + 2
            code += body[at:end]
            at = end
            continue
        if body[at] == "#" and not code.strip():
            end = at
            while body[end] != "\n" or body[end - 1] == "\\":
                end += 1
            at, code = end, ""
            continue
        depth += {"{": 1, "}": -1}.get(body[at], 0)
        code += body[at]
        if body[at] == ";" and depth == 0:
            # a comment at the end of the line belongs to it
            tail = re.match(r"[ \t]*/\*.*?\*/", body[at + 1:])
            if tail:
                code += tail.group(0)
                at += tail.end()
            found.append(("code", code.strip()))
            code = ""
        at += 1
    return found


def page(name, section, short, version, parts, also):
    out = ['.TH %s %d "" "ringfold %s" "ringfold"' % (name.upper().replace("-", "\\-"), section, version), ".SH NAME",
           "%s \\- %s" % (name, escape(short))]
    for title, text in parts:
        out += [".SH " + title, text]
    out += [".SH SEE ALSO", also]
    return "\n".join(out) + "\n"


def kept(code):
    return ".nf\n" + escape(code.expandtabs(8)) + "\n.fi"


def first_sentence(text):
    return re.split(r"[.:;](?:\s|$)", re.sub(r"\s+", " ", text))[0]


def api(out, header_path, *parts_of_it):
    with open(header_path, encoding="utf-8") as file:
        header = file.read()
    version = ".".join(re.findall(r"^#define RF_VERSION_\w+ (\d+)", header, re.M))
    top = text_of(header[:header.index("*/") + 2])
    functions, types, comment, last = [], [], "", None
    texts = [header]
    for path in parts_of_it:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    for kind, text in (piece for text in texts for piece in pieces(text)):
        if kind == "comment":
            comment = "" if text.startswith("----") else text
            last = None
            continue
        match = re.match(r"^[\w\s\*]*?\b(rf_\w+)\s*\(", text)
        if match and "{" not in text:
            said = comment or last or ""
            functions.append((match.group(1), re.sub(r"\s+", " ", text), said))
            last = said
        elif "{" in text:
            types.append((re.match(r"(?:enum|struct) (\w+)", text).group(1), text, comment))
        comment = ""
    include = ".nf\n#include <ringfold/ringfold.h>\n"
    for name, prototype, said in functions:
        if not said:
            sys.exit("%s: %s has no comment" % (header_path, name))
        used = [t for t in types if re.search(r"\b%s\b" % t[0], prototype)]
        parts = [("SYNOPSIS", include + ".sp\n" + escape(prototype) + "\n.sp\nLink with \\-lringfold.\n.fi"), ("DESCRIPTION", paragraphs(said))]
        if used:
            parts.append(("TYPES", "\n.PP\n".join((paragraphs(c) + "\n.PP\n" if c else "") + kept(t) for _, t, c in used)))
        if prototype.startswith("int "):
            parts.append(("RETURN VALUE", "0 for success, a negative enum rf_status for an error, a positive one for "
                          "information.\nrf_last_error_text() says what happened and what to do about it."))
        write(os.path.join(out, name + ".3"), page(name, 3, first_sentence(said), version, parts, ".BR ringfold (3)"))
    title, rest = top.split("\n", 1)
    listing = "\n".join(".TP\n.BR %s (3)\n%s" % (n, escape(first_sentence(s))) for n, _, s in functions)
    status = next(t for n, t, _ in types if n == "rf_status")
    parts = [("SYNOPSIS", include + "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs ringfold)\n.fi"),
             ("DESCRIPTION", paragraphs(rest.strip("\n"))), ("FUNCTIONS", listing), ("STATUS", kept(status))]
    write(os.path.join(out, "ringfold.3"), page("ringfold", 3, title.split(": ", 1)[1].rstrip("."), version, parts, ".BR ringfold (1)"))


# ---- completion ----

def completion(out, programs):
    options, values, commands, names = {}, {}, {}, []
    for name, line in pages_of(programs):
        key = name.replace("ringfold-plan-", "plan ").replace("ringfold-", "")
        if name not in ("ringfold", "ringfoldd") and " " not in key:
            names.append(key)
        words = [row.split("\t") for row in ask(*line, "--help=words").splitlines()]
        options[key] = " ".join(w[0] for w in words)
        for word, arg in words:
            if re.fullmatch(r"[a-z0-9|-]+\|[a-z0-9|-]+", arg):
                values["%s %s" % (key, word)] = arg.replace("|", " ")
            elif arg:
                values["%s %s" % (key, word)] = "DIR" if arg == "DIR" else "FILE" if "FILE" in arg else "-"
        if key in ("ctl", "plan"):
            commands[key] = " ".join(commands_in(line[0]))
    text = ["# bash completion of ringfold and ringfoldd; made by mk/pages.py from the tools' tables of options."]
    for variable, table in (("options", options), ("values", values), ("commands", commands)):
        text.append("declare -gA _ringfold_%s=(" % variable)
        text += ["\t['%s']='%s'" % item for item in sorted(table.items())]
        text.append(")")
    text.append("_ringfold_names='%s'" % " ".join(sorted(names)))
    text.append(r'''
_ringfold() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} key at first=1 value
	COMPREPLY=()
	if [ "${COMP_WORDS[0]##*/}" = ringfoldd ]; then
		key=ringfoldd
		first=0
	elif [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_ringfold_names ${_ringfold_options[ringfold]}" -- "$cur")
		return
	else
		key=${COMP_WORDS[1]}
	fi
	# ringfold run: what follows -- is another program's
	if [ "$key" = run ]; then
		for ((at = 2; at < COMP_CWORD; at++)); do
			[ "${COMP_WORDS[at]}" = -- ] || continue
			[ $((at + 1)) = "$COMP_CWORD" ] && mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			return
		done
	fi
	if [ -n "${_ringfold_commands[$key]-}" ] && [ "$COMP_CWORD" = $((first + 1)) ] && [[ $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${_ringfold_commands[$key]}" -- "$cur")
		return
	fi
	[ -n "${_ringfold_options["$key ${COMP_WORDS[2]-}"]-}" ] && key="$key ${COMP_WORDS[2]}"
	# --option=value is three words
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	value=${_ringfold_values["$key $prev"]-}
	case $value in
	'') mapfile -t COMPREPLY < <(compgen -W "${_ringfold_options[$key]-}" -- "$cur") ;;
	DIR) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	FILE) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	-) ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$value" -- "$cur") ;;
	esac
}
complete -F _ringfold ringfold ringfoldd
''')
    write(out, "\n".join(text))


if len(sys.argv) < 4 or sys.argv[1] not in ("man", "api", "completion"):
    sys.exit(__doc__)
if sys.argv[1] == "api":
    api(sys.argv[2], *sys.argv[3:])
else:
    {"man": man, "completion": completion}[sys.argv[1]](sys.argv[2], sys.argv[3:])
