//! Writes down what the shell holds, as records that the agent can turn into a script.
//!
//! A record is a letter and its fields, each ended by a NUL, which no value of a shell can contain. It is read from
//! bash's own tables, so no function, alias or option of the user's changes what it says.

use core::ffi::{CStr, c_char, c_int};

use super::bash::{self, Variable};
use super::c::{self, Fd};
use crate::message;

/// Limits that there are (getrlimit(2)).
const LIMITS: c_int = 16;

/// Buffers what goes to the agent.
struct Output {
    fd: Fd,
    buffer: [u8; 4096],
    filled: usize,
    written: usize,
    /// Nothing more is written: the reader is gone, or it would be too much.
    broken: bool,
}

impl Output {
    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.broken {
            let room = (self.buffer.len() - self.filled).min(bytes.len());
            self.buffer[self.filled..self.filled + room].copy_from_slice(&bytes[..room]);
            self.filled += room;
            bytes = &bytes[room..];
            if self.filled == self.buffer.len() {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        self.written += self.filled;
        self.broken =
            self.broken || self.written > message::DUMP_MAX || !c::write_all(self.fd, &self.buffer[..self.filled]);
        self.filled = 0;
    }

    fn field(&mut self, bytes: &[u8]) {
        self.put(bytes);
        self.put(b"\0");
    }

    fn number(&mut self, number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = number;
        while rest > 0 || at == digits.len() {
            at -= 1;
            // A digit fits.
            digits[at] = b'0' + (rest % 10).to_le_bytes()[0];
            rest /= 10;
        }
        self.field(&digits[at..]);
    }

    /// # Safety
    /// A C string, or null.
    unsafe fn text(&mut self, text: *const c_char) {
        if text.is_null() {
            return self.field(b"");
        }
        // SAFETY: promised by the caller.
        self.field(unsafe { CStr::from_ptr(text) }.to_bytes());
    }
}

/// Writes everything. `false` if that is more than the agent takes.
pub(super) fn dump(fd: Fd) -> bool {
    let mut output = Output { fd, buffer: [0; 4096], filled: 0, written: 0, broken: false };
    // SAFETY: reads bash's own tables from its only thread; nothing of the user's runs meanwhile.
    unsafe {
        directory(&mut output);
        variables(&mut output);
        functions(&mut output);
        aliases(&mut output);
        positional(&mut output);
        traps(&mut output);
    }
    output.put(b"U");
    output.number(u64::from(c::file_mask()));
    limits(&mut output);
    c::each_open(|open| {
        if open > 2 && open != fd {
            output.put(b"D");
            output.number(u64::from(open.unsigned_abs()));
        }
    });
    output.put(b"E");
    output.flush();
    !output.broken
}

unsafe fn directory(output: &mut Output) {
    output.put(b"P");
    // SAFETY: bash's own string, or null; a number.
    unsafe {
        output.text(bash::the_current_working_directory);
        output.put(b"?");
        output.number(u64::from(bash::last_command_exit_value.unsigned_abs()));
    }
}

unsafe fn variables(output: &mut Output) {
    // SAFETY: a list that ends with null, ours to free; the variables are bash's.
    unsafe {
        let list = bash::all_shell_variables();
        each(list, |variable: *mut Variable| variable_record(output, &*variable));
        bash::xfree(list.cast());
    }
}

/// What bash computes itself cannot be carried. `declare` with a value, or without one.
unsafe fn variable_record(output: &mut Output, variable: &Variable) {
    let computed = !variable.dynamic_value.is_null() || variable.attributes & bash::NOASSIGN != 0;
    if computed {
        return;
    }
    output.put(b"V");
    // SAFETY: the name is a C string; the attributes say what the value is; what is made is freed.
    unsafe {
        output.text(variable.name);
        attributes(output, variable.attributes);
        if variable.value.is_null() {
            output.field(b"");
            return output.field(b"");
        }
        let assignment = match variable.attributes & (bash::ARRAY | bash::ASSOC) {
            0 => bash::sh_single_quote(variable.value),
            bash::ARRAY => bash::array_to_assign(variable.value, 0),
            _ => bash::assoc_to_assign(variable.value, 0),
        };
        output.put(b"=");
        let empty = if variable.attributes & (bash::ARRAY | bash::ASSOC) == 0 { c"" } else { c"()" };
        output.text(if assignment.is_null() { empty.as_ptr() } else { assignment });
        let scalar = variable.attributes & (bash::ARRAY | bash::ASSOC) == 0;
        output.text(if scalar { variable.value } else { core::ptr::null() });
        bash::xfree(assignment.cast());
    }
}

fn attributes(output: &mut Output, attributes: c_int) {
    let letters = [
        (bash::ARRAY, b'a'),
        (bash::ASSOC, b'A'),
        (bash::INTEGER, b'i'),
        (bash::LOWERCASE, b'l'),
        (bash::NAMEREF, b'n'),
        (bash::READONLY, b'r'),
        (bash::TRACE, b't'),
        (bash::UPPERCASE, b'u'),
        (bash::CAPCASE, b'c'),
        (bash::EXPORTED, b'x'),
    ];
    letters.iter().filter(|(bit, _)| attributes & bit != 0).for_each(|(_, letter)| output.put(&[*letter]));
    output.field(b"");
}

unsafe fn functions(output: &mut Output) {
    // SAFETY: a list that ends with null, ours to free; a function's value is its body.
    unsafe {
        let list = bash::all_shell_functions();
        each(list, |function: *mut Variable| {
            output.put(b"F");
            output.text((*function).name);
            attributes(output, (*function).attributes & (bash::READONLY | bash::TRACE | bash::EXPORTED));
            let flags = bash::MULTILINE | bash::EXTERNAL;
            output.text(bash::named_function_string((*function).name, (*function).value, flags));
        });
        bash::xfree(list.cast());
    }
}

unsafe fn aliases(output: &mut Output) {
    // SAFETY: a list that ends with null, ours to free.
    unsafe {
        let list = bash::all_aliases();
        each(list, |alias: *mut bash::Alias| {
            output.put(b"A");
            output.text((*alias).name);
            output.text((*alias).value);
        });
        bash::xfree(list.cast());
    }
}

unsafe fn positional(output: &mut Output) {
    // SAFETY: a list of words, ours to dispose of.
    unsafe {
        let list = bash::list_rest_of_args();
        let mut at = list;
        while !at.is_null() {
            output.put(b"1");
            output.text((*(*at).word).text);
            at = (*at).next;
        }
        bash::dispose_words(list);
    }
}

unsafe fn traps(output: &mut Output) {
    for (number, signal) in (0..).zip(0..bash::TRAPS) {
        // SAFETY: `signal` is within the table; a trapped signal that is not ignored has a C string there.
        unsafe {
            if bash::signal_is_trapped(signal) == 0 {
                continue;
            }
            output.put(b"T");
            output.number(number);
            let action = (&raw const bash::trap_list).cast::<*const c_char>().offset(signal as isize).read();
            output.text(if bash::signal_is_ignored(signal) == 0 { action } else { core::ptr::null() });
        }
    }
}

fn limits(output: &mut Output) {
    for (number, resource) in (0..).zip(0..LIMITS) {
        if let Some(limit) = c::limit(resource) {
            output.put(b"L");
            output.number(number);
            output.number(limit.soft);
            output.number(limit.hard);
        }
    }
}

/// Calls `visit` for each entry of a list that ends with null; a null list has none.
unsafe fn each<T>(list: *mut *mut T, mut visit: impl FnMut(*mut T)) {
    if list.is_null() {
        return;
    }
    let mut at = list;
    // SAFETY: there is an entry until the null.
    unsafe {
        while !(*at).is_null() {
            visit(*at);
            at = at.add(1);
        }
    }
}
