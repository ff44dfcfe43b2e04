//! What holds for one command only: its variables and its working directory. Afterwards all is as it was.
//!
//! A variable is not assigned but lent: its body (value, attributes, hooks) is taken out, another put in, and the
//! first put back afterwards, whatever the command did to it. So arrays, integers and read-only variables come back
//! exactly.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

use super::bash::{self, Variable};
use super::c::{self, Fd};
use crate::message::Pieces;

/// What a variable was before. A linked list in bash's own memory: there is no allocator here.
struct Lent {
    name: *const c_char,
    existed: bool,
    body: Variable,
    next: *mut Self,
}

/// What is to be undone.
pub(super) struct Scope {
    lent: *mut Lent,
    here: Option<Fd>,
    path: *mut c_char,
}

impl Scope {
    /// Enters the directory and sets the variables that the payload names; leaves the text. If the directory cannot
    /// be entered nothing is changed, and the error is the kernel's.
    ///
    /// # Safety
    /// The payload outlives the scope.
    pub(super) unsafe fn enter(pieces: &mut Pieces<'_>) -> Result<Self, c_int> {
        let mut scope = Self { lent: null_mut(), here: None, path: null_mut() };
        let cwd = pieces.piece().flatten();
        if let Some(cwd) = cwd {
            // SAFETY: a piece is a C string.
            unsafe { scope.enter_directory(cwd)? };
        }
        for _ in 0..pieces.number().unwrap_or(0) {
            let (Some(Some(name)), Some(value)) = (pieces.piece(), pieces.piece()) else { break };
            // SAFETY: pieces are C strings that outlive the scope.
            unsafe { scope.lend(name.as_ptr().cast(), value.map(|value| value.as_ptr().cast())) };
        }
        Ok(scope)
    }

    unsafe fn enter_directory(&mut self, cwd: &[u8]) -> Result<(), c_int> {
        self.here = c::open_here();
        // SAFETY: bash's own string, or null.
        unsafe { self.path = copy(bash::the_current_working_directory) };
        // SAFETY: a C string.
        if let Err(error) = unsafe { c::enter(cwd.as_ptr().cast()) } {
            self.forget_directory();
            return Err(error);
        }
        // SAFETY: C strings; `PWD` is where bash looks too.
        unsafe {
            let path = absolute(self.path, cwd);
            self.lend(c"PWD".as_ptr(), Some(path));
            self.lend(c"OLDPWD".as_ptr(), Some(self.path));
            bash::set_working_directory(path);
            bash::xfree(path.cast());
        }
        Ok(())
    }

    fn forget_directory(&mut self) {
        self.here.take().into_iter().for_each(c::close);
        // SAFETY: made by `copy`; freeing null does nothing.
        unsafe { bash::xfree(self.path.cast()) };
        self.path = null_mut();
    }

    /// # Safety
    /// C strings; the name outlives the scope.
    unsafe fn lend(&mut self, name: *const c_char, value: Option<*const c_char>) {
        // SAFETY: bash's own functions on its own variables, from its only thread; the names are C strings.
        unsafe {
            let mut variable = bash::find_variable_noref(name);
            let existed = !variable.is_null();
            if !existed {
                if value.is_none() {
                    return;
                }
                variable = bash::bind_variable(name, c"".as_ptr(), 0);
                if variable.is_null() {
                    return;
                }
            }
            let lent: *mut Lent = bash::xmalloc(size_of::<Lent>()).cast();
            lent.write(Lent { name, existed, body: take(variable), next: self.lent });
            self.lent = lent;
            match value {
                Some(value) => {
                    (*variable).value = copy(value);
                    (*variable).attributes = bash::EXPORTED;
                }
                None => (*variable).attributes = bash::INVISIBLE,
            }
            changed(name);
        }
    }

    /// Undoes everything. `false` if the directory cannot be entered again.
    pub(super) fn leave(mut self) -> bool {
        while !self.lent.is_null() {
            // SAFETY: made by `lend`, once each; the newest first.
            unsafe {
                let lent = self.lent.read();
                bash::xfree(self.lent.cast());
                self.lent = lent.next;
                give_back(lent);
            }
        }
        self.leave_directory()
    }

    fn leave_directory(&mut self) -> bool {
        if self.path.is_null() && self.here.is_none() {
            return true;
        }
        // By descriptor, so that a renamed directory is found; by name should the user have closed it.
        let back = self.here.is_some_and(c::enter_open)
            // SAFETY: a C string unless null.
            || !self.path.is_null() && unsafe { c::enter(self.path) }.is_ok();
        // SAFETY: a C string unless null.
        unsafe {
            if !self.path.is_null() {
                bash::set_working_directory(self.path);
            }
        }
        self.forget_directory();
        back
    }
}

/// Takes the body out of a variable and leaves an empty one.
unsafe fn take(variable: *mut Variable) -> Variable {
    // SAFETY: a variable of bash; what is taken out is put back or freed by `give_back`.
    unsafe {
        let body = variable.read();
        (*variable).value = null_mut();
        (*variable).export_string = null_mut();
        (*variable).dynamic_value = null_mut();
        (*variable).assign = null_mut();
        body
    }
}

unsafe fn give_back(lent: Lent) {
    // SAFETY: as in `lend`.
    unsafe {
        let mut variable = bash::find_variable_noref(lent.name);
        if lent.existed {
            if variable.is_null() {
                variable = bash::bind_variable(lent.name, c"".as_ptr(), 0);
            }
            if !variable.is_null() {
                dispose(variable);
                let name = (*variable).name;
                variable.write(lent.body);
                (*variable).name = name;
            }
        } else if !variable.is_null() {
            (*variable).attributes &= !(bash::READONLY | bash::NOASSIGN);
            bash::unbind_variable_noref(lent.name);
        }
        changed(lent.name);
    }
}

unsafe fn dispose(variable: *mut Variable) {
    // SAFETY: a variable of bash; its attributes say what its value is.
    unsafe {
        let Variable { value, export_string, attributes, .. } = *variable;
        if attributes & bash::NOFREE == 0 && !value.is_null() {
            match attributes & (bash::ARRAY | bash::ASSOC) {
                bash::ARRAY => bash::array_dispose(value),
                0 => bash::xfree(value.cast()),
                _ => bash::assoc_dispose(value),
            }
        }
        bash::xfree(export_string.cast::<c_void>());
    }
}

unsafe fn changed(name: *const c_char) {
    // SAFETY: a C string; the flag is bash's own.
    unsafe {
        bash::stupidly_hack_special_variables(name);
        bash::array_needs_making = 1;
    }
}

/// A copy in bash's memory; null of null.
unsafe fn copy(text: *const c_char) -> *mut c_char {
    if text.is_null() {
        return null_mut();
    }
    // SAFETY: a C string, copied with its NUL.
    unsafe {
        let length = core::ffi::CStr::from_ptr(text).count_bytes() + 1;
        let memory: *mut c_char = bash::xmalloc(length).cast();
        core::ptr::copy_nonoverlapping(text, memory, length);
        memory
    }
}

/// The directory's whole name, given that we are in `from`.
unsafe fn absolute(from: *const c_char, to: &[u8]) -> *mut c_char {
    if from.is_null() || to.first() == Some(&b'/') {
        // SAFETY: a piece is a C string.
        return unsafe { copy(to.as_ptr().cast()) };
    }
    // SAFETY: C strings; there is room for both, a slash and a NUL.
    unsafe {
        let from = core::ffi::CStr::from_ptr(from).to_bytes();
        let memory: *mut u8 = bash::xmalloc(from.len() + 1 + to.len()).cast();
        core::ptr::copy_nonoverlapping(from.as_ptr(), memory, from.len());
        memory.add(from.len()).write(b'/');
        core::ptr::copy_nonoverlapping(to.as_ptr(), memory.add(from.len() + 1), to.len());
        memory.cast()
    }
}
