// Which runs a delivery is a reason for. Only what a person did counts: bots, apps and our own events never do. Whether that person may is asked when the run acts.
import type { BotCommand, BotRunner, BotTrigger } from "../../contracts/src/records/githubbot.ts";
import { type RunCause, readCommand, runKey } from "./commands.ts";

/** The label by which a person asks for a fix. */
const fixLabel = "bot:fix";

interface Person {
  readonly login: string;
  readonly type?: string | undefined;
}

interface ByApp {
  readonly performed_via_github_app?: object | null | undefined;
}

/** The named fields of a delivery, as the gateway kept them. */
interface DeliveryFacts {
  readonly action?: string;
  readonly sender?: Person;
  readonly issue?: ByApp & { readonly number: number; readonly user?: Person | null; readonly pull_request?: object };
  readonly label?: { readonly name: string };
  readonly comment?: ByApp & { readonly id: number; readonly body?: string | null; readonly user?: Person | null };
  readonly pull_request?: {
    readonly number: number;
    readonly draft?: boolean;
    readonly user?: Person | null;
    readonly head: { readonly sha: string };
  };
}

interface Delivered {
  readonly deliveryId: string;
  readonly event: string;
  readonly repository: string;
  readonly facts: DeliveryFacts;
}

interface WantedRun {
  readonly key: string;
  readonly number: number;
  readonly persona: BotRunner;
  readonly trigger: BotTrigger;
  readonly command?: BotCommand;
  readonly requestedBy: string;
  readonly commentId?: number;
  readonly headSha?: string;
}

const runnerOf: Readonly<Record<BotCommand, BotRunner>> = {
  triage: "triager",
  review: "code_reviewer",
  fix: "bug_fixer",
  pause: "keeper",
  resume: "keeper",
  help: "keeper",
};

export function wantedRuns(delivered: Delivered, slug: string): readonly WantedRun[] {
  const { event, facts } = delivered;
  const { sender, issue, comment, pull_request: pull, action, label } = facts;
  if (!isPerson(sender)) return [];
  const of = wantedOf(delivered, sender.login);
  switch (`${event} ${action}`) {
    case "issues opened":
      if (issue === undefined || !isPerson(issue.user) || isByApp(issue)) return [];
      return [of(issue.number, "triager", "opened", { kind: "opened" })];
    case "issues labeled":
      if (issue === undefined || label?.name !== fixLabel) return [];
      return [of(issue.number, "bug_fixer", "labelled", { kind: "label", deliveryId: delivered.deliveryId })];
    case "issue_comment created":
      return issue === undefined || comment === undefined ? [] : commanded(of, issue.number, comment, slug);
    case "pull_request opened":
    case "pull_request ready_for_review":
      if (pull === undefined || pull.draft === true || !isPerson(pull.user)) return [];
      return [opened(of, pull, action === "opened" ? "opened" : "ready")];
    default:
      return [];
  }
}

type Of = (number: number, persona: BotRunner, trigger: BotTrigger, cause: RunCause) => WantedRun;

const wantedOf =
  ({ repository }: Delivered, requestedBy: string): Of =>
  (number, persona, trigger, cause) => ({
    key: runKey(repository, number, persona, cause),
    number,
    persona,
    trigger,
    requestedBy,
  });

function opened(of: Of, pull: NonNullable<DeliveryFacts["pull_request"]>, trigger: BotTrigger): WantedRun {
  const headSha = pull.head.sha;
  return { ...of(pull.number, "code_reviewer", trigger, { kind: "head", headSha }), headSha };
}

function commanded(
  of: Of,
  number: number,
  comment: NonNullable<DeliveryFacts["comment"]>,
  slug: string,
): readonly WantedRun[] {
  if (!isPerson(comment.user) || isByApp(comment)) return [];
  const command = readCommand(comment.body ?? "", slug);
  if (command === undefined) return [];
  const run = of(number, runnerOf[command], "command", { kind: "command", commentId: comment.id });
  return [{ ...run, command, commentId: comment.id }];
}

function isPerson(who: Person | null | undefined): who is Person {
  if (who === undefined || who === null) return false;
  return (who.type ?? "User") === "User" && !who.login.endsWith("[bot]");
}

function isByApp({ performed_via_github_app: app }: ByApp): boolean {
  return app !== undefined && app !== null;
}
