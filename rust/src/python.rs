//! What templates expect of Python: json.dumps, repr of a float, and the methods of str that minijinja-contrib lacks.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

/// Python's repr of a float: the shortest digits that read back as the same number, with an exponent below 1e-4 and
/// from 1e16 on.
pub fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value == 0.0 || (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

struct Json {
    indent: Option<usize>,
    between_items: String,
    behind_key: String,
    sort_keys: bool,
    ascii: bool,
}

impl Json {
    fn string(&self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if (c as u32) < 0x20 || (self.ascii && (c as u32) > 0x7e) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }

    fn line(&self, depth: usize, out: &mut String) {
        if let Some(indent) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn key(&self, key: &Value, depth: usize, state: &State, out: &mut String) -> Result<(), Error> {
        if let Some(text) = key.as_str() {
            self.string(text, out);
        } else {
            let mut text = String::new();
            self.value(key, depth, state, &mut text)?;
            self.string(&text, out);
        }
        out.push_str(&self.behind_key);
        Ok(())
    }

    fn parts(&self, value: &Value, depth: usize, state: &State, out: &mut String) -> Result<(), Error> {
        let object = value.kind() == ValueKind::Map;
        let mut parts: Vec<Value> = value.try_iter()?.collect();
        if object && self.sort_keys {
            parts.sort();
        }
        out.push(if object { '{' } else { '[' });
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                out.push_str(&self.between_items);
            }
            self.line(depth + 1, out);
            if object {
                self.key(part, depth + 1, state, out)?;
                self.value(&value.get_item(part)?, depth + 1, state, out)?;
            } else {
                self.value(part, depth + 1, state, out)?;
            }
        }
        if !parts.is_empty() {
            self.line(depth, out);
        }
        out.push(if object { '}' } else { ']' });
        Ok(())
    }

    fn value(&self, value: &Value, depth: usize, state: &State, out: &mut String) -> Result<(), Error> {
        const DEEPEST: usize = 200;
        if depth > DEEPEST {
            return Err(invalid("tojson: nested more than 200 deep"));
        }
        state.consume_fuel(1)?;
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number if value.is_integer() => out.push_str(&value.to_string()),
            ValueKind::Number => out.push_str(&float_text(f64::try_from(value.clone())?)),
            ValueKind::String => self.string(value.as_str().unwrap_or_default(), out),
            ValueKind::Map | ValueKind::Seq | ValueKind::Iterable => self.parts(value, depth, state, out)?,
            kind => return Err(invalid(format!("tojson: {kind} is not JSON"))),
        }
        Ok(())
    }
}

fn invalid(text: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}

/// The filter tojson as chat templates know it: json.dumps(value, ensure_ascii=False, ...).
pub fn to_json(state: &State, value: &Value, options: Kwargs) -> Result<Value, Error> {
    const WIDEST: usize = 64; // the template is somebody else's
    let indent: Option<Value> = options.get("indent")?;
    let separators: Option<Value> = options.get("separators")?;
    let ascii: Option<bool> = options.get("ensure_ascii")?;
    let sort_keys: Option<bool> = options.get("sort_keys")?;
    options.assert_all_used()?;
    let indent = match indent.filter(|indent| !indent.is_none()) {
        Some(indent) => Some(usize::try_from(indent)?.min(WIDEST)),
        None => None,
    };
    let mut json = Json {
        indent,
        between_items: if indent.is_some() { "," } else { ", " }.into(),
        behind_key: ": ".into(),
        sort_keys: sort_keys.unwrap_or(false),
        ascii: ascii.unwrap_or(false),
    };
    if let Some(separators) = separators.filter(|separators| !separators.is_none()) {
        json.between_items = separators.get_item_by_index(0)?.to_string();
        json.behind_key = separators.get_item_by_index(1)?.to_string();
    }
    let mut text = String::new();
    json.value(value, 0, state, &mut text)?;
    Ok(Value::from(text))
}

fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    texts.into_iter().map(Value::from).collect::<Vec<Value>>().into()
}

/// A method of str that minijinja-contrib does not have, or nothing.
pub fn string_method(text: &str, method: &str, arguments: &[Value]) -> Option<Result<Value, Error>> {
    let first = arguments.first()?.as_str()?;
    if first.is_empty() && !method.starts_with("remove") {
        return None;
    }
    Some(Ok(match method {
        "removeprefix" => Value::from(text.strip_prefix(first).unwrap_or(text)),
        "removesuffix" => Value::from(text.strip_suffix(first).unwrap_or(text)),
        "rsplit" => {
            let most = arguments.get(1).and_then(Value::as_i64).unwrap_or(-1);
            let most = usize::try_from(most).map_or(usize::MAX, |most| most.saturating_add(1));
            let mut parts: Vec<&str> = text.rsplitn(most, first).collect();
            parts.reverse();
            list(parts)
        }
        "partition" => match text.split_once(first) {
            Some((before, behind)) => list([before, first, behind]),
            None => list([text, "", ""]),
        },
        "rpartition" => match text.rsplit_once(first) {
            Some((before, behind)) => list([before, first, behind]),
            None => list(["", "", text]),
        },
        "index" => match text.find(first) {
            Some(at) => Value::from(text[..at].chars().count()),
            None => return Some(Err(invalid("index: the text is not there"))),
        },
        _ => return None,
    }))
}
