// The bot's personas: one shape, one list. Each is a name, a sentence, the permissions that its token has, the form of its plan, and what it is told of its task.
import { fileChoice, fixPlan, reviewPlan, triagePlan } from "../../contracts/src/records/bot-plans.ts";
import type { BotPersona } from "../../contracts/src/records/githubbot.ts";
import type { Schema } from "../../contracts/src/schema.ts";
import { instructionsOf } from "./prompts.ts";

type Permissions = Readonly<Record<string, "read" | "write">>;

/** One question to a language model. */
export interface Question {
  readonly schema: Schema;
  readonly schemaName: string;
  readonly instructions: string;
  readonly answerTokensMax: number;
}

export interface Persona {
  readonly name: BotPersona;
  readonly sentence: string;
  /** Of the token that writes; the one that reads has `readerPermissions`. */
  readonly permissions: Permissions;
  readonly plan: Schema;
  /** In the order in which they are asked; two at most. */
  readonly questions: readonly Question[];
  readonly worksOn: "issue" | "pull_request";
  readonly deadlineMs: number;
}

export const readerPermissions: Permissions = {
  metadata: "read",
  contents: "read",
  issues: "read",
  pull_requests: "read",
};

export const personas: readonly Persona[] = [
  {
    name: "triager",
    sentence: "Labels a new issue, asks for what is missing and names probable duplicates.",
    permissions: { metadata: "read", issues: "write" },
    plan: triagePlan,
    questions: [
      { schema: triagePlan, schemaName: "triage", instructions: instructionsOf("triager"), answerTokensMax: 800 },
    ],
    worksOn: "issue",
    deadlineMs: 90_000,
  },
  {
    name: "code_reviewer",
    sentence: "Comments on changed lines of a pull request, each with a severity; it approves nothing.",
    permissions: { metadata: "read", pull_requests: "write" },
    plan: reviewPlan,
    questions: [
      {
        schema: reviewPlan,
        schemaName: "review",
        instructions: instructionsOf("code_reviewer"),
        answerTokensMax: 3_000,
      },
    ],
    worksOn: "pull_request",
    deadlineMs: 180_000,
  },
  {
    name: "bug_fixer",
    sentence: "Proposes a fix as a draft pull request from a branch of its own.",
    permissions: { metadata: "read", contents: "write", issues: "write", pull_requests: "write" },
    plan: fixPlan,
    questions: [
      { schema: fileChoice, schemaName: "files", instructions: instructionsOf("choose_files"), answerTokensMax: 500 },
      { schema: fixPlan, schemaName: "fix", instructions: instructionsOf("bug_fixer"), answerTokensMax: 12_000 },
    ],
    worksOn: "issue",
    deadlineMs: 240_000,
  },
];

/** The commands `pause`, `resume` and `help` answer in the thread and do no more. */
export const keeperPermissions: Permissions = { metadata: "read", issues: "write" };

export function personaOf(name: BotPersona): Persona {
  const found = personas.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no persona ${name}`);
  return found;
}
