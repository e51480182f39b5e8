// What may not leave in a log line. Two nets, because either alone has holes: a field whose name says secret is masked
// whatever it holds, and every text is combed for credentials that ride inside it (a URL, a header, a query string).
// Masking too much costs a word in a log; masking too little costs a password.

export const redacted = "[redacted]";

/** Words that make a field a secret wherever they stand in its name; names are compared in lower case without marks. */
const secretWords = [
  "password",
  "passwd",
  "passphrase",
  "secret",
  "token",
  "authorization",
  "cookie",
  "credential",
  "apikey",
  "privatekey",
  "signingkey",
  "encryptionkey",
  "masterkey",
  "accesskey",
  "sharedkey",
  "hmackey",
  "recoverycode",
  "codeverifier",
  "totp",
  "bearer",
  "sessionid",
];

/** Names that are secret only when they are the whole name: `otp` also stands inside innocent words. */
const secretNames = new Set(["pass", "pwd", "auth", "otp", "jwt", "pin"]);

/** True when a field of this name must be masked: `Client-Secret`, `apiKey` and `API_KEY` alike. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return secretNames.has(plain) || secretWords.some((word) => plain.includes(word));
}

/** Longer texts are cut before they are combed; nobody reads more of a line, and strangers decide how long a path is. */
export const combedCharsMax = 16_384;

// A long hostile text costs time in proportion to its length: every pattern begins where no longer match could begin (a look-behind) or is bounded,
// and what ends at a distant mark is looked for by hand, once (patterns.test.ts measures it).
const connectionScheme =
  /(?<![a-z0-9+.-])(?:postgres|postgresql|nats|tls|mysql|mongodb(?:\+srv)?|rediss?|amqps?):\/\//gi;
const wordEnd = /[\s"'<>]/g;
const anyUrl = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#"'<>]*@/gi;
const authorizationValue = /(?<![a-z0-9])(bearer|basic|digest)\s+[a-z0-9._~+/=-]{4,}/gi;
const pemPrivateKey = /-----BEGIN ([A-Z ]{0,40})PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;
const assignment = /(?<![\w-])([a-z_][\w-]{0,63})=("[^"]*"|'[^']*'|[^&\s"',;]+)/gi;
const jsonName = /(\\?["'])([\w.-]{1,64})\1\s*:\s*(\\?["'])/g;

/** The text without the credentials that could be recognised in it; cut when it is very long. */
export function redactText(text: string): string {
  const pemless = text
    .slice(0, combedCharsMax)
    .replaceAll(pemPrivateKey, (_all, kind: string) => `-----${kind}PRIVATE KEY ${redacted}-----`);
  const urlless = withoutConnectionPasswords(pemless)
    .replaceAll(anyUrl, (_all, scheme: string) => `${scheme}${redacted}@`)
    .replaceAll(authorizationValue, (_all, scheme: string) => `${scheme} ${redacted}`);
  return withoutSecretMembers(urlless).replaceAll(assignment, (all: string, name: string) =>
    isSecretName(name) ? `${name}=${redacted}` : all,
  );
}

/** Masked up to the last "@" of the word, since people forget to encode "/" and "@" in passwords. */
function withoutConnectionPasswords(text: string): string {
  let masked = "";
  let done = 0;
  connectionScheme.lastIndex = 0;
  for (let found = connectionScheme.exec(text); found !== null; found = connectionScheme.exec(text)) {
    const begin = connectionScheme.lastIndex;
    wordEnd.lastIndex = begin;
    const end = wordEnd.exec(text)?.index ?? text.length;
    const at = text.lastIndexOf("@", end - 1);
    if (at >= begin) {
      masked += `${text.slice(done, begin)}${redacted}`;
      done = at;
    }
    connectionScheme.lastIndex = end;
  }
  return masked + text.slice(done);
}

/** `"name": "value"` as JSON writes it, also within a text that was quoted once more; a value without its end is masked to the text's end. */
function withoutSecretMembers(text: string): string {
  let masked = "";
  let done = 0;
  jsonName.lastIndex = 0;
  for (let found = jsonName.exec(text); found !== null; found = jsonName.exec(text)) {
    const [, , name = "", quote = ""] = found;
    if (!isSecretName(name)) {
      // What follows may be a value or, with the quote that was just read, the next name.
      jsonName.lastIndex -= quote.length;
      continue;
    }
    const begin = jsonName.lastIndex;
    const closing = text.indexOf(quote, begin);
    const end = closing === -1 ? text.length : closing;
    masked += `${text.slice(done, begin)}${redacted}`;
    done = end;
    jsonName.lastIndex = end + quote.length;
  }
  return masked + text.slice(done);
}
