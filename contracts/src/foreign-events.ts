// What programs outside the platform may publish in the place of our order management, treasury or feed, once for every way in: the logins of
// NATS, the gRPC procedures of ForeignEvents and the database's own rules are made from this list.
import type { Operation } from "./authority.ts";
import { isOwnSource } from "./platform-services.ts";
import { eventByName, subjects } from "./subjects.ts";

/** A durable consumer on NATS: its name, and the one pattern that it may hear. */
interface ForeignConsumer {
  readonly name: string;
  readonly filter: string;
}

export interface ForeignPublisher {
  /** Its login on NATS. */
  readonly login: string;
  readonly sentence: string;
  /** What a token must name for it. */
  readonly operation: Operation;
  readonly subjects: readonly string[];
  /** What concerns it. */
  readonly hears: readonly ForeignConsumer[];
}

/** Every subject below the parent of these, by their common words. */
const below = (name: string): string => `${name.split(".").slice(0, -1).join(".")}.>`;
const halts = below(subjects.haltRequested.name);
const approvals = below(subjects.approvalExpired.name);
const fills = below(subjects.fillsCreated.name);
const decisions = subjects.decisionMade.name;
const alarms = subjects.alarmRaised.name;

export const foreignPublishers: readonly ForeignPublisher[] = [
  {
    login: "foreign-oms",
    sentence: "A program of your own in the place of oms.",
    operation: "PublishOrders",
    subjects: [
      subjects.ordersCreated.name,
      subjects.ordersAccepted.name,
      subjects.ordersRejected.name,
      subjects.ordersUpdated.name,
      subjects.ordersCancelled.name,
      subjects.ordersExpired.name,
      subjects.fillsCreated.name,
      subjects.fillsBusted.name,
    ],
    hears: [
      { name: "foreign-oms-halts", filter: halts },
      { name: "foreign-oms-decisions", filter: decisions },
      { name: "foreign-oms-approvals", filter: approvals },
      { name: "foreign-oms-alarms", filter: alarms },
    ],
  },
  {
    login: "foreign-treasury",
    sentence: "A program of your own in the place of treasury.",
    operation: "PublishValues",
    subjects: [subjects.navUpdated.name],
    hears: [
      { name: "foreign-treasury-fills", filter: fills },
      { name: "foreign-treasury-halts", filter: halts },
      { name: "foreign-treasury-alarms", filter: alarms },
    ],
  },
  {
    login: "foreign-prices",
    sentence: "A feed of prices of your own.",
    operation: "PublishPrices",
    subjects: [subjects.marketMarks.name],
    hears: [{ name: "foreign-prices-alarms", filter: alarms }],
  },
];

/** Whose subject it is; undefined for one that no program outside may publish. */
export function foreignPublisherOf(subject: string): ForeignPublisher | undefined {
  return foreignPublishers.find(({ subjects: own }) => own.includes(subject));
}

/** Those that are stored. */
export const foreignDurableSubjects: readonly string[] = foreignPublishers
  .flatMap(({ subjects: own }) => own)
  .filter((name) => eventByName(name)?.delivery === "durable");

/** As it stands in a subject's name and in that of its inbox. */
const loginForm = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const loginWord = "foreign";

export const isLoginName = (name: string): boolean => loginForm.test(name);

/** Below what is its own a login of NATS publishes what contracts list for programs outside: `foreign.<login>.svc.v1.oms.fills.created`. */
export const loginSubject = (login: string, subject: string): string => `${loginWord}.${login}.${subject}`;

/** The pattern of that subject below every login. */
export const byEveryLogin = (subject: string): string => loginSubject("*", subject);

/** Which login published which subject there; undefined for anything else, whatever it looks like. */
export function ofLogin(name: string): { readonly login: string; readonly subject: string } | undefined {
  const [first, login = "", ...rest] = name.split(".");
  const subject = rest.join(".");
  if (first !== loginWord || !isLoginName(login) || foreignPublisherOf(subject) === undefined) return undefined;
  return { login, subject };
}

/** The source of a login that no token names. Today's three keep the names that they have, below their own prefix too. */
export function sourceOfLogin(login: string): string {
  return foreignPublishers.some((one) => one.login === login) ? login : `${loginWord}.${login}`;
}

/** The login that such a source names. */
export function loginOfSource(source: string): string | undefined {
  const [first, login = "", ...rest] = source.split(".");
  if (first === loginWord && rest.length === 0 && isLoginName(login)) return login;
  return foreignPublishers.find((one) => one.login === source)?.login;
}

/** No token may be called like a login of NATS, or like the simulated market, whose prices are no program's. */
export function isReservedSource(name: string): boolean {
  return (
    name === "paper" || name === loginWord || name.startsWith(`${loginWord}.`) || loginOfSource(name) !== undefined
  );
}

/** A name of ours is never that of a program outside. */
export function isForeignSource(source: string): boolean {
  return source !== "" && !isOwnSource(source);
}
