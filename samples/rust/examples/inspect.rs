// SPDX-License-Identifier: Apache-2.0
//! Tells the inputs and outputs of a model, and how long a run takes.
//!
//! usage: inspect MODEL [THREADS]     its inputs are zeros; THREADS: default 1, 0 stands for all cores

use std::env;
use std::process::exit;
use std::time::Instant;

use tenon::{Input, Model, Options, Result, Runtime, TensorInfo};

const RUNS: u32 = 20;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let threads = arguments.get(1).map_or(Some(1), |text| text.parse().ok());
    let (path, threads) = match (&arguments[..], threads) {
        ([path] | [path, _], Some(threads)) => (path, threads),
        _ => {
            eprintln!("usage: inspect MODEL [THREADS]");
            exit(2);
        }
    };
    if let Err(error) = inspect(path, threads) {
        eprintln!("inspect: {error}");
        exit(1);
    }
}

fn inspect(path: &str, threads: u32) -> Result<()> {
    let runtime = Runtime::new()?;
    let model = Model::from_file(&runtime, path, &Options { threads, ..Options::default() })?;
    println!("Tenon {}", tenon::version());
    for (kind, infos) in [("input", model.inputs()), ("output", model.outputs())] {
        for info in infos {
            println!("{kind} {}: {}", info.name, describe(info));
        }
    }

    let zeros = vec![0_u8; model.inputs().iter().filter_map(|info| info.num_bytes).max().unwrap_or(0)];
    let mut inputs = Vec::new();
    for info in model.inputs() {
        match info.num_bytes {
            Some(length) => inputs.push(Input::from_bytes(&zeros[..length])),
            None => {
                println!("the model is not run, since the size of '{}' is open", info.name);
                return Ok(());
            }
        }
    }
    model.run(&inputs)?; // the first run plans its memory
    let begin = Instant::now();
    for _ in 0..RUNS {
        model.run(&inputs)?;
    }
    println!("{:.1} us per run", begin.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS));
    Ok(())
}

fn describe(info: &TensorInfo) -> String {
    let shape = match &info.shape {
        None => "of any shape".to_string(),
        Some(shape) => {
            let sizes: Vec<String> =
                shape.iter().map(|size| size.map_or("?".to_string(), |size| size.to_string())).collect();
            format!("[{}]", sizes.join(", "))
        }
    };
    match &info.quantization {
        None => format!("{:?} {shape}", info.data_type),
        Some(of) => format!("{:?} {shape}, scales {:?}, zero points {:?}", info.data_type, of.scales, of.zero_points),
    }
}
