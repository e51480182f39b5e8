// A proof of a second factor for a person of a running platform, given out past their authenticator: a code opens one action every half minute, and
// a test that sets the limits of fifty funds has not got the time.
import type pg from "pg";
import { makeProof } from "../adapters/identity/step-up-proofs.ts";
import type { PostgresStore } from "../adapters/postgres/store.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import type { RiskEnvelope } from "../contracts/src/generated/svc/v1/envelope.ts";
import type { NamedAction } from "../ports/identity.ts";
import { envelopeAction } from "../services/riskengine/envelope-proof.ts";
import { flowAction } from "../services/treasury/book-flow.ts";

/** Whose token that is decides for whom, and in which login, the proof is. */
export async function grantedProof(
  store: Pick<PostgresStore, "transactSql">,
  token: string,
  named: NamedAction,
): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as {
    readonly iss: string;
    readonly sub: string;
    readonly sid?: string;
  };
  const identity = {
    subject: `${claims.iss}|${claims.sub}`,
    ...(claims.sid === undefined ? {} : { sessionId: claims.sid }),
  };
  const { proof } = await store.transactSql("test", (_unit, sql) =>
    makeProof(sql, systemRandom(), { identity, named, at: systemClock().now() }),
  );
  return proof;
}

/** The same for whoever has nothing but the database, as its owner. */
export function grantedProofIn(owner: pg.Pool, token: string, named: NamedAction): Promise<string> {
  const write = async ({ text, values = [] }: { readonly text: string; readonly values?: readonly unknown[] }) =>
    (await owner.query(text.replace("insert into ", "insert into portcullis."), [...values])).rowCount ?? 0;
  const transactSql = (_name: string, work: (unit: never, sql: never) => Promise<unknown>) =>
    work({} as never, { write } as never);
  return grantedProof({ transactSql } as never, token, named);
}

/** A deposit or a withdrawal with the proof that it needs. */
export async function provenFlow(owner: pg.Pool, token: string, flow: Flow): Promise<Flow & { step_up_proof: string }> {
  return { ...flow, step_up_proof: await grantedProofIn(owner, token, flowAction(flow, flow.reason)) };
}

export type Flow = Readonly<Record<"fund_id" | "idempotency_key" | "currency" | "amount" | "reason", string>>;

/** For exactly this envelope. */
export function grantedEnvelopeProof(
  store: Pick<PostgresStore, "transactSql">,
  token: string,
  envelope: RiskEnvelope,
): Promise<string> {
  return grantedProof(store, token, envelopeAction(envelope));
}
