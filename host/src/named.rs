//! A gate's options by their names, as JSON: what configuration files, the shared vectors and faces for other languages write.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use linegate::{
    AuditKey, BadOptions, Batches, Code, Direction, ErrorId, Options, Policy, Profile, Revision, Stage, Switch,
    Switches,
};
use serde_json::{Value, json};

use crate::random_key;

const POLICIES: [(&str, Policy); 3] =
    [("close_all", Policy::CloseAll), ("close_malformed", Policy::CloseMalformed), ("continue", Policy::Continue)];
const BATCHES: [(&str, Batches); 3] =
    [("by_revision", Batches::ByRevision), ("allow", Batches::Allow), ("refuse", Batches::Refuse)];
const ERROR_IDS: [(&str, ErrorId); 3] =
    [("by_revision", ErrorId::ByRevision), ("null", ErrorId::Null), ("absent", ErrorId::Absent)];

/// The options that a JSON object names; those that it doesn't are the defaults of its direction.
///
/// Members: `from` (`client`, the default, or `server`), `profile`, `revision`, `policy`, `batches`, `error_id`: a name each.
/// `allow`, `refuse` (switches), `revisions` ([`Options::versions`]), `allow_methods`, `allow_result_types`: lists of names.
/// `max_frame`, `max_depth`, `max_keys`, `max_id`, `max_replies`: integers. `key`: 32 hex digits; random where it doesn't stand. Null is as good as
/// absent. Names that a gate keeps are kept for as long as the process runs, each once.
///
/// ```
/// let options = linegate_host::named_options(&serde_json::json!({"from": "server", "policy": "close_all"}))?;
/// assert_eq!(options.policy, linegate::Policy::CloseAll);
/// assert!(linegate_host::named_options(&serde_json::json!({"policy": "close"})).is_err());
/// # Ok::<(), linegate::BadOptions>(())
/// ```
///
/// # Errors
/// [`BadOptions`] (903): which member can't be, or isn't known.
pub fn named_options(given: &Value) -> Result<Options, BadOptions> {
    let members = given.as_object().ok_or(bad("options", "options are an object"))?;
    let text = |name| members.get(name).and_then(Value::as_str);
    let direction = match text("from") {
        None | Some("client") => Direction::FromClient,
        Some("server") => Direction::FromServer,
        Some(_) => return Err(bad("from", "from is client or server")),
    };
    let mut options = Options::new(direction, key(text("key"))?);
    // The profile first: the others move single switches and bounds of it.
    if let Some(name) = text("profile") {
        let profile = Profile::ALL.into_iter().find(|profile| profile.name() == name);
        options = options.with_profile(profile.ok_or(bad("profile", "profile is strict, data or rfc8259"))?);
    }
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        set(&mut options, name, value)?;
    }
    options.validate()?;
    Ok(options)
}

/// The set of the switches that have these names.
///
/// # Errors
/// [`BadOptions`] (903) where there is no such switch.
pub fn named_switches(names: &[impl AsRef<str>]) -> Result<Switches, BadOptions> {
    names.iter().try_fold(Switches::NONE, |set, name| {
        let found = Switch::ALL.iter().copied().find(|switch| switch.name() == name.as_ref());
        found.map(|switch| set.with(switch)).ok_or(bad("switches", "there is no switch of that name"))
    })
}

/// Every name that options, verdicts and records have, as JSON, for a face that makes types of them: `codes` (`number`, `name`,
/// `stage`, `rpc_code`, `closes`, `text`), `switches` (`name`, `code`, `text`), and lists of names: `stages`, `profiles`,
/// `revisions`, `policies`, `batches`, `error_ids`.
#[must_use]
pub fn names() -> Value {
    let code = |it: &Code| {
        json!({
            "number": it.number(), "name": it.name(), "stage": it.stage().name(), "rpc_code": it.rpc_code(),
            "closes": it.closes(), "text": it.text(),
        })
    };
    let switch = |it: &Switch| json!({"name": it.name(), "code": it.code().number(), "text": it.text()});
    json!({
        "codes": Code::ALL.iter().map(code).collect::<Vec<_>>(),
        "switches": Switch::ALL.iter().map(switch).collect::<Vec<_>>(),
        "stages": Stage::ALL.map(Stage::name),
        "profiles": Profile::ALL.map(Profile::name),
        "revisions": Revision::ALL.map(Revision::name),
        "policies": POLICIES.map(|(name, _)| name),
        "batches": BATCHES.map(|(name, _)| name),
        "error_ids": ERROR_IDS.map(|(name, _)| name),
    })
}

fn set(options: &mut Options, name: &str, value: &Value) -> Result<(), BadOptions> {
    let limits = &mut options.limits;
    match name {
        "from" | "profile" | "key" if value.is_string() => {}
        "revision" => {
            let revision = value.as_str().and_then(Revision::from_name);
            options.revision = revision.ok_or(bad("revision", "there is no revision of that name"))?;
        }
        "policy" => {
            options.policy = pick(&POLICIES, value, bad("policy", "policy is close_all, close_malformed or continue"))?;
        }
        "batches" => {
            options.batches = pick(&BATCHES, value, bad("batches", "batches is by_revision, allow or refuse"))?;
        }
        "error_id" => {
            options.error_id = pick(&ERROR_IDS, value, bad("error_id", "error_id is by_revision, null or absent"))?;
        }
        "allow" => options.allowed = options.allowed.union(named_switches(listed(value)?)?),
        "refuse" => options.allowed = options.allowed.minus(named_switches(listed(value)?)?),
        "revisions" => options.versions = listed(value)?,
        "allow_methods" => options.methods = listed(value)?,
        "allow_result_types" => options.result_types = listed(value)?,
        "max_frame" => limits.max_frame = number(value),
        "max_depth" => limits.max_depth = number(value),
        "max_keys" => limits.max_keys = number(value),
        "max_id" => limits.max_id = number(value),
        "max_replies" => {
            let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
            limits.max_replies = count.ok_or(bad("max_replies", "max_replies goes from 0 to 4294967295"))?;
        }
        _ => return Err(bad("options", "there is no option of that name, or not with a value of that kind")),
    }
    Ok(())
}

const fn bad(option: &'static str, text: &'static str) -> BadOptions {
    BadOptions { option, text }
}

fn pick<T: Copy>(all: &[(&str, T)], value: &Value, bad: BadOptions) -> Result<T, BadOptions> {
    all.iter().find(|(name, _)| value == name).map(|(_, value)| *value).ok_or(bad)
}

/// A bound; what can't be one is 0, for which [`Options::validate`] has the right words.
fn number<T: TryFrom<u64> + Default>(value: &Value) -> T {
    value.as_u64().and_then(|number| T::try_from(number).ok()).unwrap_or_default()
}

/// A list of names, kept for as long as the process runs.
fn listed(value: &Value) -> Result<&'static [&'static str], BadOptions> {
    static LISTS: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());
    let names = value.as_array().and_then(|list| list.iter().map(|name| name.as_str().map(kept_name)).collect());
    let names: Vec<&'static str> = names.ok_or(bad("names", "an option that is a list holds names"))?;
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lists.get(&*names) {
        return Ok(known);
    }
    let list: &[&str] = names.leak();
    lists.insert(list);
    Ok(list)
}

/// A name for as long as the process runs, as the gate keeps names. Each is kept once.
pub(crate) fn kept_name(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &str = name.to_owned().leak();
    names.insert(kept);
    kept
}

/// The key that is given as hex digits, or a random one.
fn key(given: Option<&str>) -> Result<AuditKey, BadOptions> {
    let Some(digits) = given else {
        return random_key().map_err(|_| bad("key", "the operating system gives no randomness for a key"));
    };
    let key = Some(digits).filter(|digits| digits.len() == 32 && !digits.starts_with('+'));
    let key = key.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    Ok(AuditKey::new(key.ok_or(bad("key", "key is 32 hex digits"))?.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(given: Value) -> &'static str {
        named_options(&given).unwrap_err().option
    }

    #[test]
    fn every_option_has_its_name() {
        let options = named_options(&json!({
            "from": "server", "profile": "strict", "revision": "2025-03-26", "policy": "continue", "batches": "allow",
            "error_id": "null", "allow": ["depth_never"], "key": null,
        }));
        assert_eq!(options.unwrap_err().option, "switches");
        let options = named_options(&json!({
            "from": "server", "profile": "strict", "revision": "2025-03-26", "policy": "continue", "batches": "allow",
            "error_id": "null", "allow": ["big_integers"], "refuse": ["separators"], "max_frame": 100, "max_depth": 7,
            "max_keys": 8, "max_id": 9, "max_replies": 0, "revisions": ["2025-03-26"], "allow_methods": ["a/b"],
            "allow_result_types": ["t"], "key": "000102030405060708090a0b0c0d0e0f",
        }))
        .unwrap();
        assert_eq!(options.direction, Direction::FromServer);
        assert_eq!(
            (options.policy, options.batches, options.error_id),
            (Policy::Continue, Batches::Allow, ErrorId::Null)
        );
        assert!(options.allowed.contains(Switch::BigIntegers) && !options.allowed.contains(Switch::Separators));
        assert!(!options.allowed.contains(Switch::CaseCollisions), "strict");
        let limits = options.limits;
        assert_eq!(
            (limits.max_frame, limits.max_depth, limits.max_keys, limits.max_id, limits.max_replies),
            (100, 7, 8, 9, 0)
        );
        assert_eq!(
            (options.versions, options.methods, options.result_types),
            (&["2025-03-26"][..], &["a/b"][..], &["t"][..])
        );
    }

    #[test]
    fn what_can_not_be_is_named() {
        for (given, option) in [
            (json!([]), "options"),
            (json!({"form": "client"}), "options"),
            (json!({"from": "peer"}), "from"),
            (json!({"from": 1}), "options"),
            (json!({"profile": "lax"}), "profile"),
            (json!({"revision": "2025"}), "revision"),
            (json!({"policy": 1}), "policy"),
            (json!({"max_frame": -1}), "max_frame"),
            (json!({"max_depth": 65536}), "max_depth"),
            (json!({"max_replies": -1}), "max_replies"),
            (json!({"allow": "depth"}), "names"),
            (json!({"allow_methods": [1]}), "names"),
            (json!({"key": "+00102030405060708090a0b0c0d0e0f"}), "key"),
            (json!({"key": "00"}), "key"),
        ] {
            assert_eq!(refused(given.clone()), option, "{given}");
        }
    }

    #[test]
    fn names_are_kept_once() {
        let once = listed(&json!(["one", "two"])).unwrap();
        assert!(std::ptr::eq(once, listed(&json!(["one", "two"])).unwrap()));
        assert!(std::ptr::eq(kept_name("one"), once[0]));
    }
}
