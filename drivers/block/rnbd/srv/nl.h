/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_NL_H
#define _RNBD_SRV_NL_H

void rnbd_srv_nl_init(void);
void rnbd_srv_nl_exit(void);

#endif /* _RNBD_SRV_NL_H */
