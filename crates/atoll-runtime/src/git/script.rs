//! The shell scripts around git. They are POSIX sh with `env`, `mktemp`, `ln`, `dd`, `cp` and `rm`.
//!
//! Every script starts with the same arguments: the search path, and the transports that git may use. Git gets a new
//! environment: no variable of the sandbox, no file of the system or of a user, no prompt, no helper program.

/// The environment of git, as arguments of `env`.
///
/// `HOME` is not a directory, so no file can be created below it: git and curl look there for `.gitconfig` and `.netrc`.
/// `GIT_ALLOW_PROTOCOL` overrides every `protocol.*` key of a repository. `GIT_NO_LAZY_FETCH` (git 2.44) keeps a partial
/// clone from fetching in calls that need no remote; for an older git `GIT_ALLOW_PROTOCOL` does the same.
macro_rules! environment {
    () => {
        "env -i $trust PATH=\"$PATH\" HOME=/dev/null LC_ALL=C.UTF-8 TMPDIR=/tmp \
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 \
GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= GIT_PAGER=cat GIT_EDITOR=: GIT_SSH_COMMAND=false \
GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=\"$protocols\" "
    };
}

/// Takes the first two arguments, and finds git. A proxy is never used: the sandbox's egress needs no variable. Where its
/// rules inspect TLS, git trusts the sandbox's own authority by the file that the agent put there.
macro_rules! prelude {
    () => {
        "PATH=$1 protocols=$2; shift 2; unset CDPATH
command -v git >/dev/null || exit 127
trust=; test -r /etc/atoll-ca-bundle.pem && trust=GIT_SSL_CAINFO=/etc/atoll-ca-bundle.pem
"
    };
}

/// Creates a directory that no other user can enter, in a directory where no other user can rename it, and removes it at
/// the end. Standard input becomes descriptor 9, the highest that every shell can address; [`run`] closes it for git.
macro_rules! private {
    () => {
        "exec 9<&0 </dev/null
private=$(mktemp -d /tmp/atoll-git.XXXXXXXXXX) || exit 1
discard() { rm -rf \"$private\"; }
trap discard EXIT; trap 'exit 143' HUP INT TERM
"
    };
}

/// Starts git without descriptor 9: no program that git starts inherits the credentials. The credential helper opens them
/// by the path of the shell's own descriptor.
macro_rules! run {
    () => {
        concat!("(exec 9<&-; exec ", environment!(), "ATOLL_CREDENTIALS=/proc/$$/fd/9 ")
    };
}

/// Runs git with the remaining arguments.
pub(super) const PLAIN: &str = concat!(prelude!(), "exec ", environment!(), "git \"$@\"");

/// Describes a repository: its git directory, common directory, worktree (empty if bare) and `HEAD`, each with a NUL behind
/// it, then its configuration. Without an argument it is the one around the working directory. With one it is the one at
/// exactly that path, where `git receive-pack` would find it (`enter_repo` in git's path.c).
///
/// `rev-parse` fails where `config` would list nothing: outside of repositories, and in those of another user.
pub(super) const INSPECT: &str = concat!(
    prelude!(),
    "ceiling=
if test $# -gt 0; then
cd -- \"$1\" 2>/dev/null || cd -- \"$1.git\" || exit 128
ceiling=$(pwd -P); ceiling=${ceiling%/*}; ceiling=${ceiling:-/}
case $ceiling in *:*) echo \"fatal: the path of the remote contains a colon: $1\" >&2; exit 128;; esac
fi
clean() { ",
    environment!(),
    "GIT_CEILING_DIRECTORIES=\"$ceiling\" git \"$@\"; }
directory=$(clean rev-parse --absolute-git-dir) || exit
common=$(clean rev-parse --git-common-dir) || exit
common=$(cd -- \"$common\" && pwd -P) || exit
top=$(clean rev-parse --show-toplevel 2>/dev/null) || top=
head=$(cat \"$directory/HEAD\") || exit
printf '%s\\0' \"$directory\" \"$common\" \"$top\" \"$head\"
clean config --null --list"
);

/// Runs git with a private git directory: its configuration is the first $2 bytes of standard input, `HEAD` is $3, and
/// everything else is linked to the common directory $1. Behind the configuration there may be credentials. Prints what
/// git wrote into `FETCH_HEAD`.
pub(super) const TRANSFER: &str = concat!(
    prelude!(),
    private!(),
    "common=$1 size=$2 head=$3; shift 3
dd bs=1 count=\"$size\" <&9 >\"$private/config\" 2>/dev/null || exit 1
printf '%s\\n' \"$head\" >\"$private/HEAD\" || exit 1
for name in objects refs packed-refs logs shallow reftable; do
test $name = packed-refs || test $name = shallow || test -e \"$common/$name\" || continue
ln -s \"$common/$name\" \"$private/$name\" || exit 1
done
",
    run!(),
    "GIT_DIR=\"$private\" git \"$@\")
code=$?
test $code -ne 0 || ! test -f \"$private/FETCH_HEAD\" || cat \"$private/FETCH_HEAD\"
exit $code"
);

/// Runs `git clone` into a private directory, with its objects in the new repository at $1, and copies the rest there.
pub(super) const CLONE: &str = concat!(
    prelude!(),
    private!(),
    "target=$1; shift
made=; test -e \"$target\" || made=1
if ! test $made && ! { test -d \"$target\" && test -z \"$(ls -A \"$target\")\"; }; then
echo \"fatal: destination path '$target' already exists and is not an empty directory.\" >&2; exit 128; fi
discard() { rm -rf \"$private\" \"$target/.git\"; test -z $made || rmdir \"$target\" 2>/dev/null; }
mkdir -p \"$target/.git/objects\" || exit 1
",
    run!(),
    "GIT_OBJECT_DIRECTORY=\"$target/.git/objects\" git \"$@\" \"$private/clone\") || exit
cp -R \"$private/clone/.git/.\" \"$target/.git/\" || exit 1
discard() { rm -rf \"$private\"; }"
);
