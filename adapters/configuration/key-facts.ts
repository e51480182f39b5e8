// What is known of each configuration key beyond its type: one sentence for people, its environment variable, and how
// secret it is. Kept beside the schema in a registry of its own, so that the complaints, `--print-config` and the
// reference table in docs/configuration.md are all made from one place.
import { z } from "zod";

/**
 * How secret a value is: a "whole" one is never shown and is taken from the environment only; one with "credentials" is a
 * URL that may carry them, and a file may name it only without.
 */
type Secrecy = "none" | "credentials" | "whole";

export interface KeyFacts {
  /** What the key decides, for the reference. */
  readonly sentence: string;
  /** The environment variable that sets it. */
  readonly environment?: string;
  readonly secrecy?: Secrecy;
  /** What a valid value looks like, where the type alone does not say it. */
  readonly expected?: string;
  /** What holds when the key is absent and has no default of its own. */
  readonly whenAbsent?: string;
}

export const keyFacts = z.registry<KeyFacts>();

/** A key of the configuration: a schema with its facts. Call it last, on the finished schema. */
export function key<Schema extends z.ZodType>(schema: Schema, facts: KeyFacts): Schema {
  keyFacts.add(schema, facts);
  return schema;
}
