// What somebody who follows the platform's events may hear and asked to hear: the same over HTTP and over gRPC.
import { identityEvents } from "./events/identity.ts";
import { Fault } from "./fault.ts";
import { everySubject, leftOut, subjects, validatePattern } from "./subjects.ts";

/** A person's sessions, factors and tokens are for admins. */
const identityWords = identityEvents.sessionOpened.name.split(".").slice(0, 3).join(".");
const identitySubjects = Object.values(identityEvents)
  .map(({ name }) => name)
  .filter((name) => name.startsWith(`${identityWords}.`));

export const followedSubjectsMax = 32;
/** The shortest and the longest time between two signs of life, and the usual one. */
export const heartbeatS = { min: 1, max: 30, usual: 10 } as const;

/** The patterns that are followed; none asked for is everything. Who asks for what is not theirs by name is refused, everything else is without it. */
export function followedSubjects(asked: readonly string[], isAdmin: boolean): readonly string[] {
  if (asked.length > followedSubjectsMax) {
    const sentence = `At most ${followedSubjectsMax} subjects may be asked for; ${asked.length} were: use patterns such as svc.v1.oms.>.`;
    throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
  }
  for (const pattern of asked) {
    validatePattern(pattern);
    if (!isAdmin && (pattern === identityWords || pattern.startsWith(`${identityWords}.`))) {
      const sentence = `${identityWords}.> is for admins only: leave it out, or log in with that role.`;
      throw new Fault("PERMISSION_DENIED", sentence, { retry: "never" });
    }
  }
  const wanted = asked.length === 0 ? [everySubject] : asked;
  return isAdmin ? wanted : [...wanted, ...identitySubjects.map(leftOut)];
}

/** Whether an event concerns a fund: what names another one does not, and what names none (a halt of everything, a price) does. */
export function concernsFund(subject: string, payload: unknown, fundId: string): boolean {
  // One per gate of every order, with nothing but the order's id.
  if (subject === subjects.gatePassed.name) return false;
  const named = fundNamedBy(payload);
  return named === undefined || named === "" || named === fundId;
}

function fundNamedBy(payload: unknown): string | undefined {
  const {
    fund_id: own,
    order,
    data,
    facts,
  } = (payload ?? {}) as Readonly<Record<"fund_id" | "order" | "data" | "facts", unknown>>;
  for (const found of [own, fundIn(order), fundIn(data), fundIn(facts)]) if (typeof found === "string") return found;
  return undefined;
}

function fundIn(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as { readonly fund_id?: unknown }).fund_id : undefined;
}
