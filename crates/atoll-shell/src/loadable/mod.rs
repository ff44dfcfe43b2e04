//! The object that bash loads: a builtin that never returns to the shell code that called it.

mod attempt;
mod bash;
mod c;
mod dump;
mod scope;
mod standard;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;

use bash::{Builtin, WordList};
use c::{Fd, Received};
use scope::Scope;
use standard::Standard;

use crate::message::{self, Kind, Order, Pieces, Report, Task};

/// What `enable -f` looks for; bash writes to it.
#[unsafe(no_mangle)]
static mut atoll_struct: Builtin = Builtin {
    name: c"atoll".as_ptr(),
    function: start,
    flags: bash::BUILTIN_ENABLED,
    long_doc: &raw const NO_DOC as *const *const c_char,
    short_doc: c"atoll".as_ptr(),
    handle: null_mut(),
};

/// An empty list of lines.
#[repr(transparent)]
struct NoDoc(*const c_char);

// SAFETY: never written.
unsafe impl Sync for NoDoc {}

static NO_DOC: NoDoc = NoDoc(core::ptr::null());

/// Exit code of a shell that has lost its agent.
const LOST: c_int = 125;

/// Whether the running command was interrupted or given up.
static mut GIVEN_UP: c_int = 0;

/// The shell itself, as opposed to children of it that have not become something else yet.
static mut SHELL: c_int = 0;

/// The builtin: with the name of the agent's listener, serves; without, runs what the script descriptor holds.
///
/// # Safety
/// Called by bash with its argument list.
unsafe extern "C" fn start(words: *mut WordList) -> c_int {
    c::close(message::OBJECT);
    let mut name = [0; 64];
    let mut length = 0;
    // SAFETY: the list is bash's, its words are C strings; the flags are its own, changed before user code runs.
    unsafe {
        if !words.is_null() {
            let word = CStr::from_ptr((*(*words).word).text).to_bytes();
            length = word.len().min(name.len());
            name[..length].copy_from_slice(&word[..length]);
        }
        let own = bash::builtin_address_internal(c"atoll".as_ptr(), 1);
        if !own.is_null() {
            (*own).flags = bash::BUILTIN_DELETED;
        }
        // Out of the command that called us, for good: whatever bash still meant to undo after it, it would undo in the
        // middle of one of ours, the place to jump to among it.
        while bash::parse_and_execute_level != 0 {
            bash::parse_and_execute_cleanup(-1);
        }
        bash::run_unwind_protects();
        // Else bash would replace itself by the last program of a command, as `bash -c` may.
        bash::startup_state = 0;
        bash::unbind_variable_noref(c"BASH_EXECUTION_STRING".as_ptr());
        bash::last_command_exit_value = 0;
    }
    // As an interactive shell would: an alias is part of what a session remembers.
    run_text(b"shopt -s expand_aliases\0");
    if length == 0 {
        run_script()
    }
    let Some(page) = c::map_page() else { c::exit_now(LOST) };
    c::adopt_orphans();
    c::catch(message::GIVE_UP, Some(on_give_up));
    // SAFETY: a number in a process with one thread.
    unsafe { SHELL = c::pid() };
    Shell { name, length, page, standard: Standard::new(), used: c::cpu_time() }.serve()
}

/// Sets what makes bash unwind at its next look, whatever traps the user has set.
extern "C" fn on_give_up(_signal: c_int) {
    // SAFETY: flags of word size in a process with one thread.
    unsafe {
        GIVEN_UP = 1;
        if bash::interrupt_state == 0 {
            bash::interrupt_state = 1;
        }
        if bash::wait_intr_flag != 0 {
            bash::wait_signal_received = bash::SIGINT;
        }
    }
}

/// An interrupt ends the command, not the shell, as in an interactive one. A child that is about to become a program
/// still has this handler: it ends, as the program would.
extern "C" fn on_interrupt(signal: c_int) {
    // SAFETY: as above; bash's own handler is made for this.
    unsafe {
        if !is_shell() {
            return c::die_of(signal);
        }
        GIVEN_UP = 1;
        bash::sigint_sighandler(signal);
    }
}

/// Whether this is the shell itself.
fn is_shell() -> bool {
    // SAFETY: written once, before there are children.
    unsafe { c::pid() == SHELL }
}

/// The loop's state.
struct Shell {
    name: [u8; 64],
    length: usize,
    /// Where the agent reads reports.
    page: &'static mut [u8],
    standard: Standard,
    /// CPU time when the last command was over.
    used: (u64, u64),
}

impl Shell {
    fn serve(mut self) -> ! {
        self.standard.adopt();
        let mut report = Report::new(Kind::Ready, 0);
        loop {
            let connection = self.tell(&report);
            report = self.obey(connection);
            if !is_shell() {
                // A child of the shell has come here instead of ending: it must not speak for it.
                c::exit_now(LOST);
            }
        }
    }

    /// What the last command was given is let go after the report: its readers would be woken only to wait for that.
    /// Unless the user has left us too few descriptors.
    fn tell(&mut self, report: &Report) -> Fd {
        let first = self.call(report);
        self.standard.release(first);
        match first.or_else(|| self.call(report)) {
            Some(connection) => connection,
            None => c::exit_now(LOST),
        }
    }

    /// Writes a report, with whether the shell is alone and where, and connects. Returns the connection.
    fn call(&mut self, report: &Report) -> Option<Fd> {
        let alone = if c::is_alone() { message::ALONE } else { 0 };
        write_report(&Report { flags: report.flags | alone, ..*report }, self.page);
        c::connect_to(&self.name[..self.length])
    }

    /// The command ends the shell: what that holds is written down first, if the agent wants it, so that a new shell can
    /// go on from here.
    fn leave(&mut self, order: u64, status: c_int) -> ! {
        if is_shell()
            && let Some(connection) = self.call(&Report::new(Kind::Leaving, order))
        {
            write_down(connection);
        }
        // SAFETY: bash's own way to end.
        unsafe { bash::exit_shell(status) }
    }

    fn obey(&mut self, connection: Fd) -> Report {
        let mut incoming = [0; message::ORDER + message::INLINE];
        let (length, passed) = wait_for_order(connection, &mut incoming);
        c::close(connection);
        let Some(order) = Order::decode(&incoming[..length]) else { c::exit_now(LOST) };
        if order.flags & message::FORGET_INTERRUPTS != 0 {
            forget_interrupts();
        }
        let inline = &incoming[message::ORDER..length];
        match (order.task, passed.as_slice()) {
            (Task::Dump, [output]) => {
                if order.flags & message::FORGET_INTERRUPTS != 0 {
                    forget_the_dead();
                }
                let whole = dump::dump(*output);
                c::close(*output);
                let flags = if whole { 0 } else { message::TOO_LARGE };
                Report { flags, ..Report::new(Kind::Dumped, order.number) }
            }
            (Task::Run, [input, output, error]) => self.run(&order, inline, [*input, *output, *error]),
            (Task::Run, [input, output, error, file]) => {
                let payload = read_file(*file, order.length as usize);
                let report = self.run(&order, payload, [*input, *output, *error]);
                // SAFETY: made by `read_file`, used no more.
                unsafe { bash::xfree(payload.as_ptr().cast_mut().cast()) };
                report
            }
            _ => c::exit_now(LOST),
        }
    }

    fn run(&mut self, order: &Order, payload: &[u8], standard: [Fd; 3]) -> Report {
        self.standard.give(standard);
        if order.flags & message::FORGET_INTERRUPTS != 0 {
            forget_the_dead();
        }
        let mut pieces = Pieces::new(payload);
        let mut report = Report::new(Kind::Done, order.number);
        // SAFETY: the payload lives until `leave`.
        let scope = match unsafe { Scope::enter(&mut pieces) } {
            Ok(scope) => scope,
            Err(error) => {
                (report.kind, report.status) = (Kind::NotRun, error);
                return report;
            }
        };
        let Some(Some(text)) = pieces.piece() else { c::exit_now(LOST) };
        let outcome = run_text(text);
        report.flags |= if outcome == Outcome::GivenUp { message::GIVEN_UP } else { 0 };
        report.flags |= if scope.leave() { 0 } else { message::CWD_LOST };
        if let Outcome::Exit(status) = outcome {
            self.leave(order.number, status);
        }
        // SAFETY: a number of bash's.
        report.status = unsafe { bash::last_command_exit_value };
        // Nothing runs between two commands.
        let before = core::mem::replace(&mut self.used, c::cpu_time());
        report.user_us = self.used.0.saturating_sub(before.0);
        report.system_us = self.used.1.saturating_sub(before.1);
        report
    }
}

/// Waits for where to write what the shell holds, and does so. No answer is an answer too.
fn write_down(connection: Fd) {
    let mut bytes = [0; message::ORDER];
    loop {
        match c::receive(connection, &mut bytes) {
            Received::Interrupted => {}
            Received::Message(_, passed) => {
                c::close(connection);
                if let [output] = passed.as_slice() {
                    dump::dump(*output);
                    c::close(*output);
                }
                return;
            }
            Received::Gone => return c::close(connection),
        }
    }
}

/// The report, then the directory, if it is known and not too long.
fn write_report(report: &Report, page: &mut [u8]) {
    // SAFETY: bash's own string, or null.
    let directory = unsafe { bash::the_current_working_directory };
    // SAFETY: not null, a C string.
    let directory = if directory.is_null() { &[] } else { unsafe { CStr::from_ptr(directory) }.to_bytes() };
    let (head, rest) = page.split_at_mut(message::REPORT);
    let directory = if directory.len() > message::DIRECTORY { &[] } else { directory };
    rest[..directory.len()].copy_from_slice(directory);
    let length = u32::try_from(directory.len()).unwrap_or(0);
    head.copy_from_slice(&Report { directory: length, ..*report }.encode());
}

/// Waits. A signal that is to end the shell does so here too, as it would between two lines of a script.
fn wait_for_order(connection: Fd, bytes: &mut [u8]) -> (usize, c::Passed) {
    loop {
        match c::receive(connection, bytes) {
            Received::Message(length, passed) if length >= message::ORDER => return (length, passed),
            // SAFETY: bash's own flag and handler.
            Received::Interrupted => unsafe {
                if bash::terminating_signal != 0 {
                    bash::termsig_handler(bash::terminating_signal);
                }
            },
            Received::Message(..) | Received::Gone => c::exit_now(LOST),
        }
    }
}

/// Reads a payload that came as a file into bash's memory.
fn read_file(file: Fd, length: usize) -> &'static [u8] {
    // SAFETY: fresh memory of this length, filled before it is looked at.
    let memory = unsafe { core::slice::from_raw_parts_mut(bash::xmalloc(length.max(1)).cast::<u8>(), length) };
    if !c::read_exactly(file, memory) {
        c::exit_now(LOST);
    }
    c::close(file);
    memory
}

/// Both or neither: one that comes in between would end the shell, or be taken for the reason of a real exit.
fn forget_interrupts() {
    c::hold_signals(|| {
        // SAFETY: flags of word size in a process with one thread.
        unsafe {
            GIVEN_UP = 0;
            bash::interrupt_state = 0;
        }
    });
}

/// What was killed with the last command, bash would announce in the middle of this one: it may do so to nobody.
fn forget_the_dead() {
    const ERRORS: Fd = 2;
    let Some(nowhere) = c::open_nowhere() else { return };
    let (kept, close_on_exec) = (c::duplicate(ERRORS), c::closes_on_exec(ERRORS));
    c::duplicate_onto(nowhere, ERRORS, false);
    c::close(nowhere);
    // SAFETY: bash's own function, from its only thread.
    unsafe { bash::notify_and_cleanup() };
    c::close(ERRORS);
    if kept >= 0 {
        c::duplicate_onto(kept, ERRORS, close_on_exec);
        c::close(kept);
    }
}

/// What came of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It ran to its end.
    Over,
    /// It was given up before that.
    GivenUp,
    /// It ends the shell, with this status.
    Exit(c_int),
}

/// Gives the text to bash.
fn run_text(text: &[u8]) -> Outcome {
    // SAFETY: bash's own functions from its only thread. The copy of the text is freed by bash. `top_level` is where
    // bash jumps to; our place in it is valid for as long as the attempt runs, and is set anew for each.
    unsafe {
        if bash::signal_is_trapped(bash::SIGINT) == 0 {
            bash::set_signal_handler(bash::SIGINT, on_interrupt);
        }
        if bash::read_but_dont_execute != 0 {
            // As in an interactive shell: else nothing would ever run in this session again, not even `set +n`.
            bash::read_but_dont_execute = 0;
            bash::set_shellopts();
        }
        // After an error in an expansion bash leaves it pointing to freed memory, which the next child would read.
        bash::current_fds_to_close = null_mut();
        let copy: *mut u8 = bash::xmalloc(text.len()).cast();
        core::ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len());
        bash::indirection_level = 0;
        let jumped = attempt::attempt((&raw mut bash::top_level).cast(), execute, copy.cast());
        if jumped != 0 {
            bash::restore_sigmask();
        }
        let given_up = GIVEN_UP != 0 && jumped != 0;
        match jumped {
            0 | bash::DISCARD => {}
            _ if given_up => {}
            bash::FORCE_EOF if bash::last_command_exit_value == 0 => return Outcome::Exit(127),
            _ => return Outcome::Exit(bash::last_command_exit_value),
        }
        if given_up {
            forget_interrupts();
            // A pipeline of which it had begun to make the processes: the next command would take it over.
            bash::stop_making_children();
            bash::cleanup_the_pipeline();
            // What a builtin was about to print, it would print into the next command.
            c::forget_unwritten();
        }
        if bash::last_command_exit_value == bash::BAD_SYNTAX {
            bash::last_command_exit_value = 2;
        }
        if given_up { Outcome::GivenUp } else { Outcome::Over }
    }
}

/// # Safety
/// `text` is a C string in bash's memory, which bash frees.
unsafe extern "C" fn execute(text: *mut c_void) {
    // SAFETY: promised by the caller.
    unsafe { bash::parse_and_execute(text.cast(), c"-c".as_ptr(), bash::NO_HISTORY | bash::RESET_LINE) };
}

/// Brings the shell to the state that the script describes, runs one text in it and ends with it.
fn run_script() -> ! {
    let mut length = [0; 4];
    if !c::read_exactly(message::SCRIPT, &mut length) {
        c::exit_now(LOST);
    }
    let payload = read_file(message::SCRIPT, u32::from_ne_bytes(length) as usize);
    let mut pieces = Pieces::new(payload);
    let (Some(Some(state)), Some(Some(text))) = (pieces.piece(), pieces.piece()) else { c::exit_now(LOST) };
    for text in [state, text] {
        if let Outcome::Exit(status) = run_text(text) {
            // SAFETY: bash's own way to end.
            unsafe { bash::exit_shell(status) }
        }
    }
    // SAFETY: as above.
    unsafe { bash::exit_shell(bash::last_command_exit_value) }
}

/// Nothing here panics on purpose; if it does, the shell is lost and the agent is told by its end.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    c::exit_now(LOST)
}
