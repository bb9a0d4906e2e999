/* SPDX-License-Identifier: GPL-2.0-only */
/* The scenario, for those who play a part in it: fake.c and fake_nl.c. */
#ifndef FAKE_H
#define FAKE_H

#include <stdio.h>

#define MAX_WORDS	12

/* A line of the scenario, in words; the last one has all the rest. */
struct line {
	char text[2048];
	char *word[MAX_WORDS];
	int nr;
};

int next_line(FILE **file, const char *word, int words, struct line *line);
int errno_of(const char *name);

#endif
