// SPDX-License-Identifier: GPL-2.0-only
/*
 * Candidates for the words of a command line, from what there is just now.
 */
#include <string.h>

#include "complete.h"
#include "config.h"
#include "io.h"
#include "mem.h"
#include "model.h"

static struct words split(const char *text)
{
	struct words words = { 0 };
	size_t len;

	for (; *text; text += strspn(text, " ")) {
		len = strcspn(text, " ");
		words_add(&words, mem_copy(text, len));
		text += len;
	}
	return words;
}

static struct words devices_and_sessions(void)
{
	struct words found = complete_words('d', NULL);
	struct words sessions[] = { io_list(CLT_CLASS), io_list(SRV_CLASS) };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sessions); i++)
		for (j = 0; j < sessions[i].nr; j++)
			if (!words_have(&found, sessions[i].word[j]))
				words_add(&found, sessions[i].word[j]);
	return found;
}

static struct words devices_sessions_and_exports(void)
{
	struct words found = devices_and_sessions(), exports = io_list(SRV_CTL "/devices");
	size_t i;

	for (i = 0; i < exports.nr; i++)
		words_add(&found, exports.word[i]);
	return found;
}

static struct words devices_sessions_and_paths(void)
{
	struct words found = devices_and_sessions(), sessions, paths;
	static const char *const classes[] = { CLT_CLASS, SRV_CLASS };
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		sessions = io_list("%s", classes[i]);
		for (j = 0; j < sessions.nr; j++) {
			paths = io_list("%s/%s/paths", classes[i], sessions.word[j]);
			for (k = 0; k < paths.nr; k++)
				if (!words_have(&found, paths.word[k]))
					words_add(&found, paths.word[k]);
		}
	}
	return found;
}

static struct words devices(void)
{
	struct mapped_list list = mapped_load();
	struct words found = { 0 };
	size_t i;

	for (i = 0; i < list.nr; i++)
		words_add(&found, mem_printf("/dev/%s", list.dev[i].disk));
	return found;
}

/* The value of an option. */
struct words complete_value(char letter)
{
	switch (letter) {
	case 's':
		return io_list(CLT_CLASS);
	case 'a':
		return split("ro rw migration");
	case 'u':
		return split("h b k m g t p s");
	default:
		return (struct words){ 0 };
	}
}

/* A word, of the kinds that struct command explains, and those before it. */
struct words complete_words(char kind, const struct words *before)
{
	switch (kind) {
	case 'd':
		return devices();
	case 's':
		return io_list(CLT_CLASS);
	case 'S':
		return devices_sessions_and_exports();
	case 'T':
		return devices_sessions_and_paths();
	case 'p':
		return io_list(CLT_CLASS "/%s/paths", before->word[0]);
	case 'e':
		return io_list(SRV_CTL "/devices");
	case 'x':
		return io_list(SRV_CTL "/devices/%s/sessions", before->word[0]);
	case 'r':
		return split("client server");
	case 'c':
		return split("exports map");
	case 'm':
		return strcmp(before->word[0], "map") ? (struct words){ 0 } : config_names(CONFIG_MAPS);
	default:
		return (struct words){ 0 };
	}
}
