// SPDX-License-Identifier: Apache-2.0
//! The parts of include/tenon/c/tenon.h and include/tenon/backend/plugin.h that the wrapper uses, by their names
//! there. tests/layout.rs compares the structs with the headers.

#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_void};

pub const TENON_C_MAJOR: u32 = 1;
pub const TENON_C_MINOR: u32 = 0;
pub const TENON_OK: i32 = 0;
pub const TENON_ANY_TYPE: i32 = -1;
pub const TENON_UNKNOWN_RANK: u32 = u32::MAX;

/// Types that only the library knows: they are used through pointers.
macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}

opaque!(tenon_error, tenon_runtime, tenon_network, tenon_model, tenon_session, tenon_cancellation);

#[repr(C)]
pub struct tenon_tensor_info {
    pub struct_size: usize,
    pub type_: i32,
    pub rank: u32,
    pub dims: *const i64,
    pub num_bytes: usize,
    pub num_scales: u32,
    pub scales: *const f32,
    pub num_zero_points: u32,
    pub zero_points: *const i32,
    pub quantization_dim: i32,
    pub is_constant: u8,
}

#[repr(C)]
pub struct tenon_option {
    pub key: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
pub struct tenon_model_options {
    pub struct_size: usize,
    pub num_backends: usize,
    pub backends: *const *const c_char,
    pub num_threads: u32,
    pub num_options: usize,
    pub options: *const tenon_option,
}

#[repr(C)]
pub struct tenon_tensor {
    pub data: *mut c_void,
    pub num_bytes: usize,
    pub type_: i32,
    pub rank: u32,
    pub dims: *const i64,
    pub import_id: u32,
    pub reserved: [u32; 3],
}

pub type tenon_output_allocator =
    unsafe extern "C" fn(this: *mut c_void, index: usize, info: *const tenon_tensor_info) -> *mut c_void;

#[repr(C)]
pub struct tenon_run_options {
    pub struct_size: usize,
    pub session: *mut tenon_session,
    pub cancellation: *mut tenon_cancellation,
    pub allocate: Option<tenon_output_allocator>,
    pub allocate_self: *mut c_void,
}

/// A function that tells name and info of an input or output.
pub type port_function = unsafe extern "C" fn(
    model: *const tenon_model,
    index: usize,
    name: *mut *const c_char,
    info: *mut *const tenon_tensor_info,
    error: *mut *mut tenon_error,
) -> i32;

extern "C" {
    pub fn tenon_version() -> *const c_char;
    pub fn tenon_c_version(major: *mut u32, minor: *mut u32);
    pub fn tenon_error_text(error: *const tenon_error) -> *const c_char;
    pub fn tenon_error_destroy(error: *mut tenon_error);
    pub fn tenon_status_name(status: i32) -> *const c_char;

    pub fn tenon_runtime_create(
        options: *const c_void, // tenon_runtime_options, of which the wrapper uses the defaults
        runtime: *mut *mut tenon_runtime,
        error: *mut *mut tenon_error,
    ) -> i32;
    pub fn tenon_runtime_destroy(runtime: *mut tenon_runtime);

    pub fn tenon_network_read_file(
        runtime: *mut tenon_runtime,
        path: *const c_char,
        options: *const c_void, // tenon_read_options, likewise
        network: *mut *mut tenon_network,
        error: *mut *mut tenon_error,
    ) -> i32;
    pub fn tenon_network_read_memory(
        runtime: *mut tenon_runtime,
        data: *const c_void,
        num_bytes: usize,
        options: *const c_void,
        network: *mut *mut tenon_network,
        error: *mut *mut tenon_error,
    ) -> i32;
    pub fn tenon_network_destroy(network: *mut tenon_network);

    pub fn tenon_model_load(
        runtime: *mut tenon_runtime,
        network: *mut tenon_network,
        options: *const tenon_model_options,
        model: *mut *mut tenon_model,
        error: *mut *mut tenon_error,
    ) -> i32;
    pub fn tenon_model_destroy(model: *mut tenon_model);
    pub fn tenon_model_num_inputs(model: *const tenon_model) -> usize;
    pub fn tenon_model_num_outputs(model: *const tenon_model) -> usize;
    pub fn tenon_model_input(
        model: *const tenon_model,
        index: usize,
        name: *mut *const c_char,
        info: *mut *const tenon_tensor_info,
        error: *mut *mut tenon_error,
    ) -> i32;
    pub fn tenon_model_output(
        model: *const tenon_model,
        index: usize,
        name: *mut *const c_char,
        info: *mut *const tenon_tensor_info,
        error: *mut *mut tenon_error,
    ) -> i32;
    pub fn tenon_model_run(
        model: *mut tenon_model,
        options: *const tenon_run_options,
        num_inputs: usize,
        inputs: *const tenon_tensor,
        num_outputs: usize,
        outputs: *const tenon_tensor,
        error: *mut *mut tenon_error,
    ) -> i32;
}
