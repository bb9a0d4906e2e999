/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_CLT_NL_H
#define _RNBD_CLT_NL_H

void rnbd_clt_nl_init(void);
void rnbd_clt_nl_exit(void);

#endif /* _RNBD_CLT_NL_H */
