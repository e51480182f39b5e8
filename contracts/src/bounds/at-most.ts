// How much of a text, a map or free JSON a request may hold. A list says it with `max` and a text with `max` or its form; what has no such word of its own
// says it here. The reader of bodies (adapters/http/body) counts against it while it reads, before any schema sees a value, and a route with a body of
// which some part may be as long as it likes is not served.
import { z } from "zod";

/** Of free JSON: its values in all, those inside others included, and the characters of its texts and names together. */
export interface AnyMost {
  readonly values: number;
  readonly characters: number;
}

type Most =
  /** Of a text. */
  | { readonly characters: number }
  /** Of a list of which the reference names no maximum, because none was named before. */
  | { readonly entries: number }
  /** Of members of any name. */
  | { readonly members: number }
  | { readonly any: AnyMost };

const declared = z.registry<{ readonly most: Most }>();

/** The same schema, with what it may hold at most. */
export function atMost<Of extends z.ZodType>(schema: Of, most: Most): Of {
  const own = schema.clone();
  declared.add(own, { most });
  return own;
}

export function mostOf(schema: z.ZodType): Most | undefined {
  return declared.get(schema)?.most;
}
