"""What counts as a credential, and what is ordinary engineering text.

The keys are put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import itertools
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesynapse.domain.redaction import find_secrets, redact

_DIGITS, _HEX = string.digits, "0123456789abcdef"
_LETTERS = string.ascii_letters + string.digits


def made(count: int, alphabet: str = _LETTERS, seed: int = 7) -> str:
    """A value as a generator of keys would give it: always with a digit and a letter."""
    chosen = random.Random(seed * 1000 + count)
    return "".join(chosen.choice(alphabet) for _ in range(count - 2)) + "7" + alphabet[10]


UPPER = string.ascii_uppercase + string.digits
PEM = (
    "-----BEGIN {0}PRIVATE KEY-----\n"
    + made(64)
    + "\n"
    + made(40)
    + "\n-----END {0}PRIVATE KEY-----"
)

SECRETS = {
    "aws access key": "AKIA" + made(16, UPPER),
    "aws temporary key": "ASIA" + made(16, UPPER),
    "aws secret": "aws_secret_access_key = " + made(40),
    "sk key": "sk-" + made(48),
    "sk project key": "sk-proj-" + made(40) + "_" + made(20),
    "sk vendor key": "sk-ant-api03-" + made(60) + "-" + made(20),
    "github classic": "ghp_" + made(36),
    "github app": "ghs_" + made(36),
    "github fine grained": "github_pat_" + made(22) + "_" + made(59),
    "gitlab": "glpat-" + made(20),
    "gitlab deploy": "gldt-" + made(20),
    "slack bot": "xoxb-" + made(12, _DIGITS + _HEX) + "-" + made(24),
    "slack app": "xapp-1-" + made(20),
    "slack webhook": "https://hooks.slack.com/services/T" + made(8, UPPER) + "/B" + made(24),
    "discord webhook": "https://discord.com/api/webhooks/123456789012345678/" + made(60),
    "google api": "AIza" + made(35),
    "google oauth": "GOCSPX-" + made(28),
    "google access": "ya29." + made(80),
    "npm": "npm_" + made(36),
    "pypi": "pypi-" + made(80),
    "stripe live": "sk_live_" + made(24),
    "stripe restricted": "rk_test_" + made(24),
    "stripe webhook": "whsec_" + made(32),
    "hugging face": "hf_" + made(34),
    "sendgrid": "SG." + made(22) + "." + made(43),
    "twilio": "SK" + made(32, _HEX),
    "mailgun": "key-" + made(32, _HEX),
    "digitalocean": "dop_v1_" + made(64, _HEX),
    "shopify": "shpat_" + made(32, _HEX),
    "linear": "lin_api_" + made(40),
    "notion": "ntn_" + made(46),
    "databricks": "dapi" + made(32, _HEX),
    "vault": "hvs." + made(40),
    "doppler": "dp.pt." + made(43),
    "figma": "figd_" + made(40),
    "postman": "PMAK-" + made(24, _HEX) + "-" + made(34, _HEX),
    "grafana": "glsa_" + made(32) + "_" + made(8, _HEX),
    "new relic": "NRAK-" + made(27, UPPER),
    "telegram": "123456789:AA" + made(33),
    "azure": "AccountKey=" + made(86) + "==",
    "age": "AGE-SECRET-KEY-1" + made(58, UPPER),
    "jwt": "eyJ" + made(30) + ".eyJ" + made(60) + "." + made(43),
    "pem": PEM.format("RSA "),
    "plain pem": PEM.format(""),
    "openssh": PEM.format("OPENSSH "),
    "postgres url": "postgres://app:" + made(12) + "@db.internal:5432/app",
    "redis url": "redis://:" + made(16) + "@cache:6379/0",
    "basic url": "https://deploy:" + made(14) + "@git.example.org/x.git",
    "authorization": "Authorization: Bearer " + made(30),
    "basic authorization": "'authorization': 'Basic " + made(30) + "=='",
    "bearer": 'curl -H "X-Auth: bearer ' + made(32) + '"',
    "password": "password = " + made(12),
    "quoted password": 'password: "correct horse"'.replace(" horse", "horse"),
    "env password": "export DB_PASSWORD=" + made(12),
    "env token": "DEPLOY_TOKEN=" + made(20),
    "yaml token": "token: " + made(24),
    "json secret": '{"client_secret": "' + made(24) + '"}',
    "api key": "api_key='" + made(20) + "'",
    "prose": "the password for db-3 is " + made(10),
    "german prose": "Das Passwort lautet " + made(10),
    "mysql": "mysql -u root -h db -p" + made(10) + " shop",
    "sshpass": "sshpass -p " + made(9) + " ssh host",
    "curl user": "curl -s -u admin:" + made(11) + " http://x",
    "option": "tool --password " + made(10),
    "option with =": "tool --api-key=" + made(20),
    "our own token": "cs_" + made(64, _HEX),
}

ORDINARY = """
The token is read from the environment.
We fixed it in commit 9fceb02d0ae598e95dc970b74767f19372d61af8.
Session 123e4567-e89b-12d3-a456-426614174000 expired.
postgres://user:password@localhost/app is in the README
password = os.environ["DB_PASSWORD"]
password: str
token: string | null
const token = getToken(request)
api_key = settings.api_key
set API_KEY in .env
export TOKEN=$(cat token.txt)
DB_PASSWORD=${DB_PASSWORD}
password=<your password>
password=********
password: changeme
The password must be at least 12 characters.
Never log the password.
Passwords are hashed with argon2id.
The secret is to use two workers.
max_tokens: 4096
tokens: 1200
The token bucket holds 50 tokens and refills 10 per second.
cache_key: user_42
primary key: id
foreign key: order_id
sort key is created_at
sk-learn is fine for this
The sk- prefix marks a secret key.
Keys look like sk-... in the console.
AKIA is the prefix of an access key.
ghp_ tokens are classic ones
We moved from npm_config to .npmrc
The header is Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Bearer tokens expire after an hour.
secretKeyRef: name: db
The secret santa list is in docs/santa.md
keyboard: qwerty
monkey: banana
tokenizer: bert-base-uncased
The tokenizer is at models/tokenizer.json
password reset mails go through SES
the passphrase is asked at start
credentials are in the keychain
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
etag: W/"33a64df551425fcc55e4d42a148795d9f25f89d4"
const secret = process.env.SECRET
password := flag.String("password", "", "the password")
eyJ is how a JWT starts
ssh-ed25519 is what we use for host keys
BEGIN CERTIFICATE blocks are fine
Use key-value pairs.
dp.pt is a domain
hf_hub_download fetches a file
glpat- is the prefix of a personal token
The pin is on page 12.
secret = None
token = ""
The access token is valid for 15 minutes.
the api key was rotated last week
pass: 41 fail: 0
test_password_is_hashed passed
http://localhost:8080/path@v2
git@github.com:acme/app.git
feature flag key: checkout_v2
""".strip().splitlines()


@pytest.mark.parametrize("name", SECRETS)
def test_a_credential_is_cut_out_and_named_by_kind(name: str) -> None:
    text = SECRETS[name]
    cut = redact(f"Look: {text} and go on.")
    assert "[redacted:" in cut
    assert cut.startswith("Look: ")
    assert cut.endswith(" and go on.")
    secrets = [text[s.start : s.end] for s in find_secrets(text)]
    assert all(secret not in cut for secret in secrets)


@pytest.mark.parametrize("sentence", ORDINARY)
def test_ordinary_engineering_text_passes(sentence: str) -> None:
    assert redact(sentence) == sentence


def test_there_are_enough_of_both() -> None:
    assert len(SECRETS) >= 40
    assert len(ORDINARY) >= 60


def test_only_the_value_of_an_assignment_goes() -> None:
    value = made(16)
    assert redact(f"db_password = '{value}'") == "db_password = '[redacted:password-assignment]'"


def test_two_secrets_in_one_text_are_both_cut() -> None:
    text = f"{SECRETS['npm']} then {SECRETS['hugging face']}"
    assert redact(text) == "[redacted:npm-token] then [redacted:hugging-face-token]"


@given(st.lists(st.sampled_from([*SECRETS.values(), *ORDINARY, " ", "\n", ": ", "="]), max_size=6))
def test_cutting_twice_changes_nothing_more(parts: list[str]) -> None:
    once = redact(" ".join(parts))
    assert redact(once) == once


@given(st.text(max_size=300))
def test_any_text_can_be_cut_and_what_has_no_secret_stays(text: str) -> None:
    if not find_secrets(text):
        assert redact(text) == text
    assert redact(redact(text)) == redact(text)


@given(st.text(max_size=100), st.sampled_from(sorted(SECRETS)))
def test_spans_are_in_order_and_do_not_overlap(text: str, name: str) -> None:
    spans = find_secrets(f"{text} {SECRETS[name]} {text}")
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    ["a", "-", "password ", "password is ", "token: ", "eyJ", "eyJaaaaaaaa.", "AKIA", "sk-a-",
     "://", "a://b:", "mysql -u ", "curl -u a ", "-----BEGIN PRIVATE KEY-----", "bearer ",
     "Authorization: ", "_KEY=", "passwordpassword", "A_", "xoxb-", "glpat-", "= ", "\n", "é"],
)  # fmt: skip
def test_a_megabyte_of_the_worst_input_is_done_in_linear_time(unit: str) -> None:
    redact(unit * (1_000_000 // len(unit)))
