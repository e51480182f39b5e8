// The forms that keys of several sections share.
import { z } from "zod";
import { isPath } from "./value-forms.ts";

export const dayS = 86_400;

export const whole = (min: number, max: number) => z.int().min(min).max(max);
export const usd = () => z.number().min(0).max(1_000_000);
export const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape);
export const text = (charsMax = 1_024) => z.string().min(1).max(charsMax);

/** What every path has to be; the key says of what. */
export const path = () => z.string().refine(isPath);
export const pathExpected = (what: string) =>
  `the path of ${what}, written out: no \`~\` in front, no control characters`;
