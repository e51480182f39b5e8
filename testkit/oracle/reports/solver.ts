// The shape of what computes a case: a schema that recognises its inputs, and one function from inputs to figures under the files' names.
import { z } from "zod";
import { messageOf } from "../../../contracts/src/fault.ts";

export interface Solver {
  /** The figures, or undefined when the inputs are of another shape. Inputs of this shape with a wrong value are an error that names it. */
  solve(inputs: unknown, caseName: string): Readonly<Record<string, unknown>> | undefined;
}

export function solver<Shape extends z.ZodRawShape>(
  shape: Shape,
  figures: (inputs: z.infer<z.ZodObject<Shape>>, caseName: string) => Readonly<Record<string, unknown>>,
): Solver {
  const schema = z.object(shape);
  // By names alone: a value that does not fit must not make the inputs look like those of a smaller shape.
  const needed = Object.entries(schema.shape).flatMap(([name, each]) =>
    z.safeParse(each, undefined).success ? [] : [name],
  );
  return {
    solve(inputs, caseName) {
      if (typeof inputs !== "object" || inputs === null) return undefined;
      if (!needed.every((name) => Object.hasOwn(inputs, name))) return undefined;
      const read = schema.safeParse(inputs);
      if (read.success) return figures(read.data, caseName);
      const [issue] = read.error.issues;
      throw new RangeError(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
    },
  };
}

/** What the first solver that knows the shape answers. What is not known or does not fit is an error, never an empty answer. */
export function solved(solvers: readonly Solver[], oracle: string, caseName: string, inputs: object): object {
  for (const each of solvers) {
    const found = answer(each, oracle, caseName, inputs);
    if (found !== undefined) return asJson(found) as object;
  }
  const keys = Object.keys(inputs).join(", ");
  throw new RangeError(`The inputs of case ${JSON.stringify(caseName)} of ${oracle} have no known shape: ${keys}.`);
}

function answer({ solve }: Solver, oracle: string, caseName: string, inputs: object) {
  try {
    return solve(inputs, caseName);
  } catch (error) {
    const which = `The inputs of case ${JSON.stringify(caseName)} of ${oracle} do not fit`;
    throw new RangeError(`${which}: ${messageOf(error)}`, { cause: error });
  }
}

/** Rows that belong together have one length. */
export function sameLength(rows: Readonly<Record<string, readonly unknown[]>>): void {
  const [[first, { length }] = ["", { length: 0 }], ...others] = Object.entries(rows);
  const other = others.find(([, row]) => row.length !== length);
  if (other === undefined) return;
  throw new RangeError(`${first} has ${length} values and ${other[0]} has ${other[1].length}.`);
}

export const numbers = z.array(z.number());
export const date = z.iso.date();
export const probability = z.number().min(0).max(1);
/** A level of confidence: neither nothing nor all. */
export const level = z.number().gt(0).lt(1);
export const numbersOrNull = z.array(z.number().nullable());

/** The indices at which something holds. */
export const indicesOf = <Value>(values: readonly Value[], holds: (value: Value) => boolean): readonly number[] =>
  values.flatMap((value, index) => (holds(value) ? [index] : []));

export const firstOrNull = (indices: readonly number[]): number | null => indices[0] ?? null;

/** As the files write what JSON has no number for. */
export function asJson(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return Number.isNaN(value) ? null : String(value);
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asJson(each)]));
}
