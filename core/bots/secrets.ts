// Looks for keys and tokens in text. What the bot is about to publish holds none, and a review names the line where somebody committed one.

interface Shape {
  readonly what: string;
  readonly pattern: RegExp;
}

/** Bounded at both ends, so that each costs time in proportion to the text. */
const shapes: readonly Shape[] = [
  { what: "a private key", pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/ },
  // Installation tokens have about 40 characters in the older form and about 520, a signed token inside, in the newer.
  { what: "a token of GitHub", pattern: /gh[oprsu]_[A-Za-z0-9][A-Za-z0-9._-]{28}/ },
  { what: "a token of GitHub", pattern: /github_pat_[A-Za-z0-9_]{22}/ },
  { what: "a signed token", pattern: /[A-Za-z0-9_-]{15}\.eyJ[A-Za-z0-9_-]{10}/ },
  { what: "a key of AWS", pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/ },
  { what: "a token of Slack", pattern: /xox[abeoprs]-[A-Za-z0-9-]{10}/ },
  { what: "a key of a language model", pattern: /\bsk-[A-Za-z0-9_-]{20}/ },
  { what: "a key of Google", pattern: /AIza[A-Za-z0-9_-]{35}/ },
  { what: "a token of npm", pattern: /npm_[A-Za-z0-9]{36}/ },
];

/** What was found first; undefined where there is nothing. What is hidden between its letters is looked through. */
export function findSecret(text: string): string | undefined {
  return shapes.find(({ pattern }) => pattern.test(text))?.what;
}

const joints = /[\s\u0060*~\\\u200b-\u200f\u2060\ufeff]+/g;

/** Also where it was cut by spaces, line ends or marks of emphasis. For what the bot publishes: a word too many is only silence. */
export function findSecretToPublish(text: string): string | undefined {
  return findSecret(text) ?? findSecret(text.replace(joints, ""));
}
