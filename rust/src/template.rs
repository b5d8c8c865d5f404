//! Chat templates by MiniJinja, as Hugging Face's transformers sets Jinja2 up for them.

use crate::{guarded, python, slice, AxialText};
use minijinja::value::{Value, ValueKind};
use minijinja::{syntax::SyntaxConfig, AutoEscape, Environment, Error, ErrorKind};
use std::ffi::c_int;

/// Writes the time now, by a format of strftime, into a buffer; returns the length, or 0 for a format that it cannot.
pub type Clock = unsafe extern "C" fn(format: *const u8, size: usize, to: *mut u8, room: usize) -> usize;

// What axial_template_render returns besides 0; the same numbers as in axial_rust.h.
const SYNTAX: c_int = 1;
const RENDERING: c_int = 2;
const RAISED: c_int = 3;
const FUEL: c_int = 4;
const PANIC: c_int = 5;

struct Failure {
    kind: c_int,
    line: usize,
    text: String,
}

/// What raise_exception says, found again as the source of an Error.
#[derive(Debug)]
struct Raised(String);
impl std::fmt::Display for Raised {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}
impl std::error::Error for Raised {}

fn failure(error: &Error, kind: c_int) -> Failure {
    let mut failure = Failure { kind, line: error.line().unwrap_or(0), text: error.kind().to_string() };
    if let Some(detail) = error.detail() {
        failure.text = format!("{}: {detail}", failure.text);
    }
    if error.kind() == ErrorKind::OutOfFuel {
        failure.kind = FUEL;
    }
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(Raised(text)) = cause.downcast_ref() {
            return Failure { kind: RAISED, text: text.clone(), ..failure };
        }
        if let Some(inner) = cause.downcast_ref::<Error>() {
            if inner.kind() == ErrorKind::OutOfFuel {
                failure.kind = FUEL;
            }
            failure.line = inner.line().unwrap_or(failure.line);
        }
        failure.text = format!("{}: {cause}", failure.text);
        source = cause.source();
    }
    failure
}

/// transformers knows {% generation %} blocks, which mark what to train on: here they are always-true conditions.
fn without_generation_blocks(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at + 2);
        let end = tag.find("%}").unwrap_or(tag.len());
        let (inside, behind) = tag.split_at(end);
        result.push_str(before);
        match inside.trim_matches(['-', '+']).trim() {
            "generation" => result.push_str(&inside.replacen("generation", "if true", 1)),
            "endgeneration" => result.push_str(&inside.replacen("endgeneration", "endif", 1)),
            _ => result.push_str(inside),
        }
        rest = behind;
    }
    result + rest
}

fn time_now(clock: Clock, format: &str) -> Result<String, Error> {
    let mut buffer = vec![0; 256];
    // SAFETY: the caller's function writes at most `room` bytes.
    let size = unsafe { clock(format.as_ptr(), format.len(), buffer.as_mut_ptr(), buffer.len()) };
    buffer.truncate(size);
    String::from_utf8(buffer).map_err(|_| Error::new(ErrorKind::InvalidOperation, "strftime_now: not UTF-8"))
}

fn environment(fuel: u64, clock: Clock) -> Result<Environment<'static>, Error> {
    const DEEPEST: usize = 200;
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_fuel(Some(fuel));
    env.set_recursion_limit(DEEPEST);
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.add_filter("tojson", python::to_json);
    // What Python answers: texts and mappings are sequences too, and None is not iterable.
    env.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::Seq | ValueKind::String | ValueKind::Map)
    });
    env.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    env.add_filter("string", |value: Value| match f64::try_from(value.clone()) {
        Ok(number) if value.kind() == ValueKind::Number && !value.is_integer() => {
            Value::from(python::float_text(number))
        }
        _ if value.kind() == ValueKind::String => value,
        _ => Value::from(value.to_string()),
    });
    env.set_formatter(|out, state, value| {
        if value.kind() == ValueKind::Number && !value.is_integer() {
            let number = f64::try_from(value.clone())?;
            if number.is_finite() {
                return out.write_str(&python::float_text(number)).map_err(Error::from);
            }
        }
        minijinja::escape_formatter(out, state, value)
    });
    env.set_unknown_method_callback(|state, value, method, arguments| {
        let ours = value.as_str().and_then(|text| python::string_method(text, method, arguments));
        ours.unwrap_or_else(|| minijinja_contrib::pycompat::unknown_method_callback(state, value, method, arguments))
    });
    env.add_function("raise_exception", |text: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "raise_exception").with_source(Raised(text)))
    });
    env.add_function("strftime_now", move |format: String| time_now(clock, &format));
    Ok(env)
}

fn render(template: &str, context: &str, fuel: &mut u64, clock: Clock) -> Result<String, Failure> {
    let context: Value = serde_json::from_str(context).map_err(|error| Failure {
        kind: RENDERING,
        line: 0,
        text: format!("the messages: {error}"),
    })?;
    let template = without_generation_blocks(template);
    let env = environment(*fuel, clock).map_err(|error| failure(&error, SYNTAX))?;
    let compiled = env.template_from_named_str("chat", &template).map_err(|error| failure(&error, SYNTAX))?;
    let rendered = compiled.render_captured(context).map_err(|error| failure(&error, RENDERING))?;
    *fuel = rendered.state().fuel_levels().map_or(0, |(_, remaining)| remaining);
    Ok(rendered.into_output())
}

/// See axial_rust.h.
///
/// # Safety
/// Pointers are valid for their sizes; fuel, line and out can be written.
#[no_mangle]
pub unsafe extern "C" fn axial_template_render(
    template: *const u8,
    template_size: usize,
    context: *const u8,
    context_size: usize,
    clock: Clock,
    fuel: *mut u64,
    line: *mut usize,
    out: *mut AxialText,
) -> c_int {
    let rendered = guarded(|| {
        let template = String::from_utf8_lossy(slice(template, template_size));
        let context = String::from_utf8_lossy(slice(context, context_size));
        render(&template, &context, &mut *fuel, clock)
    });
    let failure = match rendered {
        Ok(Ok(text)) => {
            AxialText::put(text, out);
            return 0;
        }
        Ok(Err(failure)) => failure,
        Err(text) => Failure { kind: PANIC, line: 0, text },
    };
    line.write(failure.line);
    AxialText::put(failure.text, out);
    failure.kind
}
