// SPDX-License-Identifier: Apache-2.0
//! Finds libtenon in the folder that the environment variable TENON_LIB_DIR names.

use std::env;
use std::path::PathBuf;
use std::process::exit;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TENON_LIB_DIR");
    let file = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("windows") => "tenon.lib",
        Ok("macos") => "libtenon.dylib",
        _ => "libtenon.so",
    };
    let given = match env::var_os("TENON_LIB_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => refuse(&format!(
            "the environment variable TENON_LIB_DIR is not set; set it to the full path of the folder with {file}"
        )),
    };
    let folder = match given.canonicalize() {
        Ok(folder) if folder.join(file).is_file() => folder,
        _ => refuse(&format!(
            "there is no {file} in TENON_LIB_DIR, '{}'; build Tenon, and give the full path of its folder of libraries",
            given.display()
        )),
    };
    println!("cargo:rerun-if-changed={}", folder.join(file).display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=tenon");
    if env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
}

fn refuse(reason: &str) -> ! {
    eprintln!("error: {reason}");
    exit(1);
}
