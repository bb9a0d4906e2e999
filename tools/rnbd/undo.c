// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "io.h"
#include "mem.h"
#include "out.h"
#include "undo.h"

void undo_note(struct undo_list *list, const char *what, const char *file, const char *text)
{
	*MEM_ADD(list->undo, list->nr) = (struct undo){ what, file, text };
}

/* The last one first. */
void undo_all(const struct undo_list *list)
{
	const struct undo *undo;
	size_t i;
	int err;

	for (i = list->nr; i-- > 0;) {
		undo = &list->undo[i];
		err = io_write(undo->file, undo->text);
		if (err)
			detail("left", "%s is not as before: %s", undo->what, strerror(err));
		else
			detail("undone", "%s is as before", undo->what);
	}
}
