// SPDX-License-Identifier: Apache-2.0
//! A safe wrapper of Tenon's C interface (include/tenon/c/tenon.h): models from files and memory, and their runs.
//!
//! ```no_run
//! use tenon::{Input, Model, Options, Runtime};
//!
//! let runtime = Runtime::new()?;
//! let model = Model::from_file(&runtime, "digits_float.tflite", &Options::default())?;
//! let picture = vec![0.0_f32; 64];
//! let outputs = model.run(&[Input::new(&picture)])?;
//! println!("{:?}", outputs[0].elements::<f32>()?);
//! # Ok::<(), tenon::Error>(())
//! ```

mod error;
pub mod ffi;
mod tensor;

use std::ffi::{c_void, CStr, CString};
use std::path::Path;
use std::ptr;

use error::check;
pub use error::{Error, Result, Status};
use tensor::Outputs;
pub use tensor::{DataType, Element, Input, Quantization, Tensor, TensorInfo};

/// The version of the library: "0.2.0".
pub fn version() -> String {
    // SAFETY: the function always gives a text, which is never destroyed.
    unsafe { CStr::from_ptr(ffi::tenon_version()) }.to_string_lossy().into_owned()
}

/// Backends and threads that models share.
#[derive(Debug)]
pub struct Runtime {
    handle: *mut ffi::tenon_runtime,
}

// SAFETY: the header says of runtimes and models that their functions may be called from any thread, and from several
// at once. Drop takes the value, so no other use is under way.
unsafe impl Send for Runtime {}
unsafe impl Sync for Runtime {}
unsafe impl Send for Model {}
unsafe impl Sync for Model {}

impl Runtime {
    /// A runtime with the backends of the library, CpuAcc and CpuRef.
    #[allow(clippy::absurd_extreme_comparisons)] // as long as TENON_C_MINOR is 0
    pub fn new() -> Result<Runtime> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to numbers of the right size.
        unsafe { ffi::tenon_c_version(&mut major, &mut minor) };
        if major != ffi::TENON_C_MAJOR || minor < ffi::TENON_C_MINOR {
            return Err(Error::new(
                Status::Unsupported,
                format!(
                    "the library has version {major}.{minor} of the C interface; this crate needs {}.{} or a later {}.x",
                    ffi::TENON_C_MAJOR,
                    ffi::TENON_C_MINOR,
                    ffi::TENON_C_MAJOR
                ),
            ));
        }
        let mut handle = ptr::null_mut();
        // SAFETY: null options are the defaults; the other pointers are to handles.
        check(|error| unsafe { ffi::tenon_runtime_create(ptr::null(), &mut handle, error) })?;
        Ok(Runtime { handle })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // SAFETY: this is the only owner of the handle.
        unsafe { ffi::tenon_runtime_destroy(self.handle) }
    }
}

/// How a model is optimized and loaded. Members that are left at their defaults have the library's.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Backends in order of preference. Default: CpuAcc, then CpuRef.
    pub backends: Vec<String>,
    /// The most threads that loading, and one run, use. Default: 0, as many as there are cores.
    pub threads: u32,
    /// Further options by their names in tenon_model_options: `("fp16", "true")`.
    pub others: Vec<(String, String)>,
}

/// A graph, between reading and loading.
struct Network {
    handle: *mut ffi::tenon_network,
}

impl Drop for Network {
    fn drop(&mut self) {
        // SAFETY: this is the only owner of the handle.
        unsafe { ffi::tenon_network_destroy(self.handle) }
    }
}

/// A model that can be run, from several threads at once. It keeps alive all that it needs of its runtime.
#[derive(Debug)]
pub struct Model {
    handle: *mut ffi::tenon_model,
    inputs: Vec<TensorInfo>,
    outputs: Vec<TensorInfo>,
}

impl Model {
    /// Reads a `.tflite` or `.tenon` file. The file is mapped: it may be replaced, but not be written to, as long as
    /// the model lives.
    pub fn from_file(runtime: &Runtime, path: impl AsRef<Path>, options: &Options) -> Result<Model> {
        let path = path.as_ref();
        let text = match path.to_str() {
            Some(text) => c_text(text, "the path of the model")?,
            None => return Err(invalid(format!("the path of the model is not of UTF-8: {}", path.display()))),
        };
        let mut handle = ptr::null_mut();
        check(|error| unsafe {
            // SAFETY: the runtime lives, the text ends with 0, null options are the defaults.
            ffi::tenon_network_read_file(runtime.handle, text.as_ptr(), ptr::null(), &mut handle, error)
        })?;
        Model::load(runtime, Network { handle }, options)
    }

    /// Reads the bytes of such a file, which are copied.
    pub fn from_bytes(runtime: &Runtime, bytes: &[u8], options: &Options) -> Result<Model> {
        let mut handle = ptr::null_mut();
        let data = bytes.as_ptr().cast::<c_void>();
        check(|error| unsafe {
            // SAFETY: the runtime lives, `data` has as many bytes, null options are the defaults.
            ffi::tenon_network_read_memory(runtime.handle, data, bytes.len(), ptr::null(), &mut handle, error)
        })?;
        Model::load(runtime, Network { handle }, options)
    }

    fn load(runtime: &Runtime, network: Network, options: &Options) -> Result<Model> {
        let mut texts = Vec::new(); // which live until the call has returned
        for name in &options.backends {
            texts.push(c_text(name, "the name of a backend")?);
        }
        for (key, value) in &options.others {
            texts.push(c_text(key, "the name of an option")?);
            texts.push(c_text(value, "the value of an option")?);
        }
        let pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        let (backends, others) = pointers.split_at(options.backends.len());
        let others: Vec<_> =
            others.chunks_exact(2).map(|pair| ffi::tenon_option { key: pair[0], value: pair[1] }).collect();
        let c_options = ffi::tenon_model_options {
            struct_size: std::mem::size_of::<ffi::tenon_model_options>(),
            num_backends: backends.len(),
            backends: backends.as_ptr(),
            num_threads: options.threads,
            num_options: others.len(),
            options: others.as_ptr(),
        };
        let mut handle = ptr::null_mut();
        check(|error| unsafe {
            // SAFETY: runtime and network live; so does all that the options point to.
            ffi::tenon_model_load(runtime.handle, network.handle, &c_options, &mut handle, error)
        })?;
        let mut model = Model { handle, inputs: Vec::new(), outputs: Vec::new() };
        // SAFETY: the model lives.
        let (num_inputs, num_outputs) =
            unsafe { (ffi::tenon_model_num_inputs(handle), ffi::tenon_model_num_outputs(handle)) };
        for index in 0..num_inputs {
            model.inputs.push(model.port(ffi::tenon_model_input, index)?);
        }
        for index in 0..num_outputs {
            model.outputs.push(model.port(ffi::tenon_model_output, index)?);
        }
        Ok(model)
    }

    /// An input or output.
    fn port(&self, function: ffi::port_function, index: usize) -> Result<TensorInfo> {
        let (mut name, mut info) = (ptr::null(), ptr::null());
        // SAFETY: the model lives, and name and info live as long as it. They are copied here.
        unsafe {
            check(|error| function(self.handle, index, &mut name, &mut info, error))?;
            Ok(TensorInfo::copy(CStr::from_ptr(name).to_string_lossy().into_owned(), &*info))
        }
    }

    /// The inputs in the model's order.
    pub fn inputs(&self) -> &[TensorInfo] {
        &self.inputs
    }

    /// The outputs in the model's order. A size that depends on the inputs' values is not known before a run.
    pub fn outputs(&self) -> &[TensorInfo] {
        &self.outputs
    }

    /// Runs the model once. There is an input for each of the model's, in its order; an output is made for each.
    /// Any number of threads may do it. Runs of a model that has states wait for each other.
    pub fn run(&self, inputs: &[Input<'_>]) -> Result<Vec<Tensor>> {
        let mut dims = Vec::with_capacity(inputs.len()); // which live until the run has ended
        let mut tensors = Vec::with_capacity(inputs.len() + self.outputs.len());
        for (index, input) in inputs.iter().enumerate() {
            if let Some(info) = self.inputs.get(index) {
                input.check_type(info)?; // the library checks all else
            }
            dims.push(input.dims()?);
            tensors.push(input.as_c(dims[index].as_deref()));
        }
        tensors.resize_with(inputs.len() + self.outputs.len(), || tensor::UNALLOCATED);
        let (c_inputs, c_outputs) = tensors.split_at(inputs.len());

        let mut outputs = Outputs::new(self.outputs.len());
        let options = outputs.run_options();
        check(|error| unsafe {
            // SAFETY: the model lives; so do tensors and the memory that they point to, which is only read; the
            // allocator gives each output memory of its own.
            ffi::tenon_model_run(
                self.handle,
                &options,
                c_inputs.len(),
                c_inputs.as_ptr(),
                c_outputs.len(),
                c_outputs.as_ptr(),
                error,
            )
        })?;
        outputs.take()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: this is the only owner of the handle, and no run is under way: each borrows the model.
        unsafe { ffi::tenon_model_destroy(self.handle) }
    }
}

fn invalid(text: String) -> Error {
    Error::new(Status::InvalidArgument, text)
}

fn c_text(text: &str, role: &str) -> Result<CString> {
    CString::new(text).map_err(|_| invalid(format!("{role} has a zero byte: {text:?}")))
}
