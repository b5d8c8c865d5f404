//! What axial takes from crates, behind the C interface of axial_rust.h: chat templates and constrained decoding.
//!
//! Nothing here prints or ends the process: errors and panics come back as texts.

#[cfg(feature = "grammar")]
mod grammar;
#[cfg(feature = "template")]
mod python;
#[cfg(feature = "template")]
mod template;

use std::panic::{catch_unwind, AssertUnwindSafe};

/// A text that the caller owns until axial_text_free.
#[repr(C)]
pub struct AxialText {
    bytes: *mut u8,
    size: usize,
}

impl AxialText {
    fn put(text: impl Into<Vec<u8>>, to: *mut AxialText) {
        let bytes: Box<[u8]> = text.into().into_boxed_slice();
        let size = bytes.len();
        // SAFETY: callers pass a place for a text.
        unsafe { to.write(AxialText { bytes: Box::into_raw(bytes).cast(), size }) };
    }
}

/// # Safety
/// The text comes from a function of this library and is freed once.
#[no_mangle]
pub unsafe extern "C" fn axial_text_free(text: AxialText) {
    if !text.bytes.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(text.bytes, text.size)));
    }
}

/// # Safety
/// `bytes` points to `size` bytes that live as long as the result is used; it may be null where `size` is 0.
unsafe fn slice<'a, T>(first: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(first, size)
    }
}

/// Runs what may panic; a panic becomes a text. No panic may cross into C++, and none is printed.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| {
        let text = cause.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| cause.downcast_ref::<String>().cloned());
        format!("the Rust component has panicked: {}", text.unwrap_or_default())
    })
}
