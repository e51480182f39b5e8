// The second admin's signature: what another one asked for is done in the transaction that judges the signature, redeems the signer's proof and
// ends the request, so that it is done once or not at all.
import { z } from "zod";
import { isOperation } from "../../../contracts/src/authority.ts";
import type { Denial } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { judgeChange, judgeCosign, type People, type PersonChange } from "../../../core/identity/identity-rules.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Outcome } from "../../../ports/identity.ts";
import type { AskedBy, Cosigned, IdentityRequests } from "../../../ports/operators.ts";
import type { Random } from "../../../ports/random.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { newRecoveryCode } from "../one-time-codes.ts";
import type { PasswordHashing } from "../password-hashing.ts";
import type { Sealing } from "../sealing.ts";
import type { TokenChanges } from "../service-tokens.ts";
import { redeemOrTell } from "../step-up-proofs.ts";
import type { ChangeWork, ReadPeople } from "./change-work.ts";
import { refused } from "./identity-refusals.ts";
import {
  endRequest,
  listWaiting,
  lockRequest,
  publicRequest,
  readRequest,
  type StoredRequest,
} from "./identity-requests.ts";
import { type NewPassword, requestContext } from "./operators-admin.ts";
import { changeOf, type PeopleChanges } from "./people-changes.ts";
import { acceptance, createUnauditedAcceptance, ownDenial } from "./unaudited-acceptance.ts";

interface CosignRequestsOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly hashing: PasswordHashing;
  readonly changes: PeopleChanges;
  readonly tokens: TokenChanges;
  readonly people: ReadPeople;
}

const name = z.string().min(1);
const roles = z.array(z.string());
const seconds = z.int();

/** What a stored request may ask for; anything else was not written by us. */
const asked = z.discriminatedUnion("operation", [
  z.strictObject({ operation: z.literal("AddOperator"), name, roles }),
  z.strictObject({ operation: z.literal("ChangeOperatorRoles"), name, roles }),
  z.strictObject({ operation: z.literal("ResetOperatorFactor"), name }),
  z.strictObject({
    operation: z.literal("IssueServiceToken"),
    name,
    operations: z.array(z.string()),
    funds: z.array(z.string()).optional(),
    nats_logins: z.array(z.string()).optional(),
    expires_in_s: seconds,
  }),
  z.strictObject({ operation: z.literal(acceptance), change_id: name, table: name, row: z.string(), found: name }),
  z.strictObject({ operation: z.literal("RotateServiceToken"), id: name, overlap_s: seconds, expires_in_s: seconds }),
]);
type Asked = z.infer<typeof asked>;

type Done = Pick<Cosigned, "operator" | "passwordHalf" | "token">;

export function createCosignRequests(options: CosignRequestsOptions): IdentityRequests {
  const { store, clock, random, changes, tokens } = options;

  /** The whole password of a new person, of which the signer is told the second half. */
  async function passwordFor(requestId: string): Promise<NewPassword | undefined> {
    const request = await store.transactSql("identity.request_look", (_unit, sql) => readRequest(sql, requestId));
    if (request?.sealed === undefined || request.ended !== undefined) return undefined;
    const first = options.sealing.open(request.sealed, requestContext(requestId));
    const shown = newRecoveryCode(random);
    return { shown, hash: await options.hashing.hash(`${first}-${shown}`) };
  }

  /** Why what is asked for cannot be done any more. */
  async function judge(it: ChangeWork, of: Asked, people: People): Promise<Denial | undefined> {
    if (of.operation === "IssueServiceToken") return tokens.judgeIssue(it, tokenOf(of));
    if (of.operation === "RotateServiceToken") return tokens.judgeRotate(it, rotationOf(of));
    if (of.operation === acceptance) return undefined;
    return judgeChange(personChange(of), people);
  }

  async function carryOut(it: ChangeWork, of: Asked, people: People, password: NewPassword | undefined): Promise<Done> {
    switch (of.operation) {
      // Operations uses the signed request up.
      case acceptance:
        return {};
      case "IssueServiceToken":
        return { token: await tokens.issue(it, tokenOf(of)) };
      case "RotateServiceToken":
        return { token: await tokens.rotate(it, rotationOf(of)) };
      case "ResetOperatorFactor":
        return { operator: await changes.resetFactor(it, of.name) };
      case "ChangeOperatorRoles":
        return { operator: await changes.changeRoles(it, of) };
      case "AddOperator": {
        if (password === undefined) throw unreadable(it.requestId ?? "");
        const operator = await changes.add(it, { ...of, passwordHash: password.hash }, people);
        return { operator, passwordHalf: password.shown };
      }
    }
  }

  async function sign(
    { identity, proof }: Omit<AskedBy, "reason">,
    requestId: string,
    as: "CosignIdentityRequest" | "CosignUnauditedChange",
  ): Promise<Outcome<Cosigned>> {
    const password = await passwordFor(requestId);
    return store.transactSql("identity.request_cosign", async ({ events }, sql): Promise<Outcome<Cosigned>> => {
      const at = clock.now();
      const attempt = { events, identity, at };
      const people = await options.people(sql);
      const found = await lockRequest(sql, requestId);
      const isAccepted = as === "CosignUnauditedChange";
      // Whoever need not be an admin signs this one thing.
      const request = isAccepted && found?.operation !== acceptance ? undefined : found;
      const { denial, ends } = judgeCosign(request, identity, people, at, isAccepted ? "second person" : "admin");
      if (denial !== undefined || request === undefined) {
        if (request !== undefined && ends !== undefined) {
          await endRequest(sql, events, request, { outcome: ends, by: identity.actor, at });
        }
        return refused(attempt, as, requestId, denial ?? unknown);
      }
      const of = readAsked(request);
      const { requestedBy: actor, subject, reason } = request;
      const it: ChangeWork = { sql, events, at, actor, subject, reason, requestId, cosignedBy: identity.actor };
      const impossible = (await judge(it, of, people)) ?? (await ownOf(sql, of, identity));
      if (impossible !== undefined) return refused(attempt, as, requestId, impossible);
      const named = { action: as, parameters: { request_id: requestId } } as const;
      const unproved = await redeemOrTell(sql, events, { proof, identity, named, at });
      if (unproved !== undefined) return { ok: false, denial: unproved };
      // Ended first: what is done may end what its requester still waits for, and this one was signed.
      await endRequest(sql, events, request, { outcome: "signed", by: identity.actor, at });
      const done = await carryOut(it, of, people, password);
      return { ok: true, value: { request: publicRequest(request), cosignedBy: identity.actor, ...done } };
    });
  }

  return {
    list: () =>
      store.transactSql("identity.request_list", async (_unit, sql) =>
        (await listWaiting(sql, clock.now())).map(publicRequest),
      ),
    cosign: (by, requestId) => sign(by, requestId, "CosignIdentityRequest"),
    ...createUnauditedAcceptance(options),
    cosignAcceptance: (by, requestId) => sign(by, requestId, "CosignUnauditedChange"),
  };
}

async function ownOf(sql: Sql, of: Asked, identity: AskedBy["identity"]): Promise<Denial | undefined> {
  return of.operation === acceptance ? ownDenial(sql, identity) : undefined;
}

const unknown: Denial = { code: "IDENTITY_REQUEST_UNKNOWN", reason: "There is no such request." };

function readAsked(request: StoredRequest): Asked {
  const read = asked.safeParse({ operation: request.operation, ...request.parameters });
  if (read.success) return read.data;
  throw unreadable(request.requestId);
}

function unreadable(requestId: string): Fault {
  return new Fault("INTERNAL", `The request ${requestId} cannot be read: ask for it again.`, { retry: "never" });
}

type PersonAsked = Extract<Asked, { operation: "AddOperator" | "ChangeOperatorRoles" | "ResetOperatorFactor" }>;

function personChange(of: PersonAsked): PersonChange {
  if (of.operation === "ResetOperatorFactor") return changeOf("reset factor", of.name);
  return changeOf(of.operation === "AddOperator" ? "add" : "roles", of.name, of.roles);
}

function tokenOf(of: Extract<Asked, { operation: "IssueServiceToken" }>) {
  const { name: machine, funds, nats_logins: natsLogins, expires_in_s: expiresInS } = of;
  return { name: machine, operations: of.operations.filter(isOperation), funds, natsLogins, expiresInS };
}

function rotationOf(of: Extract<Asked, { operation: "RotateServiceToken" }>) {
  return { id: of.id, overlapS: of.overlap_s, expiresInS: of.expires_in_s };
}
