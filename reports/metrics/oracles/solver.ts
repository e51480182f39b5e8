// The shape of what computes a case: a schema that recognises its inputs, and one function from inputs to figures under the files' names.
import { z } from "zod";

export interface Solver {
  /** The figures, or undefined when the inputs are of another shape. */
  solve(inputs: unknown, caseName: string): Readonly<Record<string, unknown>> | undefined;
}

export function solver<Shape extends z.ZodRawShape>(
  shape: Shape,
  figures: (inputs: z.infer<z.ZodObject<Shape>>, caseName: string) => Readonly<Record<string, unknown>>,
): Solver {
  const schema = z.object(shape);
  return {
    solve(inputs, caseName) {
      const read = schema.safeParse(inputs);
      return read.success ? figures(read.data, caseName) : undefined;
    },
  };
}

export const numbers = z.array(z.number());
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
