// The environment's part of the configuration: each variable that a key names, read as that key's type, and a complaint for
// every PORTCULLIS_* variable that nobody knows, because a misspelt name would otherwise be a setting silently ignored.
import { type Complaint, notShown } from "./complaint.ts";
import { nearest } from "./nearest.ts";
import { type KeyNode, namedKeys } from "./schema-tree.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentValue {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

export const configFileVariable = "PORTCULLIS_CONFIG";
const prefix = "PORTCULLIS_";

/** Variables of the same family that are not the configuration's: those of the command-line client. */
const othersVariables = ["PORTCULLIS_URL", "PORTCULLIS_PROFILE"];
const testPrefix = "PORTCULLIS_TEST_";

/** What the environment sets. An empty variable counts as absent. */
export function environmentValues(environment: Environment): readonly EnvironmentValue[] {
  return namedKeys.flatMap(({ steps, node }) => {
    const name = node.facts?.environment;
    const text = name === undefined ? undefined : environment[name];
    if (name === undefined || text === undefined || text === "") return [];
    return [{ name, path: steps, value: parsedValue(text, node) }];
  });
}

/** The text as the key's type; a text that is none stays a text, and the schema complains about it. */
function parsedValue(text: string, node: KeyNode): unknown {
  const trimmed = text.trim();
  switch (node.kind) {
    case "whole":
      return /^[+-]?\d{1,15}$/.test(trimmed) ? Number(trimmed) : text;
    case "number":
      return /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(trimmed) ? Number(trimmed) : text;
    case "boolean":
      return trimmed === "true" ? true : trimmed === "false" ? false : text;
    case "list":
      return text.split(",").map((item) => item.trim());
    case "choice":
      return trimmed;
    default:
      return text;
  }
}

/** Every name that the configuration knows. */
export function environmentNames(): readonly string[] {
  const named = namedKeys.flatMap(({ node }) => node.facts?.environment ?? []);
  return [configFileVariable, ...named];
}

/** A complaint for each variable of our family that is not known. Values are never shown: the name may be a misspelt secret's. */
export function unknownVariables(environment: Environment, alsoKnown: readonly string[]): readonly Complaint[] {
  const known = environmentNames();
  const accepted = new Set([...known, ...othersVariables, ...alsoKnown]);
  return Object.keys(environment)
    .filter((name) => name.toUpperCase().startsWith(prefix) && !accepted.has(name) && !name.startsWith(testPrefix))
    .sort()
    .map((name) => {
      const ours = known
        .filter((candidate) => candidate.startsWith(prefix))
        .map((candidate) => candidate.slice(prefix.length));
      const near = nearest(name.slice(prefix.length), ours);
      const suggestion = near === undefined ? {} : { suggestion: `${prefix}${near}` };
      return { path: name, value: notShown, expected: "a known variable", where: `environment ${name}`, ...suggestion };
    });
}
