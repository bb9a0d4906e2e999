// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ethernet switch for the networks of test VMs.
 *
 *	switch <control> <fd>...
 *
 * Every descriptor but the first is a local datagram socket with a VM behind it; one
 * datagram is one frame. The rig gives adapter <n> of a network, counted from 1, a MAC
 * address that ends in <n>, and the n-th descriptor: nothing has to be learnt.
 *
 * Frames of one port to another are neither lost nor reordered while the VMs run:
 * who sends to a VM that does not keep up waits, as with pause frames. QEMU's own
 * hub does not stop its senders when a socket is full, and lets later frames
 * overtake those that wait; rdma_rxe takes that for loss. A VM that takes nothing
 * for a second must not stop the others: what is for it then is thrown away.
 *
 * The control socket takes 'c': the network is cut, every frame is taken and
 * thrown away, as in a black hole; and 'h': it is healed. Each is echoed when it is
 * in force. Cut inside of a VM, rdma_rxe would be told that it could not send, and
 * break queue pairs.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#define MAX_PORTS	16
#define MAX_FRAME	65536
#define MIN_FRAME	12
#define PATIENCE_MS	1000
#define STEP_MS		100

/* Those of the VMs, and the control socket behind them. */
static struct pollfd ports[MAX_PORTS + 1];
static unsigned char frame[MAX_FRAME];
static int nr_ports;
static bool is_cut;

static void deliver(int port, size_t len)
{
	struct pollfd out = { .fd = ports[port].fd, .events = POLLOUT };
	int waited = 0;

	while (send(out.fd, frame, len, MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return;		/* the VM is gone */
		/* In steps: one may pass while all stand still, this program too. */
		if (errno == EAGAIN && poll(&out, 1, STEP_MS) == 0 && ++waited * STEP_MS > PATIENCE_MS)
			return;
	}
}

static void forward(int from, size_t len)
{
	int to = frame[5] - 1;
	int port;

	if (is_cut || len < MIN_FRAME)
		return;
	if (!(frame[0] & 1) && to >= 0 && to < nr_ports) {
		if (to != from)
			deliver(to, len);
		return;
	}
	for (port = 0; port < nr_ports; port++)
		if (port != from)
			deliver(port, len);
}

/* The rig is gone when there is nothing to read and nothing to come. */
static bool obey(int control)
{
	char command;

	if (recv(control, &command, 1, 0) != 1)
		return false;
	is_cut = command == 'c';
	return send(control, &command, 1, 0) == 1;
}

int main(int argc, char **argv)
{
	ssize_t len;
	int port;

	nr_ports = argc - 2;
	if (nr_ports < 2 || nr_ports > MAX_PORTS) {
		fprintf(stderr, "usage: switch <control> <fd>..., 2 to %d of them\n", MAX_PORTS);
		return 2;
	}
	for (port = 0; port <= nr_ports; port++) {
		ports[port].fd = atoi(argv[port < nr_ports ? port + 2 : 1]);
		ports[port].events = POLLIN;
	}
	for (;;) {
		if (poll(ports, nr_ports + 1, -1) < 0 && errno != EINTR)
			return 1;
		if (ports[nr_ports].revents && !obey(ports[nr_ports].fd))
			return 0;
		for (port = 0; port < nr_ports; port++) {
			if (!(ports[port].revents & POLLIN))
				continue;
			len = recv(ports[port].fd, frame, sizeof(frame), MSG_DONTWAIT);
			if (len > 0)
				forward(port, len);
		}
	}
}
