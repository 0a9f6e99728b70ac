// SPDX-License-Identifier: Apache-2.0
//! Tensors: their descriptions, inputs that are borrowed, outputs that are made.

use std::ffi::c_void;
use std::mem::{size_of, size_of_val};
use std::{ptr, slice};

use crate::{ffi, invalid, Result};

/// Element types: the numbers of tenon_data_type. Types with a Q are quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataType {
    Float16,
    Float32,
    QAsymmU8,
    Signed32,
    Boolean,
    QSymmS16,
    QSymmS8,
    QAsymmS8,
    BFloat16,
    Signed64,
    Float64,
    Signed8,
    Signed16,
    Unsigned8,
    Unsigned16,
    Unsigned32,
    Unsigned64,
    QSymmS4,
    Complex64,
    Complex128,
    /// One that is newer than this crate.
    Other(i32),
}

use DataType::*;

const DATA_TYPES: [DataType; 20] = [
    Float16, Float32, QAsymmU8, Signed32, Boolean, QSymmS16, QSymmS8, QAsymmS8, BFloat16, Signed64, Float64, Signed8,
    Signed16, Unsigned8, Unsigned16, Unsigned32, Unsigned64, QSymmS4, Complex64, Complex128,
];

impl DataType {
    fn from_c(number: i32) -> DataType {
        let known = usize::try_from(number).ok().and_then(|index| DATA_TYPES.get(index));
        known.copied().unwrap_or(Other(number))
    }
}

/// A type of Rust that is the element of tensors: a plain number, any bits of which are one.
pub trait Element: sealed::Sealed + Copy {
    /// The types of tensors that have such elements.
    const TYPES: &'static [DataType];
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($rust:ty: $($type:ident),*;)*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const TYPES: &'static [DataType] = &[$($type),*];
        }
    )*};
}

// u8 of Boolean is 0 or 1; u16 are the bits of floats that Rust does not have.
elements! {
    f32: Float32;
    f64: Float64;
    i8: QAsymmS8, QSymmS8, Signed8;
    u8: QAsymmU8, Unsigned8, Boolean;
    i16: QSymmS16, Signed16;
    u16: Unsigned16, Float16, BFloat16;
    i32: Signed32;
    u32: Unsigned32;
    i64: Signed64;
    u64: Unsigned64;
}

/// How stored numbers stand for real ones: `real = scale * (stored - zero_point)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantization {
    /// One scale, or one for each index of `axis`.
    pub scales: Vec<f32>,
    /// One zero point, or as many as scales.
    pub zero_points: Vec<i32>,
    /// The dimension that has a scale for each index.
    pub axis: Option<usize>,
}

/// An input or output of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TensorInfo {
    pub name: String,
    pub data_type: DataType,
    /// Sizes, `None` where only a run tells; `None` as a whole where even the number of dimensions is unknown.
    pub shape: Option<Vec<Option<usize>>>,
    /// `None` where a size is unknown.
    pub num_bytes: Option<usize>,
    /// Of quantized types.
    pub quantization: Option<Quantization>,
}

impl TensorInfo {
    /// # Safety
    /// The arrays that `info` points to have the lengths that it says.
    pub(crate) unsafe fn copy(name: String, info: &ffi::tenon_tensor_info) -> TensorInfo {
        let mut shape = None;
        if info.rank != ffi::TENON_UNKNOWN_RANK {
            // A negative size is an unknown one.
            let dims = copied(info.dims, info.rank as usize);
            shape = Some(dims.into_iter().map(|size| usize::try_from(size).ok()).collect::<Vec<_>>());
        }
        let is_known = matches!(&shape, Some(sizes) if sizes.iter().all(Option::is_some));
        let quantization = (info.num_scales != 0).then(|| Quantization {
            scales: copied(info.scales, info.num_scales as usize),
            zero_points: copied(info.zero_points, info.num_zero_points as usize),
            axis: usize::try_from(info.quantization_dim).ok(),
        });
        let num_bytes = is_known.then_some(info.num_bytes);
        TensorInfo { name, data_type: DataType::from_c(info.type_), shape, num_bytes, quantization }
    }
}

unsafe fn copied<T: Copy>(data: *const T, count: usize) -> Vec<T> {
    if count == 0 {
        return Vec::new(); // of which the pointer may be null
    }
    slice::from_raw_parts(data, count).to_vec()
}

/// Elements for an input of a model. They are read where they are.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    types: &'static [DataType], // none: any
    shape: Option<&'a [usize]>,
}

impl<'a> Input<'a> {
    /// Elements of the shape that the model was loaded with.
    pub fn new<T: Element>(elements: &'a [T]) -> Input<'a> {
        // SAFETY: elements are plain numbers, so all of their bytes have values.
        let bytes = unsafe { slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) };
        Input { bytes, types: T::TYPES, shape: None }
    }

    /// Elements of any type by their bytes, of the shape that the model was loaded with.
    pub fn from_bytes(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes, types: &[], shape: None }
    }

    /// The same elements with another shape than that which the model was loaded with.
    pub fn with_shape(self, shape: &'a [usize]) -> Input<'a> {
        Input { shape: Some(shape), ..self }
    }

    /// An error if the input of the model is of another type.
    pub(crate) fn check_type(&self, info: &TensorInfo) -> Result<()> {
        if self.types.is_empty() || self.types.contains(&info.data_type) {
            return Ok(());
        }
        Err(invalid(format!(
            "input '{}' is of {:?}; it was given elements for {:?}",
            info.name, info.data_type, self.types
        )))
    }

    pub(crate) fn dims(&self) -> Result<Option<Vec<i64>>> {
        let sizes = match self.shape {
            None => return Ok(None),
            Some(shape) => shape.iter().map(|&size| i64::try_from(size)).collect::<std::result::Result<_, _>>(),
        };
        sizes.map(Some).map_err(|_| invalid(format!("a size is too large: {:?}", self.shape)))
    }

    /// The library reads data and dims during the run.
    pub(crate) fn as_c(&self, dims: Option<&[i64]>) -> ffi::tenon_tensor {
        ffi::tenon_tensor {
            data: self.bytes.as_ptr() as *mut c_void,
            num_bytes: self.bytes.len(),
            rank: dims.map_or(0, |dims| dims.len() as u32),
            dims: dims.map_or(ptr::null(), |dims| dims.as_ptr()),
            ..UNALLOCATED
        }
    }
}

/// An output that the run is to ask the allocator for. Types were checked, or are to be those of the model.
pub(crate) const UNALLOCATED: ffi::tenon_tensor = ffi::tenon_tensor {
    data: ptr::null_mut(),
    num_bytes: 0,
    type_: ffi::TENON_ANY_TYPE,
    rank: 0,
    dims: ptr::null(),
    import_id: 0,
    reserved: [0; 3],
};

/// An output of a run.
#[derive(Clone, Debug)]
pub struct Tensor {
    data_type: DataType,
    shape: Vec<usize>,
    words: Vec<u64>, // which are aligned for any element
    num_bytes: usize,
}

impl Tensor {
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, the last dimension fastest.
    pub fn elements<T: Element>(&self) -> Result<&[T]> {
        if !T::TYPES.contains(&self.data_type) {
            return Err(invalid(format!(
                "the tensor is of {:?}; elements of one of {:?} were asked for",
                self.data_type,
                T::TYPES
            )));
        }
        // SAFETY: the words have as many bytes, and elements are plain numbers of at most the alignment of words.
        Ok(unsafe { slice::from_raw_parts(self.words.as_ptr().cast(), self.num_bytes / size_of::<T>()) })
    }

    /// The elements of a type that `elements` does not have, as they are stored.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the words have as many bytes.
        unsafe { slice::from_raw_parts(self.words.as_ptr().cast(), self.num_bytes) }
    }

    /// Null where there is no memory.
    unsafe fn allocate(info: &ffi::tenon_tensor_info) -> Option<Tensor> {
        let count = info.num_bytes / size_of::<u64>() + 1;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize(count, 0);
        let shape = copied(info.dims, info.rank as usize).into_iter().filter_map(|size| usize::try_from(size).ok());
        Some(Tensor {
            data_type: DataType::from_c(info.type_),
            shape: shape.collect(),
            words,
            num_bytes: info.num_bytes,
        })
    }
}

/// The outputs of one run: a place for each, which the allocator fills.
pub(crate) struct Outputs {
    places: Vec<Option<Tensor>>,
}

impl Outputs {
    pub(crate) fn new(count: usize) -> Outputs {
        Outputs { places: vec![None; count] }
    }

    /// Options that use these outputs, which must not move or be used otherwise during the run.
    pub(crate) fn run_options(&mut self) -> ffi::tenon_run_options {
        ffi::tenon_run_options {
            struct_size: size_of::<ffi::tenon_run_options>(),
            session: ptr::null_mut(),
            cancellation: ptr::null_mut(),
            allocate: Some(allocate),
            allocate_self: (self as *mut Outputs).cast(),
        }
    }

    pub(crate) fn take(self) -> Result<Vec<Tensor>> {
        let missing = || invalid("the run did not write all outputs".to_string());
        self.places.into_iter().map(|place| place.ok_or_else(missing)).collect()
    }
}

/// A tenon_output_allocator. Nothing in it panics.
unsafe extern "C" fn allocate(this: *mut c_void, index: usize, info: *const ffi::tenon_tensor_info) -> *mut c_void {
    // SAFETY: `this` is what run_options passed, the run has it to itself; `info` is valid during the call.
    let outputs = &mut *this.cast::<Outputs>();
    match outputs.places.get_mut(index) {
        Some(place) => {
            *place = Tensor::allocate(&*info);
            place.as_mut().map_or(ptr::null_mut(), |tensor| tensor.words.as_mut_ptr().cast())
        }
        None => ptr::null_mut(),
    }
}
