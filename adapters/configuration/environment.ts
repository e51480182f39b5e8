// The environment's part of the configuration: each variable that a key names, read as that key's type, and a complaint for
// every PORTCULLIS_* variable that nobody knows, because a misspelt name would otherwise be a setting silently ignored.
import type { Complaint } from "./complaint.ts";
import { editDistance, nearestNames } from "./nearest.ts";
import { type KeyNode, namedKeys } from "./schema-tree.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentValue {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

export const configFileVariable = "PORTCULLIS_CONFIG";
const prefix = "PORTCULLIS_";
const slipsMax = 2;

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
function environmentNames(): readonly string[] {
  const named = namedKeys.flatMap(({ node }) => node.facts?.environment ?? []);
  return [configFileVariable, ...named];
}

/**
 * A complaint for each variable of our family that is not known, a family name with a slip or two in it included. Values are
 * never shown: the name may be a misspelt secret's.
 */
export function unknownVariables(environment: Environment, alsoKnown: readonly string[]): readonly Complaint[] {
  const known = environmentNames().filter((name) => name.startsWith(prefix));
  const accepted = new Set([...environmentNames(), ...othersVariables, ...alsoKnown]);
  return Object.keys(environment)
    .sort()
    .flatMap((name) => {
      const meant = inFamily(name);
      if (meant === undefined || accepted.has(name) || meant.startsWith(testPrefix)) return [];
      const near = accepted.has(meant)
        ? [meant]
        : nearestNames(
            meant.slice(prefix.length),
            known.map((candidate) => candidate.slice(prefix.length)),
          ).map((rest) => `${prefix}${rest}`);
      const found = { path: name, value: "an unknown variable", where: "environment" };
      if (near.length === 0) return [{ ...found, expected: "one of those in docs/configuration.md" }];
      return [{ ...found, expected: "a known one", suggestion: alternatives(near) }];
    });
}

/** The name with our prefix as it should be spelt; undefined when it is none of ours. */
function inFamily(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (upper.startsWith(prefix)) return `${prefix}${name.slice(prefix.length)}`;
  for (let length = prefix.length - slipsMax; length <= prefix.length + slipsMax; length += 1) {
    const head = upper.slice(0, length);
    if (head.endsWith("_") && editDistance(head, prefix) <= slipsMax) return `${prefix}${upper.slice(length)}`;
  }
  return undefined;
}

function alternatives(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}
