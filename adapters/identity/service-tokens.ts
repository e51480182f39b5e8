// Tokens of machines on PostgreSQL: each names what it may call, always runs out, is shown once and kept as a hash.
//
//  1. A token that creates power is issued by the transaction that redeems the proof for exactly it; a denial keeps the proof.
//  2. Whatever changes a token leaves an event in the same transaction.
//  3. Two that issue at once are judged one after the other: every change of this table moves the one row of `identity_epoch`, so
//     the later transaction collides there, is run again and counts anew.
import { type Operation, serviceOperations } from "../../contracts/src/authority.ts";
import type { Denial } from "../../contracts/src/codes.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { isLoginName, isReservedSource } from "../../contracts/src/foreign-events.ts";
import { earlier, format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { isOwnSource, ownProcesses } from "../../contracts/src/platform-services.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { judgeAdmin, tokenNeedsTwo } from "../../core/identity/identity-rules.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  Identity,
  IssuedToken,
  NamedAction,
  Outcome,
  Requested,
  ServiceToken,
  ServiceTokens,
  TokenRequest,
} from "../../ports/identity.ts";
import type { Random } from "../../ports/random.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import type { ChangeWork, ReadPeople } from "./administration/change-work.ts";
import { noReason, refused, tooManyWait } from "./administration/identity-refusals.ts";
import { makeRequest } from "./administration/identity-requests.ts";
import { hashOf } from "./sealing.ts";
import {
  countLive,
  endToken,
  findToken,
  insertToken,
  isDevelopmentOperator,
  listTokens,
  revokeToken,
  type TokenRow,
  tokenOfLogins,
} from "./service-token-rows.ts";
import { newServiceToken } from "./service-token-text.ts";
import { redeemOrTell } from "./step-up-proofs.ts";

interface ServiceTokensOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a token that may change something takes two admins. */
  readonly isProduction: boolean;
  readonly people: ReadPeople;
  /** Tokens that are neither revoked nor run out, at most; default 1,000. */
  readonly liveMax?: number;
}

const liveMaxDefault = 1_000;
const daysS = 86_400;
const lifeS = { min: 60, max: 366 * daysS };
/** What is asked for beyond this is refused with a sentence; up to a year it is at least understood. */
const tokenLifeDaysMax = 90;
const tokenFundsMax = 64;
const tokenLoginsMax = 16;
const overlapS = { min: 0, max: 7 * daysS };
/** How the local command stands in records, as `service:<name>`. */
export const localCommandName = "local-command";
const idForm = /^[0-9a-f]{24}$/;

type Rotation = Parameters<ServiceTokens["rotate"]>[1];

interface Work {
  readonly reason?: string | undefined;
  readonly sql: Sql;
  readonly events: EventWriter;
  readonly identity: Identity;
  readonly at: Instant;
}

/** What a token's change does in the transaction of whoever judged it: by one admin, or signed by a second one. */
export interface TokenChanges {
  judgeIssue(it: ChangeWork, request: TokenRequest): Promise<Denial | undefined>;
  issue(it: ChangeWork, request: TokenRequest): Promise<IssuedToken>;
  judgeRotate(it: ChangeWork, request: Rotation): Promise<Denial | undefined>;
  rotate(it: ChangeWork, request: Rotation): Promise<IssuedToken>;
}

export function createTokenChanges({
  random,
  liveMax = liveMaxDefault,
}: Pick<ServiceTokensOptions, "random" | "liveMax">): TokenChanges {
  async function insertNew(it: ChangeWork, request: TokenRequest, rotated?: TokenRow): Promise<IssuedToken> {
    const { sql, at, actor, subject, cosignedBy } = it;
    const { id, token } = newServiceToken(random);
    const row: TokenRow = {
      id,
      name: request.name,
      operations: request.operations,
      ...(request.funds === undefined ? {} : { funds: request.funds }),
      ...(request.natsLogins === undefined ? {} : { natsLogins: request.natsLogins }),
      development: rotated?.development === true || (await isDevelopmentOperator(sql, subject)),
      createdBy: actor,
      createdAt: at,
      expiresAt: plusMilliseconds(at, request.expiresInS * 1_000),
      ...(cosignedBy === undefined ? {} : { cosignedBy }),
    };
    await insertToken(sql, row, hashOf(token));
    return { ...publicOf(row), token };
  }

  return {
    async judgeIssue({ sql, at }, request) {
      const wrong = checkRequest(request);
      if (wrong !== undefined) return wrong;
      if ((await countLive(sql, at)) >= liveMax) return tooMany(liveMax);
      const other = await tokenOfLogins(sql, request, at);
      return other === undefined ? undefined : loginTaken(other);
    },

    async issue(it, request) {
      const issued = await insertNew(it, request);
      await tellToken(it.events, issued, "issued", byOf(it));
      return issued;
    },

    async judgeRotate({ sql, at }, request) {
      const wrong = checkRotation(request);
      if (wrong !== undefined) return wrong;
      const old = idForm.test(request.id) ? await findToken(sql, request.id) : undefined;
      if (old === undefined || old.revokedAt !== undefined || old.expiresAt <= at) return notActive();
      if (old.rotatedTo !== undefined) {
        const reason = `It was rotated already: rotate ${old.rotatedTo} instead.`;
        return { code: "SERVICE_TOKEN_NOT_ACTIVE", reason };
      }
      // Without an overlap the old one makes room for the new one.
      const room = request.overlapS > 0 ? liveMax : liveMax + 1;
      return (await countLive(sql, at)) >= room ? tooMany(liveMax) : undefined;
    },

    async rotate(it, request) {
      const old = await findToken(it.sql, request.id);
      if (old === undefined) throw new Defect(`the token ${request.id} is gone while it is rotated`);
      const issued = await insertNew(it, { ...old, expiresInS: request.expiresInS }, old);
      const expiresAt = earlier(old.expiresAt, plusMilliseconds(it.at, request.overlapS * 1_000));
      await endToken(it.sql, old.id, expiresAt, issued.id);
      await tellToken(it.events, { ...old, expiresAt }, "rotated", byOf(it));
      await tellToken(it.events, issued, "issued", byOf(it));
      return issued;
    },
  };
}

export function createServiceTokens(options: ServiceTokensOptions & { readonly changes: TokenChanges }): ServiceTokens {
  const { store, clock, random, changes } = options;

  function work<Value>(
    name: string,
    by: { readonly identity: Identity; readonly reason: string | undefined },
    run: (work: Work) => Promise<Value>,
  ): Promise<Value> {
    return store.transactSql(`identity.token_${name}`, ({ events }, sql) =>
      run({ ...by, sql, events, at: clock.now() }),
    );
  }

  /** Proved, then done or requested; what stands against it was judged before, so that a denial keeps the proof. */
  async function give(
    it: Work,
    proof: string | undefined,
    asked: {
      readonly named: NamedAction;
      readonly target: string;
      readonly operations: readonly Operation[];
      done(it: ChangeWork): Promise<IssuedToken>;
    },
  ): Promise<Outcome<IssuedToken | Requested>> {
    const { sql, events, identity, at, reason = "" } = it;
    const denial = judgeAdmin(identity, await options.people(sql));
    if (denial !== undefined) return refused(it, asked.named.action, asked.target, denial);
    const isShared = tokenNeedsTwo(asked.operations, options.isProduction);
    if (isShared && reason.trim() === "") return { ok: false, denial: noReason };
    const unproved = await redeemOrTell(sql, events, { proof, identity, named: asked.named, at });
    if (unproved !== undefined) return { ok: false, denial: unproved };
    if (!isShared) return { ok: true, value: await asked.done(workOf(it)) };
    const { action: operation, parameters } = asked.named;
    const about = { requestId: random.uuid(), operation, target: asked.target, parameters };
    const request = await makeRequest(sql, events, { ...about, identity, reason, at });
    return request === undefined ? { ok: false, denial: tooManyWait } : { ok: true, value: { request } };
  }

  const workOf = ({ sql, events, at, identity, reason = "" }: Work): ChangeWork => {
    return { sql, events, at, actor: identity.actor, subject: identity.subject, reason };
  };

  return {
    list: (page) =>
      store.transactSql("identity.token_list", async (_unit, sql) => (await listTokens(sql, page)).map(publicOf)),

    issue: (identity, request, proof, reason) =>
      work("issue", { identity, reason }, async (it) => {
        const denial = await changes.judgeIssue(workOf(it), request);
        if (denial !== undefined) return { ok: false, denial };
        return give(it, proof, {
          named: issuing(request),
          target: `service:${request.name}`,
          operations: request.operations,
          done: (changing) => changes.issue(changing, request),
        });
      }),

    rotate: (identity, request, proof, reason) =>
      work("rotate", { identity, reason }, async (it) => {
        const denial = await changes.judgeRotate(workOf(it), request);
        if (denial !== undefined) return { ok: false, denial };
        const old = await findToken(it.sql, request.id);
        return give(it, proof, {
          named: rotating(request),
          target: request.id,
          operations: old?.operations ?? [],
          done: (changing) => changes.rotate(changing, request),
        });
      }),

    revoke: (identity, id, reason) =>
      work("revoke", { identity, reason }, async (it) => {
        const found = idForm.test(id) ? await findToken(it.sql, id) : undefined;
        if (found === undefined) return { ok: false, denial: notActive() };
        return { ok: true, value: publicOf(await revokeWithEvent(it.sql, it.events, found, it)) };
      }),
  };
}

/** Who changed it, when, and why if they said so. */
interface By {
  readonly identity: Pick<Identity, "actor">;
  readonly at: Instant;
  readonly reason?: string | undefined;
  readonly cosignedBy?: string | undefined;
  readonly requestId?: string | undefined;
}

function byOf({ actor, at, reason, cosignedBy, requestId }: ChangeWork): By {
  return { identity: { actor }, at, reason: reason === "" ? undefined : reason, cosignedBy, requestId };
}

/** Revokes it unless it is revoked already; also for those who end it for another reason. */
export async function revokeWithEvent(sql: Sql, events: EventWriter, row: TokenRow, by: By): Promise<TokenRow> {
  if (row.revokedAt !== undefined) return row;
  await revokeToken(sql, row.id, by.identity.actor, by.at);
  await tellToken(events, row, "revoked", by);
  return { ...row, revokedAt: by.at };
}

export async function tellToken(
  events: EventWriter,
  token: ServiceToken,
  change: "issued" | "rotated" | "revoked",
  by: By,
): Promise<void> {
  await events.publish(subjects.serviceTokenChanged, {
    token_id: token.id,
    name: token.name,
    change,
    operations: [...token.operations],
    ...(token.funds === undefined ? {} : { funds: [...token.funds] }),
    ...(token.natsLogins === undefined ? {} : { nats_logins: [...token.natsLogins] }),
    expires_at: format(token.expiresAt),
    actor: by.identity.actor,
    ...(by.cosignedBy === undefined ? {} : { cosigned_by: by.cosignedBy }),
    ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
    ...(by.reason === undefined ? {} : { reason: by.reason }),
    at: format(by.at),
  });
}

function publicOf({ development: _internal, ...token }: TokenRow): ServiceToken {
  return token;
}

function issuing({ name, operations, funds, natsLogins, expiresInS }: TokenRequest): NamedAction {
  const named = {
    ...(funds === undefined ? {} : { funds }),
    ...(natsLogins === undefined ? {} : { nats_logins: natsLogins }),
  };
  return { action: "IssueServiceToken", parameters: { name, operations, ...named, expires_in_s: expiresInS } };
}

function rotating(request: Rotation): NamedAction {
  const { id, overlapS: overlap, expiresInS } = request;
  return { action: "RotateServiceToken", parameters: { id, overlap_s: overlap, expires_in_s: expiresInS } };
}

function checkRotation(request: Rotation): Denial | undefined {
  between("overlap_s", request.overlapS, overlapS);
  between("expires_in_s", request.expiresInS, lifeS);
  return checkLife(request.expiresInS);
}

function checkLife(expiresInS: number): Denial | undefined {
  if (expiresInS <= tokenLifeDaysMax * daysS) return undefined;
  const most = `${tokenLifeDaysMax} days (expires_in_s ${tokenLifeDaysMax * daysS})`;
  return {
    code: "SERVICE_TOKEN_LIFE",
    reason: `A token lives for ${most} at most: ask for less, and rotate it before it ends.`,
  };
}

function checkRequest(request: TokenRequest): Denial | undefined {
  if (!idText.safeParse(request.name).success) throw invalid("name is not an identifier of at most 128 characters");
  // In the record it would stand as `service:<name>`, like one of our own.
  if ([...ownProcesses, localCommandName].some((name) => name === request.name))
    throw invalid(`${request.name} is a service of the platform`);
  if (isReservedSource(request.name))
    throw invalid(`${request.name} is the name of prices or logins that no token has`);
  between("expires_in_s", request.expiresInS, lifeS);
  const tooLong = checkLife(request.expiresInS);
  if (tooLong !== undefined) return tooLong;
  const unknown = request.operations.find((name) => !(serviceOperations as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const reason = `No machine may call one of these operations; those that one may: ${serviceOperations.join(", ")}.`;
    return { code: "SERVICE_TOKEN_OPERATION_UNKNOWN", reason };
  }
  if (request.operations.length === 0) throw invalid("operations is empty");
  if (new Set<Operation>(request.operations).size < request.operations.length)
    throw invalid("operations has one twice");
  checkFunds(request.funds);
  checkLogins(request.natsLogins);
  return undefined;
}

function checkLogins(logins: readonly string[] | undefined): void {
  if (logins === undefined) return;
  if (logins.length === 0) throw invalid("nats_logins is empty; leave it out for none");
  if (logins.length > tokenLoginsMax)
    throw invalid(`nats_logins has ${logins.length} names, and at most ${tokenLoginsMax} fit`);
  if (new Set(logins).size < logins.length) throw invalid("nats_logins has one twice");
  const wrong = logins.find((login) => !isLoginName(login));
  if (wrong !== undefined) throw invalid("nats_logins has a name that is no login: 1 to 64 letters, digits, - and _");
  const own = logins.find((login) => isOwnSource(login));
  if (own !== undefined) throw invalid(`${own} is the login of a service of the platform`);
}

/** A fund need not exist yet: its token is made before its first order. */
function checkFunds(funds: readonly string[] | undefined): void {
  if (funds === undefined) return;
  if (funds.length === 0) throw invalid("funds is empty; leave it out for every fund");
  if (funds.length > tokenFundsMax) throw invalid(`funds has ${funds.length} names, and at most ${tokenFundsMax} fit`);
  if (new Set(funds).size < funds.length) throw invalid("funds has one twice");
  if (funds.some((fund) => !idText.safeParse(fund).success)) throw invalid("funds has a name that is no identifier");
}

function between(name: string, value: number, bounds: { readonly min: number; readonly max: number }): void {
  if (Number.isSafeInteger(value) && value >= bounds.min && value <= bounds.max) return;
  throw invalid(`${name} is not a whole number of seconds from ${bounds.min} to ${bounds.max}`);
}

function invalid(complaint: string): Fault {
  return new Fault("INVALID_ARGUMENT", `This token cannot be made: ${complaint}.`, { retry: "never" });
}

function notActive(): Denial {
  return { code: "SERVICE_TOKEN_NOT_ACTIVE", reason: "There is no such token, or it was revoked or ran out." };
}

function loginTaken(other: string): Denial {
  const reason = `A login speaks for one machine, and ${other} has a token that names it: revoke that one first.`;
  return { code: "SERVICE_TOKEN_LOGIN_TAKEN", reason };
}

function tooMany(liveMax: number): Denial {
  return {
    code: "SERVICE_TOKEN_LIMIT",
    reason: `There are ${liveMax} tokens of machines already: revoke some first.`,
  };
}
