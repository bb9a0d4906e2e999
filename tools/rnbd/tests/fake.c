// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests put in the place of the C library's functions that reach the kernel or the network;
 * the linker's --wrap has the tool call these. RNBD_FAKE names a file that says how they behave:
 *
 *	host <name> <address>...	an address of a name; other names are not known
 *	addr <address> <interface>	an interface of this host has the address
 *	route <address> <source>	packets to the address leave from the source; else: no route
 *	mtu <address> <bytes>		larger packets to it get lost
 *	silent <address>		it answers no probe
 *	block <end of a file name>	it is a block device
 *	readonly <end of a file name>	no permission to write the file
 *	write <end of a file name> <pattern of the text> <errno name> <shell command>
 *					what comes of a write; the first line that fits counts
 *	tick <shell command>		what happens while the tool waits for the first time, the second ...; with
 *					any of these the clock stands still but for the time that is waited for
 *
 * RNBD_CLOCK names a file with the time, in seconds, for what a test drives from outside.
 *
 * Each write is told on stdout, and one that no line speaks of ends the test.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

ssize_t __wrap_write(int fd, const void *data, size_t len);
int __wrap_access(const char *file, int mode);
int __wrap_stat(const char *file, struct stat *st);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found);
void __wrap_freeaddrinfo(struct addrinfo *list);
int __wrap_getifaddrs(struct ifaddrs **all);
void __wrap_freeifaddrs(struct ifaddrs *all);
int __wrap_connect(int sock, const struct sockaddr *addr, socklen_t len);
int __wrap_getsockname(int sock, struct sockaddr *addr, socklen_t *len);
ssize_t __wrap_send(int sock, const void *data, size_t len, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout);
ssize_t __wrap_recv(int sock, void *data, size_t len, int flags);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left);

int __real_access(const char *file, int mode);
int __real_stat(const char *file, struct stat *st);
int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found);
void __real_freeaddrinfo(struct addrinfo *list);
int __real_clock_gettime(clockid_t clock, struct timespec *now);

/* Where the last socket leads, and whether what was sent there arrives. */
static char peer[INET6_ADDRSTRLEN];
static int peer_family;
static int arrived;

static void split(struct line *line, int words)
{
	char *at = line->text;

	line->nr = 0;
	line->text[strcspn(line->text, "\n")] = '\0';
	while (*at && line->nr < words) {
		line->word[line->nr++] = at;
		if (line->nr < words)
			at += strcspn(at, " ");
		else
			break;
		if (*at)
			*at++ = '\0';
	}
}

/* The next line that begins with the word, from a file opened with it at NULL; 0 at the end. */
int next_line(FILE **file, const char *word, int words, struct line *line)
{
	const char *name = getenv("RNBD_FAKE");

	if (!*file)
		*file = fopen(name ? name : "/dev/null", "r");
	while (*file && fgets(line->text, sizeof(line->text), *file)) {
		split(line, words);
		if (line->nr && !strcmp(line->word[0], word))
			return 1;
	}
	if (*file)
		fclose(*file);
	return 0;
}

/* The line with this word and this first argument. */
static int find_line(const char *word, const char *arg, struct line *line)
{
	FILE *file = NULL;

	while (next_line(&file, word, MAX_WORDS, line)) {
		if (line->nr < 2 || strcmp(line->word[1], arg))
			continue;
		fclose(file);
		return 1;
	}
	return 0;
}

static int ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

int errno_of(const char *name)
{
	int err;

	for (err = 0; err < 200; err++)
		if (strerrorname_np(err) && !strcmp(strerrorname_np(err), name))
			return err;
	fprintf(stderr, "scenario: no errno %s\n", name);
	abort();
}

static ssize_t fake_write(const char *file, const char *text, size_t len)
{
	const char *root = getenv("RNBD_ROOT");
	FILE *scenario = NULL;
	struct line line;
	int err;

	printf("%s <- %s\n", file + (root ? strlen(root) : 0), text);
	fflush(stdout);
	while (next_line(&scenario, "write", 5, &line)) {
		if (!ends_with(file, line.word[1]) || fnmatch(line.word[2], text, 0))
			continue;
		fclose(scenario);
		err = errno_of(line.word[3]);
		if (line.nr > 4 && system(line.word[4]))
			abort();
		errno = err;
		return err ? -1 : (ssize_t)len;
	}
	fprintf(stderr, "scenario: nothing about this write\n");
	abort();
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	char link[64], file[PATH_MAX], text[4096];
	ssize_t got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, file, sizeof(file) - 1);
	if (got < 0 || len >= sizeof(text))
		abort();
	file[got] = '\0';
	memcpy(text, data, len);
	text[len] = '\0';
	return fake_write(file, text, len);
}

int __wrap_access(const char *file, int mode)
{
	FILE *scenario = NULL;
	struct line line;

	while (mode == W_OK && next_line(&scenario, "readonly", 2, &line)) {
		if (!ends_with(file, line.word[1]))
			continue;
		fclose(scenario);
		errno = EACCES;
		return -1;
	}
	return __real_access(file, mode);
}

int __wrap_stat(const char *file, struct stat *st)
{
	FILE *scenario = NULL;
	struct line line;

	while (next_line(&scenario, "block", 2, &line)) {
		if (!ends_with(file, line.word[1]))
			continue;
		fclose(scenario);
		*st = (struct stat){ .st_mode = S_IFBLK };
		return 0;
	}
	return __real_stat(file, st);
}

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found)
{
	struct addrinfo numeric = *hints, **end = found;
	struct line line;
	int i;

	(void)service;
	numeric.ai_flags = AI_NUMERICHOST;
	*found = NULL;
	if (!find_line("host", host, &line))
		return __real_getaddrinfo(host, NULL, &numeric, found);
	for (i = 2; i < line.nr; i++) {
		/* Of the other family than asked for: left out. */
		if (__real_getaddrinfo(line.word[i], NULL, &numeric, end))
			continue;
		end = &(*end)->ai_next;
	}
	return *found ? 0 : EAI_NONAME;
}

/* One at a time, as each came from a call of its own. */
void __wrap_freeaddrinfo(struct addrinfo *list)
{
	struct addrinfo *next;

	for (; list; list = next) {
		next = list->ai_next;
		list->ai_next = NULL;
		__real_freeaddrinfo(list);
	}
}

static struct sockaddr *address(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in4 = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(addr->ss_family, text, addr->ss_family == AF_INET6 ?
		      (void *)&in6->sin6_addr : &in4->sin_addr) != 1)
		abort();
	return (struct sockaddr *)addr;
}

int __wrap_getifaddrs(struct ifaddrs **all)
{
	FILE *file = NULL;
	struct ifaddrs *ifa;
	struct line line;

	*all = NULL;
	while (next_line(&file, "addr", MAX_WORDS, &line)) {
		ifa = calloc(1, sizeof(*ifa));
		ifa->ifa_addr = address(line.word[1], calloc(1, sizeof(struct sockaddr_storage)));
		ifa->ifa_name = strdup(line.word[2]);
		ifa->ifa_next = *all;
		*all = ifa;
	}
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
	struct ifaddrs *next;

	for (; all; all = next) {
		next = all->ifa_next;
		free(all->ifa_name);
		free(all->ifa_addr);
		free(all);
	}
}

int __wrap_connect(int sock, const struct sockaddr *addr, socklen_t len)
{
	const void *raw = addr->sa_family == AF_INET6 ?
			  (const void *)&((const struct sockaddr_in6 *)addr)->sin6_addr :
			  (const void *)&((const struct sockaddr_in *)addr)->sin_addr;
	struct line line;

	(void)sock;
	(void)len;
	peer_family = addr->sa_family;
	inet_ntop(peer_family, raw, peer, sizeof(peer));
	if (find_line("route", peer, &line))
		return 0;
	errno = ENETUNREACH;
	return -1;
}

int __wrap_getsockname(int sock, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_storage src;
	struct line line;

	(void)sock;
	if (!find_line("route", peer, &line))
		abort();
	address(line.word[2], &src);
	*len = src.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	memcpy(addr, &src, *len);
	return 0;
}

ssize_t __wrap_send(int sock, const void *data, size_t len, int flags)
{
	size_t bytes = len + (peer_family == AF_INET6 ? 48 : 28);
	struct line line;

	(void)sock;
	(void)data;
	(void)flags;
	arrived = !find_line("silent", peer, &line) &&
		  !(find_line("mtu", peer, &line) && bytes > strtoul(line.word[2], NULL, 10));
	return len;
}

int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	(void)timeout;
	if (arrived)
		fds[0].revents = POLLERR;
	return arrived ? (int)nr : 0;
}

ssize_t __wrap_recv(int sock, void *data, size_t len, int flags)
{
	(void)sock;
	(void)data;
	(void)len;
	(void)flags;
	errno = ECONNREFUSED;
	return -1;
}

/* The clock of a scenario with ticks. */
static struct timespec fake_now = { .tv_sec = 1000 };
static int ticks;

static int is_ticking(void)
{
	struct line line;
	FILE *file = NULL;

	if (!next_line(&file, "tick", 2, &line))
		return 0;
	fclose(file);
	return 1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	const char *name = getenv("RNBD_CLOCK");
	FILE *file = name ? fopen(name, "r") : NULL;
	long seconds = 0;

	if (file) {
		if (fscanf(file, "%ld", &seconds) != 1)
			abort();
		fclose(file);
		*now = (struct timespec){ .tv_sec = seconds };
		return 0;
	}
	if (!is_ticking())
		return __real_clock_gettime(clock, now);
	*now = fake_now;
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left)
{
	FILE *file = NULL;
	struct line line;
	int nr = ticks++;

	(void)clock;
	(void)flags;
	(void)left;
	fflush(stdout);
	fake_now = *until;
	while (next_line(&file, "tick", 2, &line)) {
		if (nr--)
			continue;
		fclose(file);
		if (system(line.word[1]))
			abort();
		return 0;
	}
	fprintf(stderr, "scenario: no more ticks\n");
	abort();
}
