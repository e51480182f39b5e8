// The provider's state in our store: sessions, interactions, grants, codes, refresh tokens. Whoever reads the table learns nothing
// that opens anything.
//
//  1. Ids, user codes and grants stand as SHA-256; what they mean is sealed for its own row.
//  2. A code or refresh token is used once. The library looks first and marks later; the mark decides here, and whoever comes
//     second ends the whole grant, as for any use of what is used up.
//  3. A grant is a session: its first row and the event that it opened are one transaction, its removal and the event that it
//     closed another, and its tokens are refused everywhere before that.
//  4. A device's code is taken over by one browser and answered once.
//  5. A browser's session is found for as long as its grant lives, by every endpoint and for every client: the desk's, or without a
//     desk that of the device which it approved last. This is the one place that asks.

import type { Adapter, AdapterPayload } from "oidc-provider";
import * as instant from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { type GrantMade, grantMadeContext } from "../logins/browser-logins.ts";
import { hashOf, type Sealing } from "../sealing.ts";
import type { Library } from "./load-library.ts";
import { actorOf, cliClientId, type Revocations, webClientId } from "./options.ts";
import type { RequestScope } from "./request-scope.ts";

export interface StateOptions {
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  readonly revocations: Revocations;
  readonly clock: Clock;
  readonly scope: RequestScope;
  readonly library: Pick<Library, "errors" | "AlreadyUsedError">;
}

interface Row {
  readonly id_hash: string;
  readonly payload_sealed: Uint8Array;
  readonly consumed_us: string | null;
  readonly expires_us: string;
}

const columns = "id_hash, payload_sealed, consumed_us, expires_us";

/** The session's id outside the provider: in tokens, events and revocations. */
export function sessionIdOf(grantId: string): string {
  return hashOf(grantId);
}

export function createStateAdapter(model: string, options: StateOptions): Adapter {
  const { store, sealing, clock, library } = options;
  const contextOf = (idHash: string): string => `oidc_state ${model} ${idHash}`;
  const payloadOf = (row: Row): AdapterPayload =>
    parseJson(sealing.open(row.payload_sealed, contextOf(row.id_hash))) as AdapterPayload;

  async function findBy(column: "id_hash" | "uid_hash" | "user_code_hash", value: string) {
    const found = await store.transactSql("oidc_find", (_unit, sql) =>
      sql.read({
        name: `oidc_find_${column}`,
        text: `select ${columns} from oidc_state where model = $1 and ${column} = $2 order by expires_us desc limit 1`,
        values: [model, hashOf(value)],
      }),
    );
    const row: Row | undefined = found.rows[0];
    if (row === undefined) return undefined;
    if (Number(row.expires_us) <= clock.now() && model !== "DeviceCode") return undefined;
    const payload = payloadOf(row);
    if (model === "Session" && (await isLoggedOut(payload, options))) return undefined;
    if (row.consumed_us === null) return payload;
    return { ...payload, consumed: Math.floor(Number(row.consumed_us) / instant.microsecondsPerSecond) };
  }

  /** The row as it is, locked, so that what we conclude from it still holds when we write. */
  async function locked(sql: Sql, idHash: string): Promise<AdapterPayload | undefined> {
    const found = await sql.write({
      name: "oidc_lock",
      text: `select ${columns} from oidc_state where model = $1 and id_hash = $2 for update`,
      values: [model, idHash],
    });
    const row: Row | undefined = found.rows[0];
    return row === undefined ? undefined : payloadOf(row);
  }

  async function upsert(id: string, payload: AdapterPayload, expiresInS = 0): Promise<void> {
    const idHash = hashOf(id);
    await store.transactSql("oidc_upsert", async (unit, sql) => {
      if (model === "DeviceCode" && isUsedUp(await locked(sql, idHash), payload)) throw new library.AlreadyUsedError();
      if (model === "Grant" && (await locked(sql, idHash)) === undefined) {
        await publishSession(unit, "opened", idHash, payload, options);
      }
      await write(
        sql,
        { model, idHash, payload, expiresInS, sealed: sealing.seal(JSON.stringify(payload), contextOf(idHash)) },
        model === "Grant" ? madeNow(idHash, payload, options) : undefined,
        clock,
      );
    });
  }

  async function consume(id: string): Promise<void> {
    const idHash = hashOf(id);
    const lost = await store.transactSql("oidc_consume", async (_unit, sql) => {
      const marked = await sql.write({
        name: "oidc_consume",
        text: `update oidc_state set consumed_us = $3 where model = $1 and id_hash = $2 and consumed_us is null`,
        values: [model, idHash, clock.now()],
      });
      return marked.rowCount === 1 ? undefined : { grantId: (await locked(sql, idHash))?.grantId };
    });
    if (lost === undefined) return;
    if (lost.grantId !== undefined) await endSession(lost.grantId, options);
    throw new library.errors.InvalidGrant(`${model} already used`);
  }

  return {
    upsert,
    find: (id) => findBy("id_hash", id),
    findByUid: (uid) => findBy("uid_hash", uid),
    findByUserCode: (userCode) => findBy("user_code_hash", userCode),
    consume,
    async destroy(id) {
      if (model === "Grant") return endSession(id, options);
      await remove(store, "model = $1 and id_hash = $2", [model, hashOf(id)]);
    },
    async revokeByGrantId(grantId) {
      await remove(store, "model = $1 and grant_hash = $2", [model, hashOf(grantId)]);
    },
  };
}

/** Whether what a browser logged in for has ended. */
async function isLoggedOut(session: AdapterPayload, { revocations }: StateOptions): Promise<boolean> {
  const { uid, accountId, authorizations } = session;
  if (uid === undefined || accountId === undefined) return false;
  const grantId = authorizations?.[webClientId]?.grantId ?? authorizations?.[cliClientId]?.grantId;
  return revocations.isAnySessionRevoked([uid, ...(grantId === undefined ? [] : [grantId])].map(sessionIdOf));
}

interface Made {
  readonly sessionHash: string;
  readonly sealed: Uint8Array;
}

/** In which browser's session a grant is made; undefined for one that no browser made. */
function madeNow(idHash: string, payload: AdapterPayload, options: StateOptions): Made | undefined {
  const { accountId, clientId } = payload;
  const facts = options.scope.grantFacts();
  if (facts === undefined || accountId === undefined || clientId === undefined) return undefined;
  const { sessionUid, program, address } = facts;
  const made: GrantMade = { account: accountId, client: clientId, program, address, at: options.clock.now() };
  const sealed = options.sealing.seal(JSON.stringify(made), grantMadeContext(idHash));
  return { sessionHash: hashOf(sessionUid), sealed };
}

/** Whether a device's code was answered before, or was already taken over when somebody wants to take it over. */
function isUsedUp(before: AdapterPayload | undefined, after: AdapterPayload): boolean {
  if (before === undefined) return false;
  if (before.accountId !== undefined || before.error !== undefined) return true;
  return before.inFlight === true && after.accountId === undefined && after.error === undefined;
}

interface NewRow {
  readonly model: string;
  readonly idHash: string;
  readonly payload: AdapterPayload;
  readonly expiresInS: number;
  readonly sealed: Uint8Array;
}

async function write(sql: Sql, row: NewRow, made: Made | undefined, clock: Clock): Promise<void> {
  const { grantId, uid, userCode } = row.payload;
  const hashed = (value: string | undefined): string | null => (value === undefined ? null : hashOf(value));
  await sql.write({
    name: "oidc_upsert",
    // What was used up stays so, whatever is saved over it.
    text: `insert into oidc_state
             (model, id_hash, payload_sealed, grant_hash, uid_hash, user_code_hash, expires_us, session_hash, made_sealed)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (model, id_hash) do update set payload_sealed = excluded.payload_sealed, grant_hash = excluded.grant_hash,
             uid_hash = excluded.uid_hash, user_code_hash = excluded.user_code_hash, expires_us = excluded.expires_us`,
    values: [
      row.model,
      row.idHash,
      row.sealed,
      hashed(grantId),
      hashed(uid),
      hashed(userCode),
      instant.plusMilliseconds(clock.now(), row.expiresInS * 1_000),
      made?.sessionHash ?? null,
      made?.sealed ?? null,
    ],
  });
}

async function remove(store: PostgresStore, where: string, values: readonly unknown[]): Promise<void> {
  await store.transactSql("oidc_remove", (_unit, sql) =>
    sql.write({ text: `delete from oidc_state where ${where}`, values: [...values] }),
  );
}

/** Ends a login for good: its tokens are refused first, then nothing of it is left, and the world hears of it once. */
async function endSession(grantId: string, options: StateOptions): Promise<void> {
  const idHash = hashOf(grantId);
  const grant = await createStateAdapter("Grant", options).find(grantId);
  if (grant?.accountId !== undefined) {
    await options.revocations.revokeSession(sessionIdOf(grantId), actorOf(grant.accountId));
  }
  await options.store.transactSql("oidc_end_session", async (unit, sql) => {
    await sql.write({ text: "delete from oidc_state where grant_hash = $1", values: [idHash] });
    const ended = await sql.write({
      text: "delete from oidc_state where model = 'Grant' and id_hash = $1",
      values: [idHash],
    });
    if (ended.rowCount === 1 && grant) await publishSession(unit, "closed", idHash, grant, options);
  });
}

async function publishSession(
  unit: UnitOfWork,
  change: "opened" | "closed",
  sessionId: string,
  grant: AdapterPayload,
  options: StateOptions,
): Promise<void> {
  if (grant.accountId === undefined) return;
  const remoteAddress = options.scope.remoteAddress();
  await unit.events.publish(change === "opened" ? subjects.sessionOpened : subjects.sessionClosed, {
    principal: actorOf(grant.accountId),
    session_id: sessionId,
    method: "password",
    ...(remoteAddress === undefined ? {} : { remote_address: remoteAddress }),
    at: instant.format(options.clock.now()),
  });
}
