//! What we use of bash itself: declarations of its own functions and variables, stable since 4.4.
//!
//! All are bound when the object is loaded. A bash that lacks one refuses the object and names what it lacks.

use core::ffi::{c_char, c_int, c_void};

/// A variable or function of the shell.
#[repr(C)]
pub(super) struct Variable {
    pub(super) name: *mut c_char,
    pub(super) value: *mut c_char,
    pub(super) export_string: *mut c_char,
    pub(super) dynamic_value: *mut c_void,
    pub(super) assign: *mut c_void,
    pub(super) attributes: c_int,
    pub(super) context: c_int,
}

pub(super) const EXPORTED: c_int = 0x1;
pub(super) const READONLY: c_int = 0x2;
pub(super) const ARRAY: c_int = 0x4;
pub(super) const INTEGER: c_int = 0x10;
pub(super) const ASSOC: c_int = 0x40;
pub(super) const TRACE: c_int = 0x80;
pub(super) const UPPERCASE: c_int = 0x100;
pub(super) const LOWERCASE: c_int = 0x200;
pub(super) const CAPCASE: c_int = 0x400;
pub(super) const NAMEREF: c_int = 0x800;
pub(super) const INVISIBLE: c_int = 0x1000;
pub(super) const NOASSIGN: c_int = 0x4000;
pub(super) const NOFREE: c_int = 0x2_0000;

/// A list of words.
#[repr(C)]
pub(super) struct WordList {
    pub(super) next: *mut Self,
    pub(super) word: *mut Word,
}

/// A word.
#[repr(C)]
pub(super) struct Word {
    pub(super) text: *mut c_char,
    flags: c_int,
}

/// An alias.
#[repr(C)]
pub(super) struct Alias {
    pub(super) name: *mut c_char,
    pub(super) value: *mut c_char,
    flags: c_char,
}

/// A builtin, as `enable -f` expects it.
#[repr(C)]
pub(super) struct Builtin {
    pub(super) name: *const c_char,
    pub(super) function: unsafe extern "C" fn(*mut WordList) -> c_int,
    pub(super) flags: c_int,
    pub(super) long_doc: *const *const c_char,
    pub(super) short_doc: *const c_char,
    pub(super) handle: *mut c_char,
}

pub(super) const BUILTIN_ENABLED: c_int = 1;
pub(super) const BUILTIN_DELETED: c_int = 2;

/// Do not remember it as history.
pub(super) const NO_HISTORY: c_int = 4;
/// Lines are counted from its beginning.
pub(super) const RESET_LINE: c_int = 0x10;

/// Why bash jumps to its top level.
pub(super) const FORCE_EOF: c_int = 1;
pub(super) const DISCARD: c_int = 2;

/// What bash calls a syntax error among its own.
pub(super) const BAD_SYNTAX: c_int = 257;

/// Printed as one line for each command.
pub(super) const MULTILINE: c_int = 1;
/// As it can be read again.
pub(super) const EXTERNAL: c_int = 2;

pub(super) const SIGINT: c_int = 2;

/// Numbers of signals, `EXIT` as 0, then `DEBUG`, `ERR` and `RETURN`.
pub(super) const TRAPS: c_int = 68;

unsafe extern "C" {
    pub(super) static mut last_command_exit_value: c_int;
    pub(super) static mut top_level: [u8; 0];
    pub(super) static mut interrupt_state: c_int;
    pub(super) static mut terminating_signal: c_int;
    pub(super) static mut wait_intr_flag: c_int;
    pub(super) static mut wait_signal_received: c_int;
    pub(super) static mut array_needs_making: c_int;
    pub(super) static mut read_but_dont_execute: c_int;
    pub(super) static mut current_fds_to_close: *mut c_void;
    pub(super) static mut startup_state: c_int;
    pub(super) static mut parse_and_execute_level: c_int;
    pub(super) static mut indirection_level: c_int;
    pub(super) static mut the_current_working_directory: *mut c_char;
    pub(super) static mut trap_list: [*mut c_char; TRAPS as usize];

    pub(super) fn parse_and_execute(text: *mut c_char, name: *const c_char, flags: c_int) -> c_int;
    pub(super) fn parse_and_execute_cleanup(old_running_trap: c_int);
    pub(super) fn run_unwind_protects();
    pub(super) fn exit_shell(status: c_int) -> !;
    pub(super) fn builtin_address_internal(name: *const c_char, disabled_too: c_int) -> *mut Builtin;
    pub(super) fn set_signal_handler(signal: c_int, handler: extern "C" fn(c_int)) -> *mut c_void;
    pub(super) fn sigint_sighandler(signal: c_int);
    pub(super) fn signal_is_trapped(signal: c_int) -> c_int;
    pub(super) fn signal_is_ignored(signal: c_int) -> c_int;
    pub(super) fn termsig_handler(signal: c_int);
    pub(super) fn stop_making_children();
    pub(super) fn cleanup_the_pipeline();
    pub(super) fn notify_and_cleanup();
    pub(super) fn restore_sigmask();
    pub(super) fn set_shellopts();

    pub(super) fn find_variable_noref(name: *const c_char) -> *mut Variable;
    pub(super) fn bind_variable(name: *const c_char, value: *const c_char, flags: c_int) -> *mut Variable;
    pub(super) fn unbind_variable_noref(name: *const c_char) -> c_int;
    pub(super) fn stupidly_hack_special_variables(name: *const c_char);
    pub(super) fn array_dispose(array: *mut c_char);
    pub(super) fn assoc_dispose(table: *mut c_char);
    pub(super) fn set_working_directory(path: *const c_char);

    pub(super) fn all_shell_variables() -> *mut *mut Variable;
    pub(super) fn all_shell_functions() -> *mut *mut Variable;
    pub(super) fn all_aliases() -> *mut *mut Alias;
    pub(super) fn named_function_string(name: *const c_char, body: *mut c_char, flags: c_int) -> *mut c_char;
    pub(super) fn array_to_assign(array: *mut c_char, quoted: c_int) -> *mut c_char;
    pub(super) fn assoc_to_assign(table: *mut c_char, quoted: c_int) -> *mut c_char;
    pub(super) fn sh_single_quote(text: *const c_char) -> *mut c_char;
    pub(super) fn list_rest_of_args() -> *mut WordList;
    pub(super) fn dispose_words(list: *mut WordList);

    pub(super) fn xmalloc(size: usize) -> *mut c_void;
    pub(super) fn xfree(memory: *mut c_void);
}
