// What is wrong with a request, field by field, in words that say what would be right. Nothing that was sent is repeated but the
// names of fields: a value may be a secret, and whoever reads the answer or a log of it need not be who sent it.
import type { z } from "zod";

export interface FieldError {
  /** Where it stands: "body.operations[0]", "query.limit", "path.token_id". */
  readonly field: string;
  readonly expected: string;
}

type Issue = z.core.$ZodIssue;

const errorCountMax = 20;
/** Enough to find so many fields in: a list of thousands may have something wrong with every entry. */
const issueCountMax = 200;
const nameLengthMax = 64;
const secretName = /totp|code|token|password|proof|secret/i;
/** How the library begins its own sentences; any other sentence is the schema author's, and better than what we could make. */
const libraryWords = /^(Invalid|Too|Unrecognized)\b/;

export function fieldErrors(place: string, issues: readonly Issue[], value: unknown): readonly FieldError[] {
  const secrets = secretsIn(value);
  const errors = issues.slice(0, issueCountMax).flatMap((issue) => errorsOf(place, issue, secrets));
  // A value of the wrong type often fails its other checks too; what is wrong first is what helps.
  const first = new Map(errors.toReversed().map((error) => [error.field, error]));
  return errors.filter((error) => first.get(error.field) === error).slice(0, errorCountMax);
}

export function unknownFields(place: string, names: readonly string[]): readonly FieldError[] {
  return names.slice(0, errorCountMax).map((name) => ({ field: fieldName(place, [name]), expected: "no such field" }));
}

/** All of them in one sentence. */
export function detailOf(errors: readonly FieldError[]): string {
  return `${errors.map(({ field, expected }) => `${field}: expected ${expected}`).join("; ")}.`;
}

function errorsOf(place: string, issue: Issue, secrets: readonly string[]): readonly FieldError[] {
  const field = fieldName(place, issue.path);
  if (issue.code === "unrecognized_keys") {
    return unknownFields(field, issue.keys);
  }
  const own = issue.message.replace(/^expected /i, "").replace(/\.$/, "");
  const authored = own !== "" && !libraryWords.test(own) && !secrets.some((secret) => own.includes(secret));
  return [{ field, expected: authored ? own : expectedBy(issue) }];
}

export function fieldName(place: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === "number") return `${name}[${key}]`;
    const text = String(key);
    return `${name}.${text.length > nameLengthMax ? `${text.slice(0, nameLengthMax)}…` : text}`;
  }, place);
}

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeNames[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `${bound(issue.inclusive, "at least", "more than")} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `${bound(issue.inclusive, "at most", "less than")} ${issue.maximum}${unitOf(issue.origin)}`;
    case "not_multiple_of":
      return `a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `text of the form ${issue.pattern ?? "asked for"}`
        : `text in the format ${issue.format}`;
    case "invalid_union":
      return "one of the forms that the reference lists";
    default:
      return "a valid value";
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function bound(inclusive: boolean | undefined, including: string, excluding: string): string {
  return inclusive === false ? excluding : including;
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  if (origin === "array" || origin === "set" || origin === "map") return " entries";
  return "";
}

/** The texts that stand under a telling name, so that an author's sentence that repeats one is not passed on. */
function secretsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value !== "object" || value === null || depth > 4) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (typeof inner === "string") return secretName.test(name) && inner !== "" ? [inner] : [];
    return secretsIn(inner, depth + 1);
  });
}
