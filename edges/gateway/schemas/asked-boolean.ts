// A yes or no in a query, which comes as text: only the two words of JSON are taken, because "1", "yes" and "True" are read differently by every reader.
import { z } from "zod";

/** What is not one of the two words stays text, which the boolean after it refuses. */
export function booleanAsked() {
  const read = (text: unknown): unknown => (text === "true" ? true : text === "false" ? false : text);
  return z.preprocess(read, z.boolean("expected true or false"));
}
