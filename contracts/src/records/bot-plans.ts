// What a mind of the repository bot may answer: one JSON document in its persona's form, with bounds on everything. A model answers in the same forms.
import { z } from "zod";

/** One sentence or paragraph; what it may show is decided when it is rendered. */
const prose = (lengthMax: number): z.ZodString => z.string().max(lengthMax);

/** Inside a repository: relative, with no way up. */
const repositoryPath = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\p{Cc}\\]+$/u, "expected a path");

export const triagePlan = z.strictObject({
  labels: z.array(z.string().min(1).max(100)).max(3),
  missing: z.array(prose(300)).max(5),
  duplicates: z.array(z.int().min(1)).max(3),
});
export type TriagePlan = z.infer<typeof triagePlan>;

const findingSeverities = ["blocker", "warning", "note"] as const;

export const reviewPlan = z.strictObject({
  findings: z
    .array(
      z.strictObject({
        path: repositoryPath,
        line: z.int().min(1),
        severity: z.enum(findingSeverities),
        text: prose(1_000),
      }),
    )
    .max(20),
});
export type ReviewPlan = z.infer<typeof reviewPlan>;

/** `line` anchors what is found at exactly that line; without it, it must stand in the file once. An empty `find` makes a new file. */
const fileEdit = z.strictObject({
  path: repositoryPath,
  find: prose(40_000),
  replace: prose(40_000),
  line: z.int().min(1).nullable(),
});
export type FileEdit = z.infer<typeof fileEdit>;

export const fixPlan = z.strictObject({
  title: prose(120),
  explanation: prose(3_000),
  edits: z.array(fileEdit).max(60),
});
export type FixPlan = z.infer<typeof fixPlan>;

/** The first of a fixer's two questions: which of the files that it may have it wants to read. */
export const fileChoice = z.strictObject({ paths: z.array(repositoryPath).max(10) });
export type FileChoice = z.infer<typeof fileChoice>;
