// Short forms and full counts of the same test: `npm test` takes a few of a list, `npm run test:long` takes all.
const isLong = process.env["PORTCULLIS_TEST_LONG"] === "1";

/** All of them in the long run, else these few. */
export function allOr<One>(all: readonly One[], few: readonly One[]): readonly One[] {
  return isLong ? all : few;
}

/** The full count in the long run, else the short one. */
export function countOf(full: number, short: number): number {
  return isLong ? full : short;
}
