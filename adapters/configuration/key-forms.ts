// The forms that keys of several sections share.
import { z } from "zod";
import { key } from "./key-facts.ts";
import { isPath } from "./value-forms.ts";

export const dayS = 86_400;

export const whole = (min: number, max: number) => z.int().min(min).max(max);
export const usd = () => z.number().min(0).max(1_000_000);
export const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape);
export const text = (charsMax = 1_024) => z.string().min(1).max(charsMax);

export const idExpected = "an id: 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or digit";
export const id = () => z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);

/** Allows one connection to another machine in clear text. */
export const clearText = (what: string, environment: string) =>
  key(z.boolean().default(false), {
    sentence: `Allow ${what} on another machine without TLS, or without it proving itself; banner and health say so.`,
    environment,
  });

/** What every path has to be; the key says of what. */
export const path = () => z.string().refine(isPath);
export const pathExpected = (what: string) =>
  `the path of ${what}, written out: no \`~\` in front, no control characters`;
