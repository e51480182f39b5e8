// What a rule of the architecture says of a file, and which files are tests: shared by the rules, each of which has a file of its own.
import type ts from "typescript";
import { lineOf, type SourceFile } from "./source.ts";

export interface Complaint {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export type Rule = (file: SourceFile) => Iterable<Complaint>;

export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

/** Tests of every floor, and what serves them; the rules themselves name what they refuse. */
export const isTestCode = (path: string): boolean =>
  isTest(path) || (path.startsWith("testkit/") && !path.startsWith("testkit/tidy/"));

/** Tests that `npm test` leaves out: `.ci/run` runs those of the second floor, `npm run test:long` those of the third. */
export const isUpperFloor = (path: string): boolean => /\.(ci|long)\.test\.tsx?$/.test(path);

export function at(file: SourceFile, node: ts.Node, message: string): Complaint {
  return { path: file.path, line: lineOf(file, node), message };
}
