//! Reading a configuration: the entries of its maps `mcpServers` and `servers`, with the place of each word.

use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The names of the maps. Most clients read the first, some the second; entries of either may be started.
const MAPS: [&str; 2] = ["mcpServers", "servers"];

/// A string of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub value: String,
    /// Where it stands, quotes included.
    pub place: Range<usize>,
}

/// The arguments of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Where the member stands, name included.
    pub member: Range<usize>,
    /// Where its value stands, brackets included.
    pub place: Range<usize>,
    /// The words.
    pub words: Vec<Word>,
}

/// A server that is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// Where the member `command` begins.
    pub member: usize,
    /// The program.
    pub command: Word,
    /// Its arguments, where there is such a member.
    pub args: Option<Arguments>,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: Option<String>,
}

/// What an entry says of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// A command that is started.
    Stdio(Stdio),
    /// A server elsewhere: its address, and what is sent along.
    Url(String, Vec<(String, String)>),
    /// Neither: why.
    Unclear(String),
}

/// A text in an entry: a string, number or the like, however deep it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The names of the members in which it stands, from outside.
    pub within: Vec<String>,
    /// What it says.
    pub value: String,
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The map.
    pub map: &'static str,
    /// Its name.
    pub name: String,
    /// Its server.
    pub server: Server,
    /// Whether it is switched off, so that its client doesn't start it.
    pub is_off: bool,
    /// All that it says, understood or not.
    pub texts: Vec<Text>,
}

impl Stdio {
    /// Program and arguments.
    pub fn words(&self) -> Vec<&Word> {
        std::iter::once(&self.command).chain(self.args.iter().flat_map(|args| &args.words)).collect()
    }

    /// What they say.
    pub fn texts(&self) -> Vec<&str> {
        self.words().into_iter().map(|word| word.value.as_str()).collect()
    }
}

/// Reads the entries of the text, in its order.
///
/// # Errors
///
/// It is no JSON, or has no map of servers, or one that can be read in two ways.
pub fn read(text: &str) -> Result<Vec<Entry>, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let what = "this is neither JSON nor JSON with comments";
        match error.kind() {
            ParseErrorKind::UnterminatedArray
            | ParseErrorKind::UnterminatedCommentBlock
            | ParseErrorKind::UnterminatedObject => {
                let (line, column) = (error.line_display(), error.column_display());
                format!("{what}: it ends inside of what begins on line {line} column {column}")
            }
            _ => format!("{what}: {error}"),
        }
    })?;
    let Some(Value::Object(root)) = &parsed.value else { return Err("this is no JSON object".to_owned()) };
    let mut entries = None;
    for map in MAPS {
        match member(root, map)?.map(|member| &member.value) {
            Some(Value::Object(servers)) => entries.get_or_insert_with(Vec::new).extend(entries_of(map, servers)?),
            Some(_) if entries.is_none() => return Err(format!("{map} is no object")),
            // Beside a map of servers it is something else.
            Some(_) | None => {}
        }
    }
    entries.ok_or_else(|| format!("there is no map of servers, {}", MAPS.join(" or ")))
}

/// The entry of that name.
///
/// # Errors
///
/// As [`read`]; or there is no such entry, or two.
pub fn find(text: &str, name: &str) -> Result<Server, String> {
    let entries = read(text)?;
    let mut found = entries.iter().filter(|entry| entry.name == name);
    match (found.next(), found.next()) {
        (None, _) => Err(missing(&entries, name)),
        (Some(entry), None) => Ok(entry.server.clone()),
        (Some(_), Some(_)) => Err(format!("{name} stands in {}: take one of them away", MAPS.join(" and in "))),
    }
}

/// That there is no entry of that name, and which there are.
pub fn missing(entries: &[Entry], name: &str) -> String {
    match entries {
        [] => format!("there is no server {name}, and no other"),
        _ => {
            let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
            format!("there is no server {name}, but {}", names.join(", "))
        }
    }
}

/// The member of that name. Readers of JSON take the first of two or the last: nobody knows which is meant.
fn member<'o, 't>(object: &'o Object<'t>, name: &str) -> Result<Option<&'o ObjectProp<'t>>, String> {
    let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("{name} stands twice")),
        (found, None) => Ok(found),
    }
}

/// A name that stands twice in the object, if there is one.
fn twice<'o>(object: &'o Object<'_>) -> Option<&'o str> {
    let mut seen = HashSet::new();
    object.properties.iter().map(|member| member.name.as_str()).find(|name| !seen.insert(*name))
}

fn entries_of(map: &'static str, servers: &Object<'_>) -> Result<Vec<Entry>, String> {
    if let Some(name) = twice(servers) {
        return Err(format!("{name} stands twice"));
    }
    let entry = |property: &ObjectProp<'_>| {
        let mut texts = Vec::new();
        gather(&property.value, &mut Vec::new(), &mut texts);
        let (server, is_off) = match &property.value {
            Value::Object(entry) => (server(entry).unwrap_or_else(Server::Unclear), is_off(entry)),
            _ => (Server::Unclear("it is no object".to_owned()), false),
        };
        Entry { map, name: property.name.as_str().to_owned(), server, is_off, texts }
    };
    Ok(servers.properties.iter().map(entry).collect())
}

/// As clients write it that let their users switch a server off.
fn is_off(entry: &Object<'_>) -> bool {
    let says = |name: &str, means: bool| {
        let mut values = entry.properties.iter().filter(|member| member.name.as_str() == name);
        values.any(|member| matches!(&member.value, Value::BooleanLit(value) if value.value == means))
    };
    says("disabled", true) || says("enabled", false)
}

/// All that stands in this value, in its order.
fn gather(value: &Value<'_>, within: &mut Vec<String>, texts: &mut Vec<Text>) {
    match value {
        Value::Object(object) => {
            for member in &object.properties {
                within.push(member.name.as_str().to_owned());
                gather(&member.value, within, texts);
                within.pop();
            }
        }
        Value::Array(array) => array.elements.iter().for_each(|element| gather(element, within, texts)),
        _ => texts.extend(scalar(value).map(|value| Text { within: within.clone(), value })),
    }
}

/// A string, number or truth value as a variable would have it.
fn scalar(value: &Value<'_>) -> Option<String> {
    match value {
        Value::StringLit(text) => Some(text.value.to_string()),
        Value::NumberLit(number) => Some(number.value.to_owned()),
        Value::BooleanLit(boolean) => Some(boolean.value.to_string()),
        _ => None,
    }
}

fn server(entry: &Object<'_>) -> Result<Server, String> {
    let text = |name: &str| match member(entry, name)?.map(|member| &member.value) {
        Some(Value::StringLit(text)) => Ok(Some(text.value.to_string())),
        Some(_) => Err(format!("{name} is no string")),
        None => Ok(None),
    };
    let Some(command) = member(entry, "command")? else {
        let address = match text("url")? {
            None => text("serverUrl")?,
            address => address,
        };
        let address = address.ok_or("it has neither a command nor a url")?;
        return Ok(Server::Url(address, variables(entry, "headers")?));
    };
    let Some(word) = word(&command.value) else { return Err("command is no string".to_owned()) };
    let args = match member(entry, "args")? {
        None => None,
        Some(member) => match &member.value {
            Value::Array(array) => Some(Arguments { member: range(member), place: range(array), words: words(array)? }),
            _ => return Err("args is no array".to_owned()),
        },
    };
    Ok(Server::Stdio(Stdio {
        member: command.start(),
        command: word,
        args,
        env: variables(entry, "env")?,
        cwd: text("cwd")?,
    }))
}

fn words(array: &Array<'_>) -> Result<Vec<Word>, String> {
    array.elements.iter().map(|element| word(element).ok_or_else(|| "a word of args is no string".to_owned())).collect()
}

fn word(value: &Value<'_>) -> Option<Word> {
    let text = value.as_string_lit()?;
    Some(Word { value: text.value.to_string(), place: range(text) })
}

fn range(of: &impl Ranged) -> Range<usize> {
    of.start()..of.end()
}

/// The members of an object of texts; a null takes a variable away, which is the same as not to set it.
fn variables(entry: &Object<'_>, name: &str) -> Result<Vec<(String, String)>, String> {
    let Some(member) = member(entry, name)? else { return Ok(Vec::new()) };
    let Value::Object(object) = &member.value else { return Err(format!("{name} is no object")) };
    if let Some(twice) = twice(object) {
        return Err(format!("{twice} stands twice in {name}"));
    }
    let set = object.properties.iter().filter(|member| !matches!(member.value, Value::NullKeyword(_)));
    set.map(|member| {
        let variable = member.name.as_str();
        let value = scalar(&member.value).ok_or_else(|| format!("{variable} in {name} is no string"))?;
        Ok((variable.to_owned(), value))
    })
    .collect()
}
