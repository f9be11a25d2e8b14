//! Reading a configuration: the entries of its `mcpServers` map (`servers` in some clients), with the place of each word.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The names of the map, in the order in which they are looked for.
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

/// An entry of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its server.
    pub server: Server,
}

impl Stdio {
    /// Program and arguments.
    pub fn words(&self) -> Vec<&Word> {
        std::iter::once(&self.command).chain(self.args.iter().flat_map(|args| &args.words)).collect()
    }

    /// Where the server's own command begins among [`words`](Self::words), if `linegate run` stands in front of it.
    pub fn behind_linegate(&self) -> Option<usize> {
        let words = self.words();
        let separator = words.iter().position(|word| word.value == "--")?;
        let names_it = |word: &Word| {
            let name = word.value.rsplit(['/', '\\']).next().unwrap_or_default();
            name == "linegate" || name == "linegate.exe"
        };
        let before = words.get(..separator)?;
        let runs =
            before.windows(2).any(|pair| matches!(pair, [first, second] if names_it(first) && second.value == "run"));
        runs.then_some(separator + 1)
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
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| format!("this is neither JSON nor JSON with comments: {error}"))?;
    let Some(Value::Object(root)) = &parsed.value else { return Err("this is no JSON object".to_owned()) };
    for map in MAPS {
        match member(root, map)?.map(|member| &member.value) {
            Some(Value::Object(servers)) => {
                return servers.properties.iter().map(|property| entry(servers, property)).collect();
            }
            Some(_) => return Err(format!("{map} is no object")),
            None => {}
        }
    }
    Err(format!("there is no map of servers, {}", MAPS.join(" or ")))
}

/// The entry of that name.
///
/// # Errors
///
/// As [`read`]; or there is no such entry.
pub fn find(text: &str, name: &str) -> Result<Server, String> {
    let entries = read(text)?;
    let names: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    let found = entries.into_iter().find(|entry| entry.name == name);
    found.map(|entry| entry.server).ok_or_else(|| format!("there is no server {name}, but {}", names.join(", ")))
}

/// The member of that name. Readers of JSON take the first of two or the last: nobody knows which is meant.
fn member<'o, 't>(object: &'o Object<'t>, name: &str) -> Result<Option<&'o ObjectProp<'t>>, String> {
    let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("{name} stands twice")),
        (found, None) => Ok(found),
    }
}

fn entry(servers: &Object<'_>, property: &ObjectProp<'_>) -> Result<Entry, String> {
    let name = property.name.as_str().to_owned();
    member(servers, &name)?;
    let server = match &property.value {
        Value::Object(entry) => server(entry).unwrap_or_else(Server::Unclear),
        _ => Server::Unclear("it is no object".to_owned()),
    };
    Ok(Entry { name, server })
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
    let mut variables = Vec::new();
    for member in &object.properties {
        let value = match &member.value {
            Value::StringLit(text) => text.value.to_string(),
            Value::NumberLit(number) => number.value.to_owned(),
            Value::BooleanLit(boolean) => boolean.value.to_string(),
            Value::NullKeyword(_) => continue,
            _ => return Err(format!("{} in {name} is no string", member.name.as_str())),
        };
        variables.push((member.name.as_str().to_owned(), value));
    }
    Ok(variables)
}
