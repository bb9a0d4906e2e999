// SPDX-License-Identifier: GPL-2.0-only
/*
 * count - run a command between two marks, no-ops that the plugin knows
 *
 * Usage: count <command> [<argument>...]
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK(n) __asm__ volatile("nopl 0x52545200 + " #n "(%%rax)" ::: "memory")

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: count <command> [<argument>...]\n");
		return 2;
	}
	MARK(1);
	child = fork();
	if (child < 0) {
		perror("count: fork");
		return 1;
	}
	if (!child) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0) {
		perror("count: waitpid");
		return 1;
	}
	MARK(2);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
