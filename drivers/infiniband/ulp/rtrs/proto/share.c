// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fair share of a session's slots between its users, as the disks of RNBD.
 *
 * A user whose requests are not answered any more keeps its slots, for as long as that lasts.  So no user may take all
 * of them.  The limit is a dynamic threshold: a user may hold up to RTRS_SHARE_ALPHA times what is free at that moment.
 * It needs no state of the users, and no notion of which of them are active: one user alone gets most of the slots, a
 * second one makes the first one stop earlier, and a user that hangs leaves a part to those that come later.
 *
 * Many users that hang would leave less and less.  Therefore a part of the slots is not counted as free, and of that
 * part each user gets the same, whatever the others hold; one more share is for control messages.
 */
#include "share.h"

/**
 * rtrs_share_may_take() - may a user take one more slot
 * @open: slots that are open, not 0
 * @free: slots of these that nobody holds
 * @held: slots that the user holds
 * @users: users of the session, not 0
 *
 * Context: any.
 * Return: true if it may, provided that there is a free one.
 */
bool rtrs_share_may_take(u32 open, u32 free, u32 held, u32 users)
{
	u32 reserve = open / RTRS_SHARE_RESERVE_PART;

	if (held < max_t(u32, reserve / (users + 1), 1))
		return true;
	return free > reserve && held / RTRS_SHARE_ALPHA < free - reserve;
}
EXPORT_SYMBOL_GPL(rtrs_share_may_take);
