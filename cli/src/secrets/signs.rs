//! By what a secret is known: the name that it goes by, or its own looks. This is the one list, for what `run` and `check` mask
//! and for what `doctor` warns of.
//!
//! A name is read in whole words, parted at `_`, `-`, `.` and where its case changes: KEY stands in API_KEY, in `apiKey` and in
//! `--api-key`, not in KEYBOARD. What only says something about a secret is none: KEY_PATH, TOKEN_LIMIT, MAX_TOKENS.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// What secrets are called. A plural is the same; one word of five letters and more counts at the end of another too, as in
/// PGPASSWORD.
const NAMES: &str = "\
    ACCESSKEY ACCESS_KEY_ID APIKEY AUTH AUTHKEY AUTHORIZATION BEARER CONNECTION_STRING COOKIE CRED \
    CREDENTIAL DATABASE_URL DSN JWT KEY MNEMONIC PASS PASSCODE PASSPHRASE PASSWD PASSWORD PAT PEM PGPASS \
    PRIVATEKEY PRIVATE_KEY PW PWD SECRET SECRETKEY SECRET_ID SIG SIGNATURE TOKEN USERPASS WEBHOOK \
    WEBHOOK_URL";
/// A single word of so many letters counts at the end of another.
const GLUED: usize = 5;
/// Words that, behind such a name, make it say something about the secret.
const ABOUT: &str = "\
    AGE ALG ALGORITHM AUDIENCE BACKEND BINDINGS BUDGET COUNT DIR DIRECTORY DISABLED DOMAIN ENABLED \
    ENCODING ENDPOINT EXPIRATION EXPIRES EXPIRY FILE FILENAME FLOW FOLDER FORMAT HELPER HOST ID INTERVAL \
    ISSUER KIND LAYOUT LEN LENGTH LIFETIME LIMIT LOCATION METHOD MODE NAME PARALLELISM PATH PER POLICY \
    PORT PREFIX PROVIDER REALM REQUIRED SCHEME SCOPE SIZE SOCK SOCKET STRATEGY SUFFIX TIMEOUT TTL TYPE \
    URI URL USERNAME";
/// Words that do so in front of one name.
const AHEAD: [(&str, &[&str]); 2] = [
    ("TOKEN", &["MAX", "MAXIMUM", "MIN", "MINIMUM", "NUM"]),
    ("KEY", &["FOREIGN", "PARTITION", "PRIMARY", "PUBLIC", "PUBLISHABLE", "SORT"]),
];

/// Tokens of well-known services, a JSON web token, a private key, a password in an address.
static LOOKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?: gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | gl(?:pat|ptt|dt|rt|soat)-[\w-]{16,} | sk-[\w-]{16,}
            | [rs]k_(?:live|test)_\w{10,} | whsec_[\w+/=]{16,} | xox[abeprs]-[\w-]{10,} | xapp-[\w-]{16,}
            | A[KS]IA[0-9A-Z]{16} | AIza[\w-]{30,} | ya29\.[\w-]{16,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,}
            | hf_[A-Za-z0-9]{20,} | dop_v1_[0-9a-f]{32,} | SG\.[\w-]{16,}\.[\w-]{16,} | lin_api_\w{20,} | ntn_\w{20,}
            | gsk_\w{20,} | tvly-[\w-]{16,} | xai-[\w-]{20,} | eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)? )
        | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----(?s:.*)
        | ://[^/\s:@]*:[^/\s@]+@",
    )
});
/// What a whole value is that stands for one which somebody else puts in, or shall.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?: \$\w+ | (?:\$\{[^}]*\}[:/_.-]?)+ | \$\([^)]*\) | %\w+% | <[^<>]*> | \{\{[^}]*\}\} | \*+ | \.{3,} | x{6,} | (?:file|env|op):\S+
            | change[-_\ ]?me | (?:insert|replace|enter|paste)[-_\ ][a-z_\ -]*
            | your[a-z_\ -]*(?:token|key|secret|pass|here)[a-z_\ -]* )$",
    )
});
/// A path: where a secret is kept.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?: ~/ | \.\.?/ | [A-Za-z]:[/\\]
            | /(?:app|data|dev|etc|home|Library|mnt|opt|private|root|run|secrets|srv|tmp|Users|usr|var)/ )",
    )
});

/// A pattern over bytes; its spaces are for its readers.
fn pattern(text: &str) -> Regex {
    RegexBuilder::new(text).unicode(false).ignore_whitespace(true).build().expect("a pattern")
}

/// Whether what has this name, such as a variable, is a secret.
fn is_secret(name: &str) -> bool {
    let words = words(name);
    (0..words.len()).any(|start| NAMES.split(' ').any(|secret| stands_at(&words, start, secret)))
}

/// Whether the words from `start` on are that name, and the others leave it one.
fn stands_at(words: &[String], start: usize, secret: &str) -> bool {
    let (ahead, mut rest) = words.split_at(start);
    for part in secret.split('_') {
        let Some((word, behind)) = rest.split_first() else { return false };
        let glued = secret.len() >= GLUED && part == secret;
        if !(is_word(word, part) || glued && word.strip_suffix('S').unwrap_or(word).ends_with(part)) {
            return false;
        }
        rest = behind;
    }
    // The working directory of a shell.
    let is_place = secret == "PWD" && ahead.is_empty();
    let is_about = || rest.iter().any(|word| ABOUT.split(' ').any(|about| is_word(word, about)));
    let counts =
        |(name, words): &(&str, &[&str])| *name == secret && ahead.iter().any(|word| words.contains(&word.as_str()));
    !is_place && !AHEAD.iter().any(counts) && !is_about()
}

/// Whether it is that word, or its plural.
fn is_word(word: &str, one: &str) -> bool {
    word == one || word.strip_suffix('S') == Some(one)
}

/// The words of a name in capitals, without numbers at their ends.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let characters: Vec<char> = name.chars().collect();
    for (at, character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| characters.get(at)).copied().unwrap_or('_');
        let next = characters.get(at + 1).copied().unwrap_or('_');
        // apiKey, APIKey; and HTTPs is one.
        let begins =
            character.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && next.is_lowercase());
        if begins || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_uppercase());
        }
    }
    let words = words.iter().map(|word| word.trim_end_matches(|last: char| last.is_ascii_digit()));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether this value of that name is a secret: by the name where it is neither a place for one nor a path, or by its looks.
pub fn holds_secret(name: &str, value: &[u8]) -> bool {
    (is_secret(name) && !PATH.is_match(value) || LOOKS.is_match(value)) && !is_place(value)
}

/// Whether the value stands for another, such as `$TOKEN` or `<your-token>`, whatever scheme of a header is in front.
fn is_place(value: &[u8]) -> bool {
    PLACE.is_match(&behind_scheme(value).to_ascii_lowercase())
}

/// The bytes of a header's scheme in front of a value.
fn scheme(value: &[u8]) -> usize {
    let schemes = [&b"bearer "[..], b"basic ", b"token "];
    let is_there =
        |scheme: &&[u8]| value.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme));
    schemes.into_iter().find(is_there).map_or(0, <[u8]>::len)
}

fn behind_scheme(value: &[u8]) -> &[u8] {
    let value = value.trim_ascii();
    value.get(scheme(value)..).unwrap_or_default().trim_ascii()
}

/// The parts of a secret that are told apart from the rest of it: what stands behind the scheme of a header, a password in an
/// address.
pub fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let password = LOOKS.find(value).and_then(|found| {
        let user = value.get(found.range())?.strip_prefix(b"://")?.strip_suffix(b"@")?;
        user.splitn(2, |byte| *byte == b':').nth(1)
    });
    (scheme(value) > 0).then(|| behind_scheme(value)).into_iter().chain(password)
}

/// What looks like a secret in a text, whatever its name.
pub fn looks(text: &str) -> impl Iterator<Item = &str> {
    LOOKS.find_iter(text.as_bytes()).filter_map(|found| text.get(found.range()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_by_whole_words() {
        let names = "\
            KEY API_KEY apiKey APIKey APIKEY --api-key X-Api-Key KEY2 API_KEY_2 KEYS AWS_ACCESS_KEY_ID \
            AWS_SECRET_ACCESS_KEY SSH_PRIVATE_KEY KEY_PROD privatekey TOKEN GITHUB_TOKEN TOKEN_GITHUB \
            AUTHTOKEN accessToken INPUT_TOKEN API_TOKENS DB_PASS PGPASS --pass PGPASSWORD dbpassword \
            MYSQL_PWD ADMIN_PW SSH_PASSPHRASE HTPASSWD GITHUB_PAT JWT SESSION_JWT SENTRY_DSN DATABASE_URL \
            PG_CONNECTION_STRING AUTH NPM_AUTH AUTH_HEADER DOCKER_AUTH_CONFIG Authorization -HAuthorization \
            Proxy-Authorization COOKIE Set-Cookie SLACK_WEBHOOK SLACK_WEBHOOK_URL GOOGLE_CREDENTIALS \
            AWS_CREDS VAULT_SECRET_ID CLIENT_SECRET clientSecret SECRETS SERVER_PEM X-Amz-Signature \
            KEY_FILE_PASSWORD AUTH0_CLIENT_SECRET";
        for name in names.split(' ') {
            assert!(is_secret(name), "{name}");
        }
        let names = "\
            MAX_TOKENS --max-tokens maxTokens MAX_TOKEN_LENGTH TOKEN_LIMIT TOKEN_LIMITS TOKEN_TYPE \
            TOKENS_PER_MINUTE TOKENIZERS_PARALLELISM TOKENIZER KEYBOARD XKB_KEYBOARD MONKEY KEY_PATH \
            KEY_FILE --key-file KEY_NAME PUBLIC_KEY SORT_KEY AUTH_MODE AUTH_TYPE AUTH_URL AUTH0_DOMAIN \
            AUTH_CLIENT_ID XAUTHORITY SSH_AUTH_SOCK --author GIT_AUTHOR_NAME AUTHORITY PWD OLDPWD COMPASS \
            BYPASS SSH_ASKPASS PATH PATTERN PATCH SECRET_NAME SECRETARY PASSENGER COOKIE_DOMAIN COOKIE_FILE \
            JWT_ALGORITHM JWT_EXPIRES_IN WEBHOOK_PORT SIGNAL DESIGN PRIVATE_IP ACCEPT URL";
        for name in names.split(' ') {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn values_are_known_by_their_looks() {
        for value in [
            "ghp_0123456789abcdefghij",
            "github_pat_0123456789_abcdefghij",
            "sk-ant-api03-abcdefghijklmnop",
            "sk_live_abcdefghijklmnop",
            "rk_live_abcdefghijklmnop",
            "ya29.a0AfH6SMBabcdefghijk",
            "xoxp-123456789012-abc",
            "xoxb-123456789012-abc",
            "AKIAABCDEFGHIJKLMNOP",
            "ASIAABCDEFGHIJKLMNOP",
            "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0",
            "-----BEGIN RSA PRIVATE KEY-----\nabc",
            "-----BEGIN PRIVATE KEY-----",
            "redis://:pw12345@h/0",
            "postgres://me:pw@h/db",
            "see https://u:p@h",
        ] {
            assert!(holds_secret("ANY", value.as_bytes()), "{value}");
        }
        for value in [
            "",
            "ghp_short",
            "task-0123456789abcdefghij",
            "sk-short",
            "-----BEGIN CERTIFICATE-----\nabc",
            "https://h:8080/a@b",
            "redis://h/0",
            "mailto:me@h",
            "AKIA",
            "npm_config_cache",
        ] {
            assert!(!holds_secret("ANY", value.as_bytes()), "{value}");
        }
        assert_eq!(
            looks("a sk-0123456789abcdef, postgres://me:pw@h/db").collect::<Vec<_>>(),
            ["sk-0123456789abcdef", "://me:pw@"]
        );
    }

    #[test]
    fn a_place_for_a_secret_is_none() {
        for value in [
            "$GITHUB_TOKEN",
            "${GITHUB_TOKEN}",
            "${env:X}",
            "$(pass show x)",
            "%TOKEN%",
            "<your-token>",
            "{{token}}",
            "YOUR_API_KEY_HERE",
            "your-token",
            "Bearer <token>",
            "Bearer ${TOKEN}",
            "bearer YOUR_TOKEN",
            "********",
            "xxxxxxxx",
            "changeme",
            "replace-me",
            "file:/run/key",
            "env:TOKEN",
            "op://vault/item/field",
        ] {
            assert!(!holds_secret("API_TOKEN", value.as_bytes()), "{value}");
        }
        for value in [
            "$ecret-1",
            "your-cat-likes-42",
            "prefix${x}realsecret",
            "Bearer abcdef",
            "<a>b",
            "50%off%today!",
            "caf\u{e9}-abcdef",
        ] {
            assert!(holds_secret("API_TOKEN", value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn a_path_to_a_secret_is_none() {
        for value in [
            "/etc/ssl/key.pem",
            "~/.ssh/id_rsa",
            "./key.pem",
            "../key.pem",
            "C:\\keys\\key.pem",
            "/Users/me/a key.json",
        ] {
            assert!(!holds_secret("SSL_KEY", value.as_bytes()), "{value}");
        }
        for value in ["/ZpcqQ2XkV5x/1kV0+aBcd", "etc/passwd", "/var:/etc"] {
            assert!(holds_secret("SSL_KEY", value.as_bytes()), "{value}");
        }
    }
}
