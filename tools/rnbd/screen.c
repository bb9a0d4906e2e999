// SPDX-License-Identifier: GPL-2.0-only
#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <term.h>
#include <unistd.h>

#include "mem.h"
#include "screen.h"

/* An escape character that nothing follows for so long, in milliseconds, is the key of that name. */
#define ESCAPE_MS	25

static SCREEN *terminal;

/* False if the terminal is of no known kind. */
bool screen_begin(void)
{
	int known;

	/* newterm() keeps some memory where it fails. */
	if (setupterm(NULL, STDOUT_FILENO, &known) == ERR)
		return false;
	del_curterm(cur_term);
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return false;
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	return true;
}

/* The terminal as it was. */
void screen_end(void)
{
	endwin();
	delscreen(terminal);
}

int screen_lines(void)
{
	return LINES;
}

int screen_columns(void)
{
	return COLS;
}

void screen_clear(void)
{
	erase();
}

void screen_look(enum look look)
{
	attrset(look == LOOK_REVERSE ? A_REVERSE : look == LOOK_BOLD ? A_BOLD : A_NORMAL);
}

void screen_put(int line, int column, const char *fmt, ...)
{
	va_list args;
	char *text, *at;

	va_start(args, fmt);
	text = mem_vprintf(fmt, args);
	va_end(args);
	for (at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	if (line >= 0 && line < LINES && column >= 0 && column < COLS)
		mvaddnstr(line, column, text, COLS - column);
}

/* The whole line in the look that is set. */
void screen_bar(int line)
{
	if (line < LINES)
		mvhline(line, 0, ' ' | (chtype)(getattrs(stdscr)), COLS);
}

void screen_show(void)
{
	refresh();
}

/* The next key, or PRESS_NONE at once. */
int screen_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return PRESS_NONE;
	case KEY_UP:
		return PRESS_UP;
	case KEY_DOWN:
		return PRESS_DOWN;
	case KEY_LEFT:
		return PRESS_LEFT;
	case KEY_RIGHT:
		return PRESS_RIGHT;
	case KEY_PPAGE:
		return PRESS_PAGE_UP;
	case KEY_NPAGE:
		return PRESS_PAGE_DOWN;
	case KEY_HOME:
		return PRESS_HOME;
	case KEY_END:
		return PRESS_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return PRESS_ENTER;
	case KEY_BACKSPACE:
	case '\b':
	case 0x7f:
		return PRESS_BACKSPACE;
	default:
		return key < 0x80 ? key : PRESS_OTHER;
	}
}
