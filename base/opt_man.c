/* A page of options as the source of a man page, and as words for completion. */
#include "base/opt_page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "rf_version.h"

/* Characters that roff would take for something else. */
static void put(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool begins = i == 0 || text[i - 1] == '\n';

		if (begins && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", stdout);
		if (text[i] == '\\')
			fputs("\\e", stdout);
		else if (text[i] == '-')
			fputs("\\-", stdout);
		else
			putchar(text[i]);
	}
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

/* "ringfold sim [options]": the words of the program's name, with dashes between them. */
static void name_of(const char *usage, char *to, size_t room)
{
	size_t n = 0;

	for (const char *p = usage; *p && n + 1 < room; p++) {
		if (*p == ' ' && !islower((unsigned char)p[1]))
			break;
		to[n++] = *p == ' ' ? '-' : *p;
	}
	to[n] = '\0';
}

/* The first sentence, in one line. */
static void put_sentence(const char *text)
{
	for (const char *p = text; *p; p++) {
		bool ends = (*p == '.' || *p == ':') && (p[1] == ' ' || p[1] == '\n' || !p[1]);

		if (ends || (*p == '\n' && p[1] == '\n'))
			break;
		put(*p == '\n' ? " " : p, 1);
	}
	putchar('\n');
}

/*
 * Text that may hold lists: what begins with blanks keeps its lines, the rest is filled. An empty
 * line begins a paragraph.
 */
static void put_block(const char *text)
{
	bool kept = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		bool keep = *text == ' ';

		if (keep != kept && len != 0) {
			puts(keep ? ".nf" : ".fi");
			kept = keep;
		}
		if (len == 0) {
			puts(kept ? ".fi\n.PP" : ".PP");
			kept = false;
		} else {
			put(text, len);
			putchar('\n');
		}
		text += len + (text[len] == '\n');
	}
	if (kept)
		puts(".fi");
}

static void put_option(const struct rf_opt *o)
{
	puts(".TP");
	if (o->letter)
		printf("\\fB\\-%c\\fR, ", o->letter);
	printf("\\fB\\-\\-");
	put_text(o->name);
	printf("\\fR");
	if (rf_opt_takes(o)) {
		printf(" \\fI");
		put_text(o->arg ? o->arg : "VALUE");
		printf("\\fR");
	}
	putchar('\n');
	put_text(o->text);
	rf_opt_default(o);
	putchar('\n');
}

void rf_opt_man(const struct rf_opt_page *page)
{
	char name[64];
	size_t n;

	name_of(page->usage, name, sizeof(name));
	printf(".TH ");
	for (const char *p = name; *p; p++)
		if (*p == '-')
			fputs("\\-", stdout);
		else
			putchar(toupper((unsigned char)*p));
	printf(" 1 \"\" \"ringfold %s\" \"ringfold\"\n.SH NAME\n", RF_VERSION_TEXT);
	put_text(name);
	printf(" \\- ");
	put_sentence(page->intro);
	puts(".SH SYNOPSIS\n.nf");
	for (const char *p = page->usage; *p; p += n + (p[n] == '\n')) {
		n = strcspn(p, "\n");
		while (n != 0 && *p == ' ') {
			p++;
			n--;
		}
		put(p, n);
		putchar('\n');
	}
	puts(".fi\n.SH DESCRIPTION");
	put_block(page->intro);
	puts(".SH OPTIONS");
	for (const struct rf_opt *o = page->opts; o->kind != RF_OPT_END; o++) {
		if (o->kind == RF_OPT_HEADING) {
			puts(".PP");
			put_text(o->text);
			putchar('\n');
		} else if (rf_opt_is(o)) {
			put_option(o);
		}
	}
	puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nthe same as text\n"
	     ".TP\n\\fB\\-\\-version\\fR\nthe version of ringfold");
	if (page->examples) {
		puts(".SH EXAMPLES");
		put_block(page->examples);
	}
	puts(".SH SEE ALSO\n.BR ringfold (1)");
}

void rf_opt_words(const struct rf_opt_page *page)
{
	for (const struct rf_opt *o = page->opts; o->kind != RF_OPT_END; o++) {
		if (!rf_opt_is(o))
			continue;
		printf("--%s\t%s\n", o->name, rf_opt_takes(o) ? (o->arg ? o->arg : "VALUE") : "");
		if (o->letter)
			printf("-%c\t%s\n", o->letter,
			       rf_opt_takes(o) ? (o->arg ? o->arg : "VALUE") : "");
	}
	puts("--help\t\n--version\t");
}
