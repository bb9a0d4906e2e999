/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal. Whatever does not fit is cut off, and all that is printed is ASCII: what is not becomes
 * question marks.
 */
#ifndef RNBD_SCREEN_H
#define RNBD_SCREEN_H

#include <stdbool.h>

/* Keys that are no characters. */
enum press {
	PRESS_NONE = -1,
	PRESS_ESCAPE = 27,
	PRESS_UP = 1000,
	PRESS_DOWN,
	PRESS_LEFT,
	PRESS_RIGHT,
	PRESS_PAGE_UP,
	PRESS_PAGE_DOWN,
	PRESS_HOME,
	PRESS_END,
	PRESS_ENTER,
	PRESS_BACKSPACE,
	PRESS_OTHER,			/* as a new size of the terminal */
};

enum look {
	LOOK_PLAIN,
	LOOK_BOLD,
	LOOK_REVERSE,
};

bool screen_begin(void);
void screen_end(void);
int screen_lines(void);
int screen_columns(void);
void screen_clear(void);
void screen_look(enum look look);
void screen_put(int line, int column, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void screen_bar(int line);
void screen_show(void);
int screen_key(void);

#endif
