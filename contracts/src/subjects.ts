// Every subject on the bus, from the declarations of events (contracts/src/events). No other file spells a subject's name. Patterns over names are as NATS
// has them: words separated by dots, `*` stands for exactly one word, a closing `>` for one or more.
import type { DeclaredEvent } from "./events/event.ts";
import { githubbotEvents } from "./events/githubbot.ts";
import { identityEvents } from "./events/identity.ts";
import { marketEvents } from "./events/market.ts";
import { operationsEvents } from "./events/operations.ts";
import { riskEvents } from "./events/risk.ts";
import { tradingEvents } from "./events/trading.ts";
import { Fault } from "./fault.ts";
import type { Subject } from "./subject.ts";

/** The pattern that covers all of them; operations and the audit chain listen to it. */
export const everySubject = "svc.v1.>";

export const subjects = {
  ...tradingEvents,
  ...riskEvents,
  ...operationsEvents,
  ...identityEvents,
  ...marketEvents,
  ...githubbotEvents,
};

const byName: ReadonlyMap<string, DeclaredEvent<unknown>> = new Map(
  Object.values(subjects).map((each) => [each.name, each] as const) as [string, DeclaredEvent<unknown>][],
);

/** The subject of that exact name, or undefined for one that we do not know. */
export function subjectByName(name: string): Subject<unknown> | undefined {
  return byName.get(name);
}

/** The same with who may publish it and what the audit log says of it. */
export function eventByName(name: string): DeclaredEvent<unknown> | undefined {
  return byName.get(name);
}

/** A bound on names from outside. */
export const subjectLengthMax = 255;

/** Printable ASCII without the dot and the wildcards: NATS forbids white space, and what lies beyond ASCII invites look-alikes. */
const word = /^[!-)+\-,/-=?-~]+$/;

/** What is wrong with a subject's name, in one sentence, or undefined when nothing is. */
export function complaintAboutName(name: string): string | undefined {
  if (name.length === 0) return "it is empty";
  if (name.length > subjectLengthMax) return `it is longer than ${subjectLengthMax} characters`;
  if (isLeftOut(name)) return "it begins with !, which leaves a subject out of a durable subscription's patterns";
  for (const part of name.split(".")) {
    if (part === "") return "it has an empty word";
    if (!word.test(part)) return `its word ${JSON.stringify(part)} has a character that a subject may not have`;
  }
  return undefined;
}

/** What is wrong with a pattern, in one sentence, or undefined when nothing is. */
function complaintAboutPattern(pattern: string): string | undefined {
  const words = pattern.split(".");
  if (words.slice(0, -1).includes(">")) return "its > is not the last word";
  return complaintAboutName(words.map((part) => (part === "*" || part === ">" ? "x" : part)).join("."));
}

/** Among the patterns of a durable subscription: hears nothing of the subject of that exact name. */
export const leftOut = (name: string): string => `!${name}`;

export function isLeftOut(pattern: string): boolean {
  return pattern.startsWith("!");
}

/** The same for what a durable subscription asks for, which may leave subjects out. */
export function validatePatterns(patterns: readonly string[]): void {
  for (const pattern of patterns) {
    if (!isLeftOut(pattern)) validatePattern(pattern);
    else if (complaintAboutName(pattern.slice(1)) !== undefined)
      refusePattern(pattern, "only a whole name can be left out");
  }
  const [first] = patterns;
  if (first !== undefined && patterns.every(isLeftOut))
    refusePattern(first, "nothing is asked for that it could be left out of");
}

/** Whether one of the patterns covers the subject and none leaves it out. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  let isCovered = false;
  for (const pattern of patterns) {
    if (isLeftOut(pattern)) {
      if (pattern.length === name.length + 1 && pattern.endsWith(name)) return false;
    } else if (!isCovered) isCovered = matches(pattern, name);
  }
  return isCovered;
}

/** Refuses a pattern that a server would refuse or that could never match, before anything is subscribed. */
export function validatePattern(pattern: string): void {
  const complaint = complaintAboutPattern(pattern);
  if (complaint !== undefined) refusePattern(pattern, complaint);
}

function refusePattern(pattern: string, complaint: string): never {
  const shown = JSON.stringify(pattern.slice(0, subjectLengthMax));
  throw new Fault("INVALID_ARGUMENT", `${shown} is not a subject pattern: ${complaint}`, { retry: "never" });
}

/** Whether a subject's name falls under a pattern. `a.>` covers `a.b` and `a.b.c`, but not `a`. */
export function matches(pattern: string, name: string): boolean {
  const wanted = pattern.split(".");
  const given = name.split(".");
  for (const [index, part] of wanted.entries()) {
    const found = given[index];
    if (found === undefined || found === "") return false;
    if (part === ">") return index === wanted.length - 1;
    if (part !== "*" && part !== found) return false;
  }
  return given.length === wanted.length;
}
