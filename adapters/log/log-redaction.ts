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

// Every pattern begins where no longer match could begin (a look-behind) or is bounded, so that a long hostile text costs
// time in proportion to its length.
// Connection URLs are combed up to the last "@" of the word, since people forget to encode "/" and "@" in passwords.
const connectionUrl =
  /(?<![a-z0-9+.-])((?:postgres|postgresql|nats|tls|mysql|mongodb(?:\+srv)?|rediss?|amqps?):\/\/)[^\s"'<>]*@/gi;
const anyUrl = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/?#"'<>]*@/gi;
const authorizationValue = /(?<![a-z0-9])(bearer|basic|digest)\s+[a-z0-9._~+/=-]{4,}/gi;
const pemPrivateKey = /-----BEGIN ([A-Z ]{0,40})PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;
const assignment = /(?<![\w-])([a-z_][\w-]{0,63})=("[^"]*"|'[^']*'|[^&\s"',;]+)/gi;
const jsonPair = /(\\?["'])([\w.-]{1,64})\1(\s*:\s*)(\\?["'])(.*?)\4/g;

/** The text without the credentials that could be recognised in it. */
export function redactText(text: string): string {
  return text
    .replaceAll(pemPrivateKey, (_all, kind: string) => `-----${kind}PRIVATE KEY ${redacted}-----`)
    .replaceAll(connectionUrl, (_all, scheme: string) => `${scheme}${redacted}@`)
    .replaceAll(anyUrl, (_all, scheme: string) => `${scheme}${redacted}@`)
    .replaceAll(authorizationValue, (_all, scheme: string) => `${scheme} ${redacted}`)
    .replaceAll(jsonPair, (all: string, quote: string, name: string, colon: string, valueQuote: string) =>
      isSecretName(name) ? `${quote}${name}${quote}${colon}${valueQuote}${redacted}${valueQuote}` : all,
    )
    .replaceAll(assignment, (all: string, name: string) => (isSecretName(name) ? `${name}=${redacted}` : all));
}
