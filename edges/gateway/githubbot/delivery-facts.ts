// What is read of a delivery's body: the named fields that the bot decides by, and nothing else of it. A delivery that the bot does nothing about has none.
import { z } from "zod";
import { repositoryText } from "../../../contracts/src/records/githubbot.ts";

/** GitHub allows 65,536 characters in a comment. */
const commentLengthMax = 65_536;

const id = z.int().min(0);
const login = z.string().min(1).max(100);
const person = z.object({ login, type: z.string().max(40).optional() });
const line = (lengthMax: number) => z.string().transform((text) => text.slice(0, lengthMax));
const repository = z.object({ full_name: repositoryText, owner: z.object({ login }).optional() });
const envelope = z.object({ action: z.string().max(60).optional(), repository: repository.optional(), sender: person });

const issue = z.object({
  number: id,
  user: person.nullish(),
  pull_request: z.object({}).optional(),
  performed_via_github_app: z.object({ id }).nullish(),
});
const pullRequest = z.object({
  number: id,
  draft: z.boolean().optional(),
  user: person.nullish(),
  head: z.object({ sha: z.string().regex(/^[0-9a-f]{40,64}$/) }),
});
const comment = z.object({
  id,
  body: line(commentLengthMax).nullish(),
  user: person.nullish(),
  performed_via_github_app: z.object({ id }).nullish(),
});
const release = z.object({
  tag_name: line(300),
  name: line(300).nullish(),
  html_url: line(2_000),
  prerelease: z.boolean().optional(),
  author: person.nullish(),
});
const advisory = z.object({
  ghsa_id: line(100),
  summary: line(1_000).nullish(),
  severity: line(20).nullish(),
  html_url: line(2_000),
});
const label = z.object({ name: line(100) });

/** By event and action. */
const forms: Readonly<Record<string, z.ZodType<Readonly<Record<string, unknown>>>>> = {
  "issues opened": z.object({ issue }),
  "issues labeled": z.object({ issue, label }),
  "issue_comment created": z.object({ issue, comment }),
  "pull_request opened": z.object({ pull_request: pullRequest }),
  "pull_request ready_for_review": z.object({ pull_request: pullRequest }),
  "release published": z.object({ release }),
  "repository_advisory published": z.object({ repository_advisory: advisory }),
};

interface DeliveryFacts {
  readonly event: string;
  readonly repository: string;
  readonly isIgnored: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The event's name as the header says it, else by the body's shape. */
export function deliveryFacts(named: string | undefined, body: Readonly<Record<string, unknown>>): DeliveryFacts {
  const event = named ?? eventByShape(body);
  const around = envelope.safeParse(body).data;
  const name = around?.repository?.full_name ?? "";
  const form = forms[`${event} ${around?.action ?? ""}`];
  const read = form?.safeParse(body).data;
  if (around === undefined || name === "" || read === undefined)
    return { event, repository: name, isIgnored: true, facts: {} };
  return {
    event,
    repository: name,
    isIgnored: false,
    facts: { action: around.action, sender: around.sender, ...read },
  };
}

function eventByShape(body: Readonly<Record<string, unknown>>): string {
  const has = (name: string): boolean => typeof body[name] === "object" && body[name] !== null;
  if (has("issue")) return has("comment") ? "issue_comment" : "issues";
  for (const name of ["pull_request", "release", "repository_advisory"]) if (has(name)) return name;
  return typeof body["zen"] === "string" ? "ping" : "unknown";
}
