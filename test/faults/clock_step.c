// A server whose calendar can be moved while it runs: preloaded into postgres, it adds the seconds that the file named by
// FAULT_CLOCK_FILE holds (8 bytes, this machine's order) to every answer about the time of day. The monotonic clock, which
// the server's own waits use, stays true, as it does when a machine's clock is set.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void open_offset(void) {
  const char *path = getenv("FAULT_CLOCK_FILE");
  int file = path ? open(path, O_RDONLY) : -1;
  void *mapped = file < 0 ? MAP_FAILED : mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset = mapped;
  if (file >= 0) close(file);
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int answer = syscall(SYS_clock_gettime, id, at);
  if (answer == 0 && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += *offset;
  return answer;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec real;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &real);
  at->tv_sec = real.tv_sec;
  at->tv_usec = real.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  if (at) *at = real.tv_sec;
  return real.tv_sec;
}
