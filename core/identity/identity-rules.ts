// Who may log in, with which power, as a rule book: what a change of a person needs, and when a second admin's signature makes it so. Nothing
// here changes anything; the shell (adapters/identity/administration/operators-admin.ts) asks with every person locked, and does what was not denied.
//
// Invariants (identity-rules.test.ts names them):
//  1. Where there is an admin, no change leaves nobody who is one.
//  2. In production power is created by two people, compared by person and by name, never by session: one asks, another signs, and both are
//     admins at the moment of the signature. Locking somebody out takes one.
//  3. A request opens what it says, once, until its time is over; it is void as soon as whoever made it may not make it any more.
//  4. The local command makes an admin only while fewer than two others can sign.
import { changesState, type Operation, type Role, roles } from "../../contracts/src/authority.ts";
import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { newNameComplaint } from "../../contracts/src/text/new-name.ts";

/** What a person may be; the fifth is for machines. */
export const personRoles: readonly Role[] = roles.filter((role) => role !== "service");

/** How long a request waits for its co-signer: over night, and not over a week. */
export const identityRequestMs = 24 * 3_600_000;
export const identityRequestsMax = 100;
const operatorsMax = 1_000;

export interface KnownPerson {
  readonly name: string;
  readonly roles: readonly string[];
  readonly isDisabled: boolean;
  readonly isDevelopment: boolean;
}

/** With the user's own issuer nobody here knows who there is: what a token says of its owner counts. */
export type People = "external" | readonly KnownPerson[];

export type PersonChange =
  | { readonly kind: "add" | "roles"; readonly name: string; readonly roles: readonly string[] }
  | { readonly kind: "disable" | "reset factor"; readonly name: string };

interface Caller {
  readonly name: string;
  readonly actor: string;
  readonly subject: string;
}

/** A request as far as it is judged. */
export interface WaitingRequest {
  readonly requestId: string;
  readonly requestedBy: string;
  readonly subject: string;
  readonly expiresAt: Instant;
  readonly ended?: { readonly outcome: "signed" | "expired" | "void" } | undefined;
}

export function isActiveAdmin(person: KnownPerson): boolean {
  return !person.isDisabled && person.roles.includes("admin");
}

/** Locking out is the safe direction: nobody waits for a second person to do it. */
export function changeNeedsTwo(kind: PersonChange["kind"], isProduction: boolean): boolean {
  return isProduction && kind !== "disable";
}

/** A token that only reads is given by one; whatever else it may do (trade, halt, adjust, append) is power. */
export function tokenNeedsTwo(operations: readonly Operation[], isProduction: boolean): boolean {
  return isProduction && operations.some((operation) => changesState(operation));
}

/** The same for somebody who need not be an admin. */
function judgePerson({ name }: Pick<Caller, "name">, people: People): Denial | undefined {
  const denial = judgeAdmin({ name }, people);
  return denial?.code === "OPERATOR_NOT_ADMIN" ? undefined : denial;
}

/** Whether the caller may still ask or sign: a token lives a moment longer than its owner's rights. */
export function judgeAdmin({ name }: Pick<Caller, "name">, people: People): Denial | undefined {
  if (people === "external") return undefined;
  const person = people.find((one) => one.name === name);
  if (person === undefined) return denied("OPERATOR_UNKNOWN", `There is no operator ${name} any more: log in again.`);
  if (person.isDisabled) return denied("OPERATOR_DISABLED", "You are disabled: another admin can let you in again.");
  if (isActiveAdmin(person)) return undefined;
  return denied("OPERATOR_NOT_ADMIN", "You are no admin any more: ask one.");
}

/** Why the change cannot be made, whoever asks; undefined when it can. */
export function judgeChange(change: PersonChange, people: People): Denial | undefined {
  if ("roles" in change) {
    const wrong = judgeRoles(change.roles);
    if (wrong !== undefined) return wrong;
  }
  if (people === "external") return change.kind === "reset factor" ? undefined : external(change);
  const person = people.find(({ name }) => name === change.name);
  if (change.kind === "add") return judgeAdd(change.name, person, people.length);
  if (person === undefined) {
    return denied("OPERATOR_UNKNOWN", `There is no operator ${change.name}: see \`ctl auth operators list\`.`);
  }
  if (person.isDisabled) {
    const again = `add them again with \`ctl auth operators add ${change.name}\`, which gives them a new password`;
    return denied("OPERATOR_DISABLED", `${change.name} is disabled: ${again}.`);
  }
  if (person.isDevelopment && change.kind !== "disable") {
    const where = "dev-credentials.json in the data folder says what they are";
    return denied("OPERATOR_DEVELOPMENT", `${change.name} is a development operator, and ${where}.`);
  }
  return leavesNobody(change, person, people)
    ? denied("OPERATOR_LAST_ADMIN", `${change.name} is the last admin: make another one first. Nothing was changed.`)
    : undefined;
}

function judgeRoles(named: readonly string[]): Denial | undefined {
  const isKnown = (role: string): boolean => (personRoles as readonly string[]).includes(role);
  const unknown = named.find((role) => !isKnown(role));
  const list = `a person may have: ${personRoles.join(", ")}`;
  if (unknown !== undefined) {
    return denied("OPERATOR_ROLE_UNKNOWN", `${JSON.stringify(unknown)} is no role of a person; ${list}.`);
  }
  if (named.length === 0) return denied("OPERATOR_ROLE_UNKNOWN", `Name at least one role; ${list}.`);
  return new Set(named).size < named.length
    ? denied("OPERATOR_ROLE_UNKNOWN", `A role is named twice; ${list}.`)
    : undefined;
}

function judgeAdd(name: string, person: KnownPerson | undefined, count: number): Denial | undefined {
  if (person !== undefined && !person.isDisabled) {
    const instead = `change their roles with \`ctl auth operators roles ${name}\``;
    return denied("OPERATOR_EXISTS", `There is an operator ${name} already: ${instead}.`);
  }
  if (person?.isDevelopment === true) {
    return denied("OPERATOR_DEVELOPMENT", `${name} is the name of a development operator: take another one.`);
  }
  const unnamed = judgeNewName(name, person);
  if (unnamed !== undefined) return unnamed;
  // Whoever was disabled keeps their row, so that this is a bound on what is kept.
  return person === undefined && count >= operatorsMax
    ? denied("OPERATOR_LIMIT", `There are ${operatorsMax} operators already, the disabled ones included.`)
    : undefined;
}

/** Who is there, disabled or not, keeps their name. */
function judgeNewName(name: string, person: KnownPerson | undefined): Denial | undefined {
  const complaint = person === undefined ? newNameComplaint(name) : undefined;
  return complaint === undefined ? undefined : denied("OPERATOR_NAME_INVALID", complaint);
}

function leavesNobody(change: PersonChange, person: KnownPerson, people: readonly KnownPerson[]): boolean {
  const staysAdmin = change.kind === "reset factor" || ("roles" in change && change.roles.includes("admin"));
  if (staysAdmin || !isActiveAdmin(person)) return false;
  return !people.some((other) => other.name !== person.name && isActiveAdmin(other));
}

function external({ kind, name }: PersonChange): Denial {
  const there = "People here are kept by your own issuer: change them there";
  const now = kind === "disable" ? `, and end their logins with \`ctl auth revoke-sessions ${name}\`` : "";
  return denied("OPERATORS_EXTERNAL", `${there}${now}.`);
}

interface CosignVerdict {
  readonly denial?: Denial;
  /** The request can never be signed from here on. */
  readonly ends?: "expired" | "void";
}

/** Whether this signature makes the request so; that what it asks for can still be done is judged besides. */
export function judgeCosign(
  request: WaitingRequest | undefined,
  by: Caller,
  people: People,
  at: Instant,
  signer: "admin" | "second person" = "admin",
): CosignVerdict {
  if (request === undefined) {
    return { denial: denied("IDENTITY_REQUEST_UNKNOWN", "There is no such request: see `ctl auth requests list`.") };
  }
  const again = "ask for it again";
  if (request.ended !== undefined) {
    const how = { signed: "was signed already", expired: "was not signed in time", void: "is void" };
    const code = request.ended.outcome === "expired" ? "IDENTITY_REQUEST_EXPIRED" : "IDENTITY_REQUEST_VOID";
    return { denial: denied(code, `This request ${how[request.ended.outcome]}: ${again} if it is still wanted.`) };
  }
  if (request.expiresAt <= at) {
    const denial = denied("IDENTITY_REQUEST_EXPIRED", `This request was not signed within 24 hours: ${again}.`);
    return { denial, ends: "expired" };
  }
  if (request.subject === by.subject || request.requestedBy === by.actor) {
    return { denial: denied("IDENTITY_SAME_PERSON", "You asked for this yourself: another admin has to sign it.") };
  }
  const mayNotSign = signer === "admin" ? judgeAdmin(by, people) : judgePerson(by, people);
  if (mayNotSign !== undefined) return { denial: mayNotSign };
  const requester = { name: request.requestedBy.replace(/^operator:/, "") };
  if (judgeAdmin(requester, people) !== undefined) {
    const why = `${request.requestedBy}, who asked for this, is no admin any more`;
    return { denial: denied("IDENTITY_REQUEST_VOID", `${why}: ${again} yourself.`), ends: "void" };
  }
  return {};
}

/** The local command's own rule: it makes the first two, and one again when fewer than two can sign. */
export function judgeLocalAdmin(name: string, people: readonly KnownPerson[]): Denial | undefined {
  const isReal = (person: KnownPerson): boolean => isActiveAdmin(person) && !person.isDevelopment;
  const others = people.filter((person) => isReal(person) && person.name !== name);
  if (others.length >= 2) {
    const names = others.map((person) => person.name).join(", ");
    const how = `one of them asks with \`ctl auth operators add ${name} --role admin\`, another one signs`;
    return denied("OPERATOR_EXISTS", `There are admins who can do it: ${names}. ${how}.`);
  }
  const person = people.find((one) => one.name === name);
  return person?.isDevelopment === true
    ? denied("OPERATOR_DEVELOPMENT", `${name} is the name of a development operator: take another one.`)
    : judgeNewName(name, person);
}

function denied(code: DenialCode, reason: string): Denial {
  return { code, reason };
}
