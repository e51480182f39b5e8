// The rows of what one admin asked for and another one has to sign. A row says for good what was asked; only that it ended is written later, once.
import { z } from "zod";
import { isOperation, type Operation } from "../../../contracts/src/authority.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format, fromMicroseconds, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { IdentityRequestEnded } from "../../../contracts/src/records/platform.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { identityRequestMs, identityRequestsMax, type WaitingRequest } from "../../../core/identity/identity-rules.ts";
import type { Identity, IdentityRequest } from "../../../ports/identity.ts";
import type { EventWriter } from "../../../ports/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";

export interface StoredRequest extends IdentityRequest, WaitingRequest {
  /** The first half of a new person's password. */
  readonly sealed: Buffer | undefined;
}

interface RawRow {
  readonly request_id: string;
  readonly operation: string;
  readonly target: string;
  readonly parameters: unknown;
  readonly sealed: Buffer | null;
  readonly requested_by: string;
  readonly subject: string;
  readonly reason: string;
  readonly made_us: string;
  readonly expires_us: string;
  readonly outcome: "signed" | "expired" | "void" | null;
}

const columns =
  "request_id, operation, target, parameters, sealed, requested_by, subject, reason, made_us, expires_us, outcome";

const parametersForm = z.record(z.string(), z.unknown());

function requestOf(raw: RawRow): StoredRequest {
  const parameters = parametersForm.safeParse(raw.parameters);
  if (!isOperation(raw.operation) || !parameters.success) {
    throw new Fault("INTERNAL", `The request ${raw.request_id} cannot be read.`, { retry: "never" });
  }
  return {
    requestId: raw.request_id,
    operation: raw.operation,
    target: raw.target,
    parameters: parameters.data,
    sealed: raw.sealed ?? undefined,
    requestedBy: raw.requested_by,
    subject: raw.subject,
    reason: raw.reason,
    at: fromMicroseconds(Number(raw.made_us)),
    expiresAt: fromMicroseconds(Number(raw.expires_us)),
    ...(raw.outcome === null ? {} : { ended: { outcome: raw.outcome } }),
  };
}

export function publicRequest(request: StoredRequest | IdentityRequest): IdentityRequest {
  const { requestId, operation, target, parameters, requestedBy, reason, at, expiresAt } = request;
  return { requestId, operation, target, parameters, requestedBy, reason, at, expiresAt };
}

interface NewRequest {
  readonly requestId: string;
  readonly operation: Operation;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly sealed?: Buffer | undefined;
  readonly identity: Pick<Identity, "actor" | "subject">;
  readonly reason: string;
  readonly at: Instant;
}

/** Undefined when too many wait already. */
export async function makeRequest(
  sql: Sql,
  events: EventWriter,
  asked: NewRequest,
): Promise<IdentityRequest | undefined> {
  const { requestId, operation, target, parameters, identity, reason, at } = asked;
  const waiting = await sql.read({
    text: "select count(*)::int as n from identity_request where outcome is null and expires_us > $1",
    values: [at],
  });
  if (Number(waiting.rows[0]?.n) >= identityRequestsMax) return undefined;
  const expiresAt = plusMilliseconds(at, identityRequestMs);
  await sql.write({
    text: `insert into identity_request
             (request_id, operation, target, parameters, sealed, requested_by, subject, reason, made_us, expires_us)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      requestId,
      operation,
      target,
      JSON.stringify(parameters),
      asked.sealed ?? null,
      identity.actor,
      identity.subject,
      reason,
      at,
      expiresAt,
    ],
  });
  const { roles, operations, funds, nats_logins: logins } = parameters;
  await events.publish(subjects.identityRequested, {
    request_id: requestId,
    operation,
    target,
    ...(Array.isArray(roles) ? { roles: roles.map(String) } : {}),
    ...(Array.isArray(operations) ? { operations: operations.map(String) } : {}),
    ...(Array.isArray(funds) ? { funds: funds.map(String) } : {}),
    ...(Array.isArray(logins) ? { nats_logins: logins.map(String) } : {}),
    requested_by: identity.actor,
    reason,
    expires_at: format(expiresAt),
    at: format(at),
  });
  return { requestId, operation, target, parameters, requestedBy: identity.actor, reason, at, expiresAt };
}

export async function listWaiting(sql: Sql, at: Instant): Promise<readonly StoredRequest[]> {
  const found = await sql.read({
    text: `select ${columns} from identity_request where outcome is null and expires_us > $1 order by made_us, request_id limit $2`,
    values: [at, identityRequestsMax],
  });
  return found.rows.map(requestOf);
}

/** Those whose time is over and that nobody ended yet. */
export async function listOverdue(sql: Sql, at: Instant, how: "look" | "lock"): Promise<readonly StoredRequest[]> {
  const text = `select ${columns} from identity_request where outcome is null and expires_us <= $1 order by request_id limit $2`;
  const values = [at, identityRequestsMax];
  const found =
    how === "look" ? await sql.read({ text, values }) : await sql.write({ text: `${text} for update`, values });
  return found.rows.map(requestOf);
}

export async function readRequest(sql: Sql, requestId: string): Promise<StoredRequest | undefined> {
  const found = await sql.read({
    text: `select ${columns} from identity_request where request_id = $1`,
    values: [requestId],
  });
  return found.rows[0] === undefined ? undefined : requestOf(found.rows[0]);
}

/** Locked until the transaction ends. */
export async function lockRequest(sql: Sql, requestId: string): Promise<StoredRequest | undefined> {
  const found = await sql.write({
    text: `select ${columns} from identity_request where request_id = $1 for update`,
    values: [requestId],
  });
  return found.rows[0] === undefined ? undefined : requestOf(found.rows[0]);
}

/** What was sealed for the signer goes with it. */
export async function endRequest(
  sql: Sql,
  events: EventWriter,
  request: StoredRequest,
  end: { readonly outcome: IdentityRequestEnded["outcome"]; readonly by: string; readonly at: Instant },
): Promise<void> {
  await sql.write({
    text: `update identity_request set outcome = $2, ended_by = $3, ended_us = $4, sealed = null where request_id = $1`,
    values: [request.requestId, end.outcome, end.by, end.at],
  });
  await events.publish(subjects.identityRequestEnded, {
    request_id: request.requestId,
    operation: request.operation,
    target: request.target,
    outcome: end.outcome,
    requested_by: request.requestedBy,
    ended_by: end.by,
    at: format(end.at),
  });
}

/** Whoever's logins end has asked for nothing any more. */
export async function endRequestsOf(
  sql: Sql,
  events: EventWriter,
  actor: string,
  by: { readonly actor: string; readonly at: Instant },
): Promise<void> {
  const mine = await sql.read({
    text: `select ${columns} from identity_request where outcome is null and requested_by = $1 order by request_id`,
    values: [actor],
  });
  for (const row of mine.rows) {
    await endRequest(sql, events, requestOf(row), { outcome: "void", by: by.actor, at: by.at });
  }
}
