// Tokens of machines on PostgreSQL: each names what it may call, always runs out, is shown once and kept as a hash.
//
//  1. A token that creates power is issued by the transaction that redeems the proof for exactly it; a denial keeps the proof.
//  2. Whatever changes a token leaves an event in the same transaction.
//  3. Two that issue at once are judged one after the other: every change of this table moves the one row of `identity_epoch`, so
//     the later transaction collides there, is run again and counts anew.
import { type Operation, serviceOperations } from "../../contracts/src/authority.ts";
import type { DenialCode } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { earlier, format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { platformServices } from "../../contracts/src/platform-services.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  Identity,
  IssuedToken,
  NamedAction,
  Outcome,
  ServiceToken,
  ServiceTokens,
  TokenRequest,
} from "../../ports/identity.ts";
import type { Random } from "../../ports/random.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
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
} from "./service-token-rows.ts";
import { newServiceToken } from "./service-token-text.ts";
import { parametersHashOf, redeemProof } from "./step-up-proofs.ts";

export interface ServiceTokensOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Tokens that are neither revoked nor run out, at most; default 1,000. */
  readonly liveMax?: number;
}

const liveMaxDefault = 1_000;
const daysS = 86_400;
const lifeS = { min: 60, max: 366 * daysS };
const overlapS = { min: 0, max: 7 * daysS };
const idForm = /^[0-9a-f]{24}$/;

type Denied = Extract<Outcome<never>, { readonly ok: false }>;

interface Work {
  readonly reason?: string | undefined;
  readonly sql: Sql;
  readonly events: EventWriter;
  readonly identity: Identity;
  readonly at: Instant;
}

export function createServiceTokens(options: ServiceTokensOptions): ServiceTokens {
  const { store, clock, random, liveMax = liveMaxDefault } = options;

  function work<Value>(
    name: string,
    by: { readonly identity: Identity; readonly reason: string | undefined },
    run: (work: Work) => Promise<Value>,
  ): Promise<Value> {
    return store.transactSql(`identity.token_${name}`, ({ events }, sql) =>
      run({ ...by, sql, events, at: clock.now() }),
    );
  }

  async function insertNew(
    { sql, identity, at }: Work,
    request: TokenRequest,
    rotated?: TokenRow,
  ): Promise<IssuedToken> {
    const { id, token } = newServiceToken(random);
    const development = rotated?.development === true || (await isDevelopmentOperator(sql, identity));
    const row: TokenRow = {
      id,
      name: request.name,
      operations: request.operations,
      development,
      createdBy: identity.actor,
      createdAt: at,
      expiresAt: plusMilliseconds(at, request.expiresInS * 1_000),
    };
    await insertToken(sql, row, hashOf(token));
    return { ...publicOf(row), token };
  }

  return {
    list: (page) =>
      store.transactSql("identity.token_list", async (_unit, sql) => (await listTokens(sql, page)).map(publicOf)),

    async issue(identity, request, proof, reason) {
      const wrong = checkRequest(request);
      if (wrong !== undefined) return wrong;
      return work("issue", { identity, reason }, async (it) => {
        if ((await countLive(it.sql, it.at)) >= liveMax) return tooMany(liveMax);
        const refusal = await prove(it, proof, issuing(request));
        if (refusal !== undefined) return refusal;
        const issued = await insertNew(it, request);
        await tellToken(it.events, issued, "issued", it);
        return { ok: true, value: issued };
      });
    },

    async rotate(identity, request, proof, reason) {
      between("overlap_s", request.overlapS, overlapS);
      between("expires_in_s", request.expiresInS, lifeS);
      return work("rotate", { identity, reason }, async (it) => {
        const old = idForm.test(request.id) ? await findToken(it.sql, request.id) : undefined;
        if (old === undefined || old.revokedAt !== undefined || old.expiresAt <= it.at) return notActive();
        if (old.rotatedTo !== undefined) {
          return denied("SERVICE_TOKEN_NOT_ACTIVE", `It was rotated already: rotate ${old.rotatedTo} instead.`);
        }
        // Without an overlap the old one makes room for the new one.
        const room = request.overlapS > 0 ? liveMax : liveMax + 1;
        if ((await countLive(it.sql, it.at)) >= room) return tooMany(liveMax);
        const refusal = await prove(it, proof, rotating(request));
        if (refusal !== undefined) return refusal;
        const issued = await insertNew(it, { ...old, expiresInS: request.expiresInS }, old);
        const expiresAt = earlier(old.expiresAt, plusMilliseconds(it.at, request.overlapS * 1_000));
        await endToken(it.sql, old.id, expiresAt, issued.id);
        await tellToken(it.events, { ...old, expiresAt }, "rotated", it);
        await tellToken(it.events, issued, "issued", it);
        return { ok: true, value: issued };
      });
    },

    revoke: (identity, id, reason) =>
      work("revoke", { identity, reason }, async (it) => {
        const found = idForm.test(id) ? await findToken(it.sql, id) : undefined;
        if (found === undefined) return notActive();
        return { ok: true, value: publicOf(await revokeWithEvent(it.sql, it.events, found, it)) };
      }),
  };
}

/** Who changed it, when, and why if they said so. */
interface By {
  readonly identity: Pick<Identity, "actor">;
  readonly at: Instant;
  readonly reason?: string | undefined;
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
    expires_at: format(token.expiresAt),
    actor: by.identity.actor,
    ...(by.reason === undefined ? {} : { reason: by.reason }),
    at: format(by.at),
  });
}

function publicOf({ development: _internal, ...token }: TokenRow): ServiceToken {
  return token;
}

/** A proof that does not fit is an attempt, and leaves an event; a missing one is only a question for one. */
async function prove(it: Work, proof: string | undefined, named: NamedAction): Promise<Denied | undefined> {
  const denial = await redeemProof(it.sql, it.events, { ...it, proof, named });
  if (denial === undefined) return undefined;
  if (denial.code === "STEP_UP_WRONG") {
    await it.events.publish(subjects.stepUpRefused, {
      operator: it.identity.actor,
      action: named.action,
      parameters_hash: parametersHashOf(named.parameters),
      code: denial.code,
      at: format(it.at),
    });
  }
  return { ok: false, denial };
}

function issuing({ name, operations, expiresInS }: TokenRequest): NamedAction {
  return { action: "IssueServiceToken", parameters: { name, operations, expires_in_s: expiresInS } };
}

function rotating(request: Parameters<ServiceTokens["rotate"]>[1]): NamedAction {
  const { id, overlapS: overlap, expiresInS } = request;
  return { action: "RotateServiceToken", parameters: { id, overlap_s: overlap, expires_in_s: expiresInS } };
}

function checkRequest(request: TokenRequest): Denied | undefined {
  if (!idText.safeParse(request.name).success) throw invalid("name is not an identifier of at most 128 characters");
  // In the record it would stand as `service:<name>`, like one of our own.
  if (platformServices.some((name) => name === request.name))
    throw invalid(`${request.name} is a service of the platform`);
  between("expires_in_s", request.expiresInS, lifeS);
  const unknown = request.operations.find((name) => !(serviceOperations as readonly string[]).includes(name));
  if (unknown !== undefined) {
    return denied(
      "SERVICE_TOKEN_OPERATION_UNKNOWN",
      `No machine may call one of these operations; those that one may: ${serviceOperations.join(", ")}.`,
    );
  }
  if (request.operations.length === 0) throw invalid("operations is empty");
  if (new Set<Operation>(request.operations).size < request.operations.length)
    throw invalid("operations has one twice");
  return undefined;
}

function between(name: string, value: number, bounds: { readonly min: number; readonly max: number }): void {
  if (Number.isSafeInteger(value) && value >= bounds.min && value <= bounds.max) return;
  throw invalid(`${name} is not a whole number of seconds from ${bounds.min} to ${bounds.max}`);
}

function invalid(complaint: string): Fault {
  return new Fault("INVALID_ARGUMENT", `This token cannot be made: ${complaint}.`, { retry: "never" });
}

function denied(code: DenialCode, reason: string): Denied {
  return { ok: false, denial: { code, reason } };
}

function notActive(): Denied {
  return denied("SERVICE_TOKEN_NOT_ACTIVE", "There is no such token, or it was revoked or ran out.");
}

function tooMany(liveMax: number): Denied {
  return denied("SERVICE_TOKEN_LIMIT", `There are ${liveMax} tokens of machines already: revoke some first.`);
}
