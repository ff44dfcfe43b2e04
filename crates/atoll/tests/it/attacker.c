// A builtin that attacks the agent: `enable -f ./attacker.so attacker`, then `attacker MODE`. In a session's own bash it
// does what only code that changes the shell's memory can do; in another bash it is a stranger.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct word { char *text; int flags; };
struct words { struct words *next; struct word *word; };

enum { ORDER_AT = 32, REPORT = 40, KIND_DONE = 1, MANY = 200 };

// A TCP socket with unsent data that waits for 3000 s when the last copy of it is closed.
static int lingering(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (bind(listener, (void *)&address, length) || listen(listener, 1)) return -1;
    getsockname(listener, (void *)&address, &length);
    int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(out, (void *)&address, length)) return -1;
    static char bytes[65536];
    while (send(out, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    struct linger linger = {1, 3000};
    setsockopt(out, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    return out;
}

// One message with this descriptor, many times over.
static int send_rights(int to, int fd) {
    char byte = 'x', control[CMSG_SPACE(MANY * sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(MANY * sizeof(int));
    for (int at = 0; at < MANY; at++) memcpy(CMSG_DATA(header) + at * sizeof fd, &fd, sizeof fd);
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

// Connects to each listener of a session that can be seen, at most `most` of them.
static int connect_all(int *connections, int most) {
    char line[512];
    int count = 0;
    FILE *sockets = fopen("/proc/net/unix", "re");
    while (sockets && fgets(line, sizeof line, sockets) && count < most) {
        char *name = strstr(line, "@atoll-");
        if (!name) continue;
        name[strcspn(name, "\n")] = 0;
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path + 1, name + 1, strlen(name + 1));
        // A listener whose queue is full is left out.
        int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(connection, (void *)&address, sizeof(sa_family_t) + strlen(name)) == 0) {
            connections[count++] = connection;
        } else {
            close(connection);
        }
    }
    if (sockets) fclose(sockets);
    return count;
}

// The memory in which the shell reports; null in any other process.
static unsigned char *page(void) {
    char line[512];
    unsigned char *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        if (strstr(line, "memfd:atoll-report")) found = (void *)strtoul(line, NULL, 16);
    }
    if (maps) fclose(maps);
    return found;
}

// Says that the command is over. Returns the connections, one of which is then the shell's.
static int report_done(int *connections, int most) {
    unsigned char *report = page();
    if (!report) return 0;
    uint64_t order;
    memcpy(&order, report + ORDER_AT, sizeof order);
    order++;
    memcpy(report + ORDER_AT, &order, sizeof order);
    report[4] = KIND_DONE;
    return connect_all(connections, most);
}

// The one descriptor of the order that comes on one of these.
static int wait_for_dump(int *connections, int count) {
    struct pollfd polls[64];
    for (int at = 0; at < count; at++) polls[at] = (struct pollfd){connections[at], POLLIN, 0};
    for (;;) {
        if (poll(polls, count, 10000) <= 0) return -1;
        for (int at = 0; at < count; at++) {
            if (!polls[at].revents) continue;
            char bytes[9000], control[256];
            struct iovec part = {bytes, sizeof bytes};
            struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            if (recvmsg(connections[at], &message, 0) <= 0) {
                polls[at].fd = -1;
                continue;
            }
            struct cmsghdr *header = CMSG_FIRSTHDR(&message);
            int fd = -1;
            if (header) memcpy(&fd, CMSG_DATA(header), sizeof fd);
            return fd;
        }
    }
}

static int attack(struct words *words) {
    const char *mode = words ? words->word->text : "";
    int connections[64], count;
    if (!strcmp(mode, "strangers")) {
        // From another process: descriptors to every listener, in many connections.
        int tried = 0, fd = lingering();
        for (int round = 0; round < 30; round++) {
            count = connect_all(connections, 64);
            for (int at = 0; at < count; at++) {
                // Refused (EPERM), sent (older kernels), or the agent has hung up already.
                for (int time = 0; time < 3; time++, tried++) send_rights(connections[at], fd);
                if (round % 2) close(connections[at]);
            }
        }
        printf("%s\n", fd < 0 ? "no socket" : tried ? "tried" : "nothing to try");
        fflush(stdout);
        // What was sent has no other copy when this process is gone.
        _exit(fd < 0);
    }
    if (!strcmp(mode, "taken")) {
        // In the place of the shell: is it given an order?
        unsigned char *report = page();
        count = connect_all(connections, 64);
        struct pollfd polls[64];
        for (int at = 0; at < count; at++) polls[at] = (struct pollfd){connections[at], POLLIN, 0};
        int ready = poll(polls, count, 500);
        char bytes[9000];
        int taken = 0;
        for (int at = 0; ready > 0 && at < count; at++) taken += polls[at].revents && read(polls[at].fd, bytes, 9000) > 0;
        printf("%s %s\n", report ? "mapped" : "unmapped", taken ? "taken" : "ignored");
        fflush(stdout);
        return 0;
    }
    // In the shell itself.
    count = report_done(connections, 64);
    if (!strcmp(mode, "rights")) {
        int fd = lingering();
        for (int at = 0; at < count; at++) send_rights(connections[at], fd);
        int to = wait_for_dump(connections, count);
        for (int at = 0; at < count; at++) send_rights(connections[at], fd);
        close(to);
        pause();
    }
    int to = wait_for_dump(connections, count);
    static char bytes[65536];
    while (!strcmp(mode, "endless") && write(to, bytes, sizeof bytes) > 0) {}
    while (!strcmp(mode, "trickle") && write(to, bytes, 1) > 0) usleep(100000);
    pause();
    return 1;
}

static char *doc[] = {NULL};
struct {
    const char *name;
    int (*function)(struct words *);
    int flags;
    char *const *long_doc;
    const char *short_doc;
    char *handle;
} attacker_struct = {"attacker", attack, 1, doc, "attacker", NULL};
