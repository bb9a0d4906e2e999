/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_EXPORT_H
#define _UNIT_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(symbol)	extern typeof(symbol) symbol

#endif /* _UNIT_LINUX_EXPORT_H */
