//! Texts that look like secrets and are none.

use super::random::Random;

/// A text that is to be left as it is.
#[derive(Debug)]
pub(super) struct LookAlike {
    pub(super) path: &'static str,
    pub(super) text: String,
}

/// Each form with several fillings.
pub(super) fn all(random: &mut Random) -> Vec<LookAlike> {
    let mut all = Vec::new();
    for (path, form) in RANDOM {
        for _ in 0..6 {
            let text = random.fill(form) + "\n";
            all.push(LookAlike { path, text });
        }
    }
    for name in NAMES {
        for value in VALUES {
            let (path, place) = random.pick(&[
                ("settings.py", "@name = \"@value\"\n"),
                ("config.json", "{\"@name\": \"@value\"}\n"),
                ("config.yaml", "@name: @value\n"),
                ("settings.ini", "@name=@value\n"),
                ("run.sh", "export @name=\"@value\"\n"),
            ]);
            let text = place.replace("@name", name).replace("@value", value);
            all.push(LookAlike { path, text });
        }
    }
    for (path, text) in WRITTEN {
        all.push(LookAlike {
            path,
            text: format!("{text}\n"),
        });
    }
    all
}

/// Random characters that are public.
const RANDOM: &[(&str, &str)] = &[
    ("a.py", "request_id = \"{h8}-{h4}-{h4}-{h4}-{h12}\""),
    ("a.yaml", "trace: {h8}-{h4}-{h4}-{h4}-{h12}"),
    ("a.py", "token = \"{h8}-{h4}-{h4}-{h4}-{h12}\""),
    ("a.md", "Fixed in {h40}, see also {h7}."),
    ("a.yaml", "uses: actions/checkout@{h40}"),
    ("go.sum", "github.com/acme/token v1.2.3 h1:{b43}="),
    ("Cargo.lock", "checksum = \"{h64}\""),
    ("package-lock.json", "\"integrity\": \"sha512-{b86}==\","),
    ("yarn.lock", "  integrity sha512-{b86}=="),
    (
        "poetry.lock",
        "    {file = \"token-1.0.whl\", hash = \"sha256:{h64}\"},",
    ),
    (
        "a.html",
        "<script src=\"a.js\" integrity=\"sha384-{b64}\" crossorigin=\"anonymous\"></script>",
    ),
    ("a.css", ".key {{ color: #{h6}; background: #{h8} }}"),
    (
        "a.html",
        "<img src=\"data:image/png;base64,iVBORw0KGgo{b200}==\">",
    ),
    ("a.css", "src: url(data:font/woff2;base64,d09GMg{b160})"),
    (
        "a.pub",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} ada@host",
    ),
    (
        "a.yaml",
        "ssh_key: \"ssh-rsa AAAAB3NzaC1yc2E{b200} ada@host\"",
    ),
    (
        "a.pem",
        "-----BEGIN PUBLIC KEY-----\n{b64}\n{b64}\n-----END PUBLIC KEY-----",
    ),
    (
        "a.pem",
        "-----BEGIN CERTIFICATE-----\nMIID{b60}\n{b64}\n-----END CERTIFICATE-----",
    ),
    (
        "a.py",
        "self.assertEqual(md5(b\"abc\").hexdigest(), \"{h32}\")",
    ),
    ("a.c", "{{ \"abc\", \"{h64}\" }},"),
    ("a.go", "sha256: \"{h64}\","),
    (
        "a.json",
        "{{\"etag\": \"W/{h32}\", \"digest\": \"sha256:{h64}\"}}",
    ),
    ("a.yaml", "image: registry.acme.dev/app@sha256:{h64}"),
    ("a.js", "const commit = '{h40}';"),
    ("a.py", "public_key = \"{b43}=\""),
    ("a.toml", "public-key = \"{h64}\""),
    ("a.json", "{{\"publishableKey\": \"pk_live_{w24}\"}}"),
    (
        "a.js",
        "Sentry.init({{ dsn: \"https://{h32}@o{n6}.ingest.sentry.io/{n7}\" }})",
    ),
    ("a.yaml", "recaptcha_site_key: 6L{u38}"),
    ("a.py", "password_hash_version = {n6}"),
    ("a.go", "const maxTokens = {n5}"),
    (
        "a.json",
        "{{\"total_tokens\": {n6}, \"input_cost_per_token\": 0.0000{n3}}}",
    ),
    ("a.md", "| token-count | {n5} | {n3}.{n2} |"),
    (
        "a.svg",
        "<path d=\"M{n2}.{n2}c-{n1}.{n2} {n1} {n2}z\" key=\"k{n3}\"/>",
    ),
    ("a.py", "fingerprint = \"SHA256:{b43}\""),
    ("a.txt", "gpg_key: {H40}"),
    ("a.json", "{{\"next_page_token\": \"{w40}\"}}"),
    ("a.html", "<input name=\"csrf_token\" value=\"{w64}\">"),
    (
        "a.js",
        "//# sourceMappingURL=data:application/json;base64,{b120}",
    ),
    (
        "a.sql",
        "INSERT INTO tokens_seen VALUES ({n5}, '{n4}-01-01');",
    ),
    ("a.py", "cache_key = \"{h40}\""),
    ("a.tsx", "<Row key=\"{h24}\" />"),
];

/// Names that promise a secret.
const NAMES: &[&str] = &[
    "password",
    "api_key",
    "AUTH_TOKEN",
    "clientSecret",
    "db-password",
    "SECRET_KEY",
];

/// Values that are none.
const VALUES: &[&str] = &[
    "",
    "changeme",
    "password",
    "secret",
    "your-api-key-here",
    "<your token>",
    "xxxxxxxxxxxxxxxx",
    "${SECRET}",
    "{{ secret }}",
    "$(cat /run/secrets/key)",
    "%(secret)s",
    "example-secret-value-1234",
    "REPLACE_ME_1234567890",
    "************",
    "None",
    "null",
    "true",
    "test",
    "test1234",
    "foo",
    "placeholder",
    "TODO",
    "not-a-real-key-123456",
    "dummy-key-9f8e7d6c5b4a3210",
    "/run/secrets/db_password",
    "vault:secret/data/app#key",
    "my-secret-name",
    "projects/acme/secrets/db/versions/1",
    "1234567890",
    "abcdef0123456789",
    "string",
    "env:API_TOKEN",
    "fake_key_8b1118b376c3",
    "0000000000000000000000000000",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "https://vault.acme.dev/v1/secret",
    "Enter your password",
    "key-{region}-{id4}",
    "a1b2c3d4e5f6g7h8i9j0",
    "user_password_2",
    "[REDACTED:password]",
];

/// Code, prose and data about secrets.
const WRITTEN: &[(&str, &str)] = &[
    ("a.py", "input_cost_per_token = 0.0001"),
    ("a.py", "token = os.environ[\"API_TOKEN\"]"),
    ("a.py", "token = os.environ.get(\"API_TOKEN\", \"\")"),
    ("a.py", "token = get_token()"),
    ("a.py", "password = getpass.getpass(\"Password: \")"),
    ("a.py", "self.password = password"),
    ("a.py", "api_key: str | None = None"),
    ("a.py", "token: AccessToken20"),
    (
        "a.py",
        "password_reset_token_generator = PasswordResetTokenGenerator()",
    ),
    ("a.py", "from app.auth import token_urlsafe2 as token"),
    ("a.py", "key = hashlib.sha256(secret).hexdigest()"),
    (
        "a.py",
        "PASSWORD_HASHERS = [\"django.contrib.auth.hashers.PBKDF2PasswordHasher\"]",
    ),
    (
        "a.py",
        "parser.add_argument(\"--api-key\", help=\"the key\")",
    ),
    ("a.py", "assert token == \"identifier\""),
    ("a.py", "tokens = [\"<|endoftext|>\", \"<|im_start|>\"]"),
    ("a.py", "eos_token = \"<|endoftext|>\""),
    ("a.py", "secret_name = \"prod/app1/database2\""),
    (
        "a.py",
        "PASSWORD_REGEX = r\"^(?=.*[A-Z])(?=.*[0-9]).{8,}$\"",
    ),
    ("a.py", "if re.match(r\"ghp_[A-Za-z0-9]{36}\", token):"),
    (
        "a.py",
        "TOKEN_URL = \"https://login.acme.dev/oauth2/v2.0/token\"",
    ),
    ("a.js", "const token = await getToken({ scope: 'a1' });"),
    ("a.js", "const { apiKey, secret } = config;"),
    ("a.js", "localStorage.getItem('authTokenV2')"),
    ("a.js", "headers: { Authorization: `Bearer ${token}` }"),
    ("a.js", "headers: { 'X-Api-Key': process.env.API_KEY }"),
    ("a.ts", "password: string;"),
    (
        "a.ts",
        "type Token = { kind: 'identifier'; value: string };",
    ),
    (
        "a.tsx",
        "<input type=\"password\" name=\"password\" placeholder=\"Password1\" />",
    ),
    (
        "a.tsx",
        "<Spinner className=\"sk-folding-cube sk-cube-grid-wrapper-large-variant\" />",
    ),
    ("a.go", "token := r.Header.Get(\"X-Auth-Token2\")"),
    ("a.go", "var errBadToken = errors.New(\"bad token\")"),
    (
        "a.go",
        "if strings.HasPrefix(pem, \"-----BEGIN PRIVATE KEY-----\") {\n\treturn parsePrivateKeyFromArmour(pem)\n}",
    ),
    (
        "a.rs",
        "let token = Token::new(TokenKind::Identifier2, span);",
    ),
    ("a.rs", "pub secret: SecretString,"),
    ("a.rs", "const KEY_LEN: usize = 32;"),
    (
        "a.c",
        "static const char *key_names[] = {\"KEY_F1\", \"KEY_F2\"};",
    ),
    ("a.c", "key = (key << 5) + key + c; /* hash * 33 + c */"),
    (
        "a.java",
        "private final PasswordEncoder passwordEncoder = new BCryptPasswordEncoder(12);",
    ),
    (
        "a.java",
        "String secret = System.getenv(\"APP_SECRET_V2\");",
    ),
    ("a.rb", "config.secret_key_base = ENV[\"SECRET_KEY_BASE\"]"),
    ("a.php", "$password = $_POST['password1'];"),
    ("a.sh", "TOKEN=$(gh auth token)"),
    ("a.sh", "export API_KEY=\"$1\""),
    ("a.sh", "read -s PASSWORD"),
    ("a.sh", "echo \"usage: $0 --token TOKEN --password PASS\""),
    ("a.sh", "curl -u \"$USER:$PASSWORD\" https://acme.dev"),
    ("a.yaml", "token: ${{ secrets.GITHUB_TOKEN }}"),
    (
        "a.yaml",
        "secretKeyRef:\n  name: db-secret\n  key: password",
    ),
    ("a.yaml", "password: !vault |"),
    ("a.yaml", "secretName: app-tls-2024"),
    (
        "a.yaml",
        "kind: Secret\nmetadata:\n  name: a\ndata:\n  password: {{ .Values.password | b64enc }}",
    ),
    ("a.tf", "password = var.db_password"),
    ("a.tf", "secret_id = aws_secretsmanager_secret.db1.id"),
    ("a.toml", "key = \"ctrl+shift+k\""),
    ("a.json", "{\"key\": \"value\", \"keyboard\": \"us-intl\"}"),
    (
        "a.json",
        "{\"password\": {\"type\": \"string\", \"minLength\": 8}}",
    ),
    (
        "a.json",
        "{\"tokenizer\": \"o200k_base\", \"max_tokens\": 4096}",
    ),
    (
        "a.md",
        "Set `API_TOKEN` to your token, e.g. `export API_TOKEN=...`.",
    ),
    (
        "a.md",
        "The password must have 8 characters, 1 digit and 1 sign.",
    ),
    ("a.md", "Authorization: Bearer <token>"),
    ("a.md", "Authorization: Basic dXNlcjpwYXNz"),
    ("a.md", "https://user:password@example.com/path"),
    ("a.md", "postgres://postgres:postgres@localhost:5432/app"),
    ("a.md", "mysql://${DB_USER}:${DB_PASSWORD}@db/app"),
    ("a.md", "redis://localhost:6379/0"),
    ("a.md", "Mail ada@acme.dev or see https://acme.dev:8080/a@b"),
    (
        "a.md",
        "git@github.com:acme/app.git and ssh://git@github.com/acme/app.git",
    ),
    (
        "a.md",
        "The key insight: tokens are cheap, attention is not.",
    ),
    ("a.md", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ("a.md", "sk-ant-api03-..."),
    ("a.md", "sk_test_your_key_goes_here_1234"),
    (
        "a.txt",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    ),
    ("a.ini", "password_min_length = 12"),
    ("a.ini", "[auth]\nprovider = oauth2"),
    (
        "a.properties",
        "spring.security.oauth2.resourceserver.jwt.issuer-uri=https://id.acme.dev",
    ),
    (
        "a.sql",
        "CREATE TABLE users (password VARCHAR(128) NOT NULL, token CHAR(36));",
    ),
    ("a.py", "password = getpass()"),
    ("a.py", "password = input('Password: ')"),
    ("a.py", "password = 'correcthorsebattery'"),
    (
        "tests/test_login.py",
        "assert is_strong('Correct-Horse-1', password='battery')",
    ),
    ("tests/config.yml", "password: correcthorsebattery"),
    (
        "validator_test.go",
        "{password: \"Tr0ub4dor&3\", valid: true},",
    ),
    ("app.go", "Password string `json:\"password\"`"),
    ("config.yaml", "password: required"),
    ("config.yaml", "password: The password of the user"),
    ("config.yaml", "passwordSecret: db-credentials"),
    ("config.yaml", "secret: backup-tls"),
    ("config.yaml", "permissions:\n  id-token: write"),
    ("config.yaml", "auth: authenticated"),
    ("config.yaml", "credentials: same-origin"),
    ("config.yaml", "tokenizer: sentencepiece"),
    ("config.yaml", "password: vault:database/creds"),
    ("config.yaml", "password_file: /run/secrets/db"),
    ("config/locales/de.yml", "password: Passwortfeld"),
    ("messages_de.properties", "login.password=Kennwort eingeben"),
    ("app.properties", "error.password=ungueltig"),
    ("nsswitch.conf", "passwd: compat systemd"),
    ("config.json", "{\"password\": \"string\"}"),
    ("de.json", "{\"password\": \"Passwortfeld\"}"),
    ("compose.yml", "POSTGRES_PASSWORD: postgres"),
    ("run.sh", "curl -u \"$USER:$PASSWORD\" https://acme.dev"),
    ("run.sh", "curl -u ada https://acme.dev:8080/a"),
    ("run.sh", "curl -fsSLu ada https://acme.dev:8080/a"),
    ("run.sh", "curl -X POST https://acme.dev/users:batch -u"),
    ("a.md", "curl -u user:password https://acme.dev"),
    ("a.md", "curl -u elastic:correcthorse https://acme.dev"),
    ("run.sh", "mysql -u root -p shop"),
    ("run.sh", "mysql -p\"$MYSQL_PASSWORD\" -P3306"),
    ("run.sh", "mkdir -p /var/lib/mysql/shop"),
    ("run.sh", "docker login -u shop --password-stdin"),
    (
        "run.sh",
        "openssl rsa -passin env:PASS -passin file:pass.txt",
    ),
    (
        "main.go",
        "dsn := fmt.Sprintf(\"host=%s user=%s password=%s\", h, u, p)",
    ),
    ("main.go", "dsn := \"root:root@tcp(127.0.0.1:3306)/shop\""),
    ("main.go", "dsn := \"user:password@tcp(db)/shop\""),
    (
        "a.py",
        "chmod('.pgpass', 0o600) # host:port:database:user:password",
    ),
    ("a.ts", "run(\"build:watch\")"),
    ("a.css", ".password-field__input--error { color: #d0021b }"),
    ("a.proto", "string access_token = 12;"),
    (
        "a.graphql",
        "mutation { login(password: $password) { token } }",
    ),
    ("a.po", "msgid \"password\"\nmsgstr \"Passwort\""),
];
