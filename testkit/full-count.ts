// Short forms and full counts of the same test. `npm test` takes a few of a list and 200 inputs of a property; the second floor takes all inputs
// (vitest.config.ts runs the files that ask for `inputCount` or `byFloor` there as well), and `npm run test:long` everything.
const isLong = process.env["PORTCULLIS_TEST_LONG"] === "1";
const isFirstFloor = !isLong && (process.env["PORTCULLIS_TEST_FLOOR"] ?? "unit") === "unit";

const inputsMax = 200;

/** All of them in the long run, else these few. */
export function allOr<One>(all: readonly One[], few: readonly One[]): readonly One[] {
  return isLong ? all : few;
}

/** The full count in the long run, else the short one. */
export function countOf(full: number, short: number): number {
  return isLong ? full : short;
}

/** Inputs of a property or a fuzz test: all of them from the second floor on, the first 200 in `npm test`, or so many. */
export function inputCount(full: number, first: number = inputsMax): number {
  return isFirstFloor ? Math.min(full, first) : full;
}

/** What `npm test` takes, and what every later floor does. */
export function byFloor<Value>({ first, later }: { readonly first: Value; readonly later: Value }): Value {
  return isFirstFloor ? first : later;
}
