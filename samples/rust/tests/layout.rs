// SPDX-License-Identifier: Apache-2.0
//! Structs and numbers of src/ffi.rs are those of the C headers: the C compiler that links Rust's programs (or that of
//! the environment variable CC) tells sizes and offsets.

use std::env;
use std::fmt::Write;
use std::fs;
use std::mem::{size_of, MaybeUninit};
use std::path::Path;
use std::process::Command;
use std::ptr::addr_of;

use tenon::ffi::*;

/// Lines "name value" of Rust, and the statements of C that print the same.
#[derive(Default)]
struct Facts {
    rust: String,
    c: String,
}

impl Facts {
    fn add(&mut self, expression: &str, value: i128) {
        writeln!(self.rust, "{expression} {value}").unwrap();
        writeln!(self.c, "    printf(\"%s %lld\\n\", \"{expression}\", (long long)({expression}));").unwrap();
    }
}

macro_rules! add_struct {
    ($facts:expr, $name:ident: $($field:ident $(= $c_name:literal)?),*) => {{
        let fields = [$([$($c_name,)? stringify!($field)][0]),*];
        let size = size_of::<$name>();
        if fields[0] == "struct_size" {
            $facts.add(&format!("(sizeof({}) >= {size})", stringify!($name)), 1); // it may grow at its end
        } else {
            $facts.add(&format!("sizeof({})", stringify!($name)), size as i128);
        }
        let place = MaybeUninit::<$name>::uninit();
        $(
            // SAFETY: the address of a member is taken; nothing is read.
            let offset = unsafe { addr_of!((*place.as_ptr()).$field) as usize } - place.as_ptr() as usize;
            let field = [$($c_name,)? stringify!($field)][0];
            $facts.add(&format!("offsetof({}, {field})", stringify!($name)), offset as i128);
        )*
    }};
}

#[test]
fn structs_and_numbers_are_those_of_c() {
    let mut facts = Facts::default();
    add_struct!(facts, tenon_tensor_info: struct_size, type_ = "type", rank, dims, num_bytes, num_scales, scales,
                num_zero_points, zero_points, quantization_dim, is_constant);
    add_struct!(facts, tenon_option: key, value);
    add_struct!(facts, tenon_model_options: struct_size, num_backends, backends, num_threads, num_options, options);
    add_struct!(facts, tenon_tensor: data, num_bytes, type_ = "type", rank, dims, import_id, reserved);
    add_struct!(facts, tenon_run_options: struct_size, session, cancellation, allocate, allocate_self);
    facts.add("TENON_C_MAJOR", TENON_C_MAJOR.into());
    facts.add("TENON_OK", TENON_OK.into());
    facts.add("TENON_IMPORT_FAILED", 12); // the last of Status
    facts.add("TENON_COMPLEX128", 19); // the last of DataType
    facts.add("TENON_ANY_TYPE", TENON_ANY_TYPE.into());
    facts.add("TENON_UNKNOWN_RANK", TENON_UNKNOWN_RANK.into());

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    let text =
        format!("#include <tenon/c/tenon.h>\n#include <stdio.h>\n\nint main(void)\n{{\n{}    return 0;\n}}\n", facts.c);
    fs::write(&source, text).unwrap();
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let status = Command::new(&compiler).arg("-I").arg(include).arg(source).arg("-o").arg(&program).status();
    assert!(status.as_ref().map_or(false, |status| status.success()), "{compiler}: {status:?}");
    let output = Command::new(program).output().unwrap();
    assert_eq!(facts.rust, String::from_utf8(output.stdout).unwrap());
}
