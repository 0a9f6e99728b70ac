// SPDX-License-Identifier: Apache-2.0
//! The wrapper with the models of samples/digits: right results, other shapes, threads, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tenon::{DataType, Element, Error, Input, Model, Options, Quantization, Runtime, Status, Tensor};

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn digits(kind: &str) -> Model {
    let options = Options { threads: 1, ..Options::default() };
    let path = in_repository(&format!("samples/digits/digits_{kind}.tflite"));
    Model::from_file(&Runtime::new().unwrap(), path, &options).unwrap()
}

/// Pictures of 8 x 8 gray pixels, one below the other in a PGM file of text.
fn pictures() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(in_repository("tests/package/armnn/digits.pgm")).unwrap();
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let numbers: Vec<u8> = words.skip(4).map(|word| word.parse().unwrap()).collect(); // "P2", two sizes, 255
    assert_eq!(numbers.len(), 20 * 64);
    numbers.chunks_exact(64).map(<[u8]>::to_vec).collect()
}

/// What each picture is to give.
fn expected<T: std::str::FromStr>(kind: &str) -> Vec<Vec<T>> {
    let text = fs::read_to_string(in_repository(&format!("samples/digits/expected_{kind}.txt"))).unwrap();
    text.lines().map(|line| line.split(' ').map(|number| number.parse().ok().unwrap()).collect()).collect()
}

fn floats(picture: &[u8]) -> Vec<f32> {
    picture.iter().map(|&pixel| f32::from(pixel) / 255.0).collect()
}

fn only<T: Element>(outputs: &[Tensor]) -> &[T] {
    assert_eq!(outputs.len(), 1);
    outputs[0].elements().unwrap()
}

fn refused<T>(result: Result<T, Error>, status: Status, text: &str) {
    let error = result.err().expect("it was not refused");
    assert_eq!(error.status(), status, "{error}");
    assert!(error.text().contains(text), "{error}");
}

#[test]
fn inputs_and_outputs_are_described() {
    let model = digits("int8");
    let (image, scores) = (&model.inputs()[0], &model.outputs()[0]);
    assert_eq!((model.inputs().len(), model.outputs().len()), (1, 1));
    assert_eq!((image.name.as_str(), scores.name.as_str()), ("image", "Identity"));
    assert_eq!(image.data_type, DataType::QAsymmS8);
    assert_eq!(image.shape, Some(vec![Some(1), Some(8), Some(8), Some(1)]));
    assert_eq!(image.num_bytes, Some(64));
    let quantization = Quantization { scales: vec![1.0 / 255.0], zero_points: vec![-128], axis: None };
    assert_eq!(image.quantization, Some(quantization));
    assert_eq!(digits("float").inputs()[0].quantization, None);
}

#[test]
fn floats_are_classified() {
    let model = digits("float");
    let expected = expected::<f32>("float");
    for (picture, expected) in pictures().iter().zip(&expected) {
        let outputs = model.run(&[Input::new(&floats(picture))]).unwrap();
        assert_eq!((outputs[0].data_type(), outputs[0].shape()), (DataType::Float32, &[1, 10][..]));
        for (score, expected) in only::<f32>(&outputs).iter().zip(expected) {
            assert!((score - expected).abs() < 1e-5, "{score} is not {expected}");
        }
    }
}

#[test]
fn bytes_are_classified_exactly() {
    let model = digits("int8");
    for (picture, expected) in pictures().iter().zip(&expected::<i8>("int8")) {
        let stored: Vec<i8> = picture.iter().map(|&pixel| (i16::from(pixel) - 128) as i8).collect();
        let outputs = model.run(&[Input::new(&stored)]).unwrap();
        assert_eq!(only::<i8>(&outputs), &expected[..]);
        let bytes: Vec<u8> = stored.iter().map(|&one| one as u8).collect();
        let outputs = model.run(&[Input::from_bytes(&bytes)]).unwrap();
        assert_eq!(only::<i8>(&outputs), &expected[..]);
        assert_eq!(outputs[0].bytes().len(), 10);
    }
}

#[test]
fn a_model_of_bytes_outlives_them_and_its_runtime() {
    let model = {
        let bytes = fs::read(in_repository("samples/digits/digits_float.tflite")).unwrap();
        let options = Options { backends: vec!["CpuRef".to_string()], threads: 1, ..Options::default() };
        Model::from_bytes(&Runtime::new().unwrap(), &bytes, &options).unwrap()
    };
    let outputs = model.run(&[Input::new(&floats(&pictures()[0]))]).unwrap();
    assert!((only::<f32>(&outputs)[7] - expected::<f32>("float")[0][7]).abs() < 1e-5);
}

#[test]
fn inputs_may_have_other_shapes() {
    let runtime = Runtime::new().unwrap();
    let path = in_repository("python/tests/data/signatures.tflite");
    let model = Model::from_file(&runtime, path, &Options::default()).unwrap();
    let numbers = [1.5_f32, -1.5, 0.25, 7.0, -0.5, 2.0];
    for count in [1, 4, 6] {
        let outputs = model.run(&[Input::new(&numbers[..count]).with_shape(&[count])]).unwrap();
        assert_eq!(outputs[0].shape(), [count]);
        let floors: Vec<f32> = numbers[..count].iter().map(|number| number.floor()).collect();
        assert_eq!(only::<f32>(&outputs), &floors[..]);
    }
}

#[test]
fn threads_share_a_model() {
    let model = digits("float");
    let pictures: Vec<Vec<f32>> = pictures().iter().map(|picture| floats(picture)).collect();
    let run = || -> Vec<Vec<f32>> {
        pictures.iter().map(|picture| only::<f32>(&model.run(&[Input::new(picture)]).unwrap()).to_vec()).collect()
    };
    let alone = run();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn faulty_inputs_of_a_run_are_refused() {
    let model = digits("float");
    let numbers = [0.0_f32; 65];
    refused(model.run(&[Input::new(&numbers)]), Status::InvalidArgument, "image");
    refused(model.run(&[Input::from_bytes(&[0; 255])]), Status::InvalidArgument, "image");
    let (right, wrong) = (Input::new(&numbers[..64]), Input::new(&[0_i8; 64]));
    refused(model.run(&[wrong]), Status::InvalidArgument, "input 'image' is of Float32");
    refused(model.run(&[right.with_shape(&[1, 8])]), Status::InvalidArgument, "image");
    refused(model.run(&[right.with_shape(&[1, 8, 8])]), Status::InvalidLayer, "it must have 4 dimensions");
    refused(model.run(&[right.with_shape(&[1, 8, 8, usize::MAX])]), Status::InvalidArgument, "too large");
    refused(model.run(&[]), Status::InvalidArgument, "1 input");
    refused(model.run(&[right, right]), Status::InvalidArgument, "1 input");
    let outputs = model.run(&[right]).unwrap();
    refused(outputs[0].elements::<i32>(), Status::InvalidArgument, "the tensor is of Float32");
}

#[test]
fn faulty_models_are_refused() {
    let runtime = Runtime::new().unwrap();
    let default = Options::default();
    refused(Model::from_file(&runtime, "missing.tflite", &default), Status::NotFound, "missing.tflite");
    refused(Model::from_file(&runtime, "mis\0sing", &default), Status::InvalidArgument, "zero byte");
    refused(Model::from_bytes(&runtime, b"not a model", &default), Status::InvalidData, "no known format");
    refused(Model::from_bytes(&runtime, &[], &default), Status::InvalidData, "");

    let path = in_repository("samples/digits/digits_float.tflite");
    let options = Options { backends: vec!["Abacus".to_string()], ..Options::default() };
    refused(Model::from_file(&runtime, &path, &options), Status::InvalidArgument, "Abacus");
    let others = vec![("colour".to_string(), "red".to_string())];
    let options = Options { others, ..Options::default() };
    refused(Model::from_file(&runtime, &path, &options), Status::InvalidArgument, "colour");
}

#[test]
fn the_library_has_a_version() {
    assert_eq!(tenon::version().split('.').count(), 3);
}
