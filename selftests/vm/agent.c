// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest agent: process 1 of a test VM.
 *
 * Runs shell commands for the host over one virtio port and reports their
 * output and exit status. It never touches the console, so that nothing a test
 * or the kernel prints can be taken for a verdict.
 *
 * Every message is a frame: type, id (chosen by the host, names the job),
 * payload length, payload.
 *
 *   host:  'R' run    shell command, NUL, standard input
 *          'K' kill   the job's process group
 *   guest: 'H' hello
 *          'O' output a piece of stdout and stderr
 *          'X' exit   status as a shell gives it (4 bytes), last frame of a job
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_JOBS 64

struct frame {
	uint32_t type;
	uint32_t id;
	uint32_t len;
};

static struct job {
	pid_t pid;
	uint32_t id;
	int out;
} jobs[MAX_JOBS];

static int port;

static void die(const char *what)
{
	/* Process 1 that exits is a kernel panic: the host sees a lost VM. */
	dprintf(2, "agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(const void *buf, size_t len)
{
	const char *pos = buf;

	while (len) {
		ssize_t nr = write(port, pos, len);

		if (nr < 0 && errno != EINTR)
			die("write");
		if (nr > 0) {
			pos += nr;
			len -= nr;
		}
	}
}

static void send_frame(char type, uint32_t id, const void *data, uint32_t len)
{
	struct frame frame = { .type = type, .id = id, .len = len };

	put(&frame, sizeof(frame));
	put(data, len);
}

static void get(void *buf, size_t len)
{
	char *pos = buf;

	while (len) {
		ssize_t nr = read(port, pos, len);

		if (nr < 0 && errno != EINTR)
			die("read");
		if (nr == 0)
			die("host went away");
		if (nr > 0) {
			pos += nr;
			len -= nr;
		}
	}
}

static int input_file(const char *data, size_t len)
{
	int fd = memfd_create("stdin", 0);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len ||
	    lseek(fd, 0, SEEK_SET) < 0)
		die("stdin");
	return fd;
}

static void send_exit(uint32_t id, uint32_t status)
{
	send_frame('X', id, &status, sizeof(status));
}

static void run(uint32_t id, char *payload, uint32_t len)
{
	size_t cmd_len = strnlen(payload, len);
	struct job *job = jobs;
	int in, out[2];

	while (job < jobs + MAX_JOBS && job->pid)
		job++;
	if (job == jobs + MAX_JOBS) {
		send_exit(id, 125);
		return;
	}

	in = input_file(payload + cmd_len + 1, len - cmd_len - 1);
	if (pipe2(out, O_CLOEXEC) < 0)
		die("pipe");
	job->id = id;
	job->out = out[0];
	job->pid = fork();
	if (job->pid < 0)
		die("fork");
	if (!job->pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		dup2(in, 0);
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(in);
		execl("/bin/sh", "sh", "-c", payload, NULL);
		_exit(127);
	}
	close(in);
	close(out[1]);
	fcntl(job->out, F_SETFL, O_NONBLOCK);
}

static void forward_output(struct job *job)
{
	char buf[65536];
	ssize_t nr;

	while (job->out >= 0 && (nr = read(job->out, buf, sizeof(buf))) != 0) {
		if (nr < 0)
			return;
		send_frame('O', job->id, buf, nr);
	}
	if (job->out >= 0)
		close(job->out);
	job->out = -1;
}

static void reap(void)
{
	struct job *job;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (job = jobs; job < jobs + MAX_JOBS; job++) {
			if (job->pid != pid)
				continue;
			/* Children it left behind may keep the pipe open. */
			forward_output(job);
			if (job->out >= 0)
				close(job->out);
			job->pid = 0;
			send_exit(job->id, WIFEXITED(status) ?
				  WEXITSTATUS(status) : 128 + WTERMSIG(status));
		}
	}
}

static void kill_job(uint32_t id)
{
	for (struct job *job = jobs; job < jobs + MAX_JOBS; job++)
		if (job->pid && job->id == id)
			kill(-job->pid, SIGKILL);
}

static void handle_frame(void)
{
	struct frame frame;
	char *payload;

	get(&frame, sizeof(frame));
	payload = calloc(1, frame.len + 1);
	if (!payload)
		die("payload");
	get(payload, frame.len);
	if (frame.type == 'R')
		run(frame.id, payload, frame.len);
	else if (frame.type == 'K')
		kill_job(frame.id);
	free(payload);
}

int main(int argc, char **argv)
{
	struct pollfd fds[MAX_JOBS + 2];
	sigset_t child;
	int sig;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	sig = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	port = open(argc > 1 ? argv[1] : "", O_RDWR | O_CLOEXEC);
	if (port < 0 || sig < 0)
		die("no port");
	send_frame('H', 0, NULL, 0);

	for (;;) {
		fds[0] = (struct pollfd){ .fd = port, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = sig, .events = POLLIN };
		for (int i = 0; i < MAX_JOBS; i++)
			fds[i + 2] = (struct pollfd){
				.fd = jobs[i].pid ? jobs[i].out : -1,
				.events = POLLIN,
			};
		if (poll(fds, MAX_JOBS + 2, -1) < 0 && errno != EINTR)
			die("poll");
		for (int i = 0; i < MAX_JOBS; i++)
			if (fds[i + 2].revents)
				forward_output(&jobs[i]);
		if (fds[1].revents) {
			struct signalfd_siginfo info;

			while (read(sig, &info, sizeof(info)) > 0)
				;
			reap();
		}
		if (fds[0].revents)
			handle_frame();
	}
}
