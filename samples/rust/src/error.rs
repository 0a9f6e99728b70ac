// SPDX-License-Identifier: Apache-2.0
//! Errors: the statuses of the C interface, each with the library's text.

use std::ffi::CStr;
use std::fmt;
use std::ptr;

use crate::ffi;

/// Why a call failed: the numbers of tenon_status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    Error,
    InvalidArgument,
    Unsupported,
    OutOfMemory,
    InvalidLayer,
    InvalidData,
    NotFound,
    InvalidGraph,
    BackendUnavailable,
    LimitExceeded,
    Cancelled,
    ImportFailed,
    /// One that is newer than this crate.
    Other(i32),
}

impl Status {
    fn from_c(number: i32) -> Status {
        match number {
            1 => Status::Error,
            2 => Status::InvalidArgument,
            3 => Status::Unsupported,
            4 => Status::OutOfMemory,
            5 => Status::InvalidLayer,
            6 => Status::InvalidData,
            7 => Status::NotFound,
            8 => Status::InvalidGraph,
            9 => Status::BackendUnavailable,
            10 => Status::LimitExceeded,
            11 => Status::Cancelled,
            12 => Status::ImportFailed,
            other => Status::Other(other),
        }
    }
}

/// A call failed. The text says where, for which reason and, mostly, the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    text: String,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: Status, text: String) -> Error {
        Error { status, text }
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({:?})", self.text, self.status)
    }
}

impl std::error::Error for Error {}

/// Calls a function of the C interface, which gets the place for an error object.
pub(crate) fn check(call: impl FnOnce(*mut *mut ffi::tenon_error) -> i32) -> Result<()> {
    let mut error = ptr::null_mut();
    let status = call(&mut error);
    if status == ffi::TENON_OK {
        return Ok(());
    }
    // SAFETY: both functions give texts; that of the error lives as long as the object, which is destroyed once. The
    // object is null if there is no memory for it.
    let text = unsafe {
        let text = if error.is_null() { ffi::tenon_status_name(status) } else { ffi::tenon_error_text(error) };
        let text = CStr::from_ptr(text).to_string_lossy().into_owned();
        ffi::tenon_error_destroy(error);
        text
    };
    Err(Error::new(Status::from_c(status), text))
}
