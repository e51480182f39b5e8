// A proof of a second factor for a person of a running platform, given out past their authenticator: a code opens one action every half minute, and
// a test that sets the limits of fifty funds has not got the time.
import type pg from "pg";
import { makeProof, parametersHashOf } from "../adapters/identity/step-up-proofs.ts";
import type { PostgresStore } from "../adapters/postgres/store.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import type { RiskEnvelope } from "../contracts/src/generated/svc/v1/envelope.ts";
import { format } from "../contracts/src/instant.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { NamedAction } from "../ports/identity.ts";
import { envelopeAction } from "../services/riskengine/envelope-proof.ts";
import { flowAction } from "../services/treasury/book-flow.ts";

/** Whose token that is decides for whom, and in which login, the proof is. With its event, without which it would count as planted. */
export function grantedProof(
  store: Pick<PostgresStore, "transactSql">,
  token: string,
  named: NamedAction,
): Promise<string> {
  return store.transactSql("test", async (unit, sql) => {
    await unit.events.publish(subjects.stepUpGranted, grantOf(token, named));
    return proofFor(sql, token, named);
  });
}

/** The same for whoever has nothing but the database, as its owner. */
export async function grantedProofIn(owner: pg.Pool, token: string, named: NamedAction): Promise<string> {
  const client = await owner.connect();
  const write = async ({ text, values = [] }: { readonly text: string; readonly values?: readonly unknown[] }) =>
    (await client.query(text.replace("insert into ", "insert into portcullis."), [...values])).rowCount ?? 0;
  const granted = grantOf(token, named);
  try {
    await client.query("begin");
    await write({
      text: "insert into outbox (event_id, at_us, subject, key, source, payload) values ($1, $2, $3, $4, 'gateway', $5)",
      values: [
        systemRandom().uuid(),
        systemClock().now(),
        subjects.stepUpGranted.name,
        granted.operator,
        Buffer.from(JSON.stringify(granted)),
      ],
    });
    const proof = await proofFor({ write } as never, token, named);
    await client.query("commit");
    return proof;
  } finally {
    client.release();
  }
}

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly sid?: string;
}

const claimsOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as Claims;

function grantOf(token: string, { action, parameters }: NamedAction) {
  return {
    operator: `operator:${claimsOf(token).sub}`,
    action,
    parameters_hash: parametersHashOf(parameters),
    at: format(systemClock().now()),
    factor: "totp" as const,
  };
}

async function proofFor(sql: Parameters<typeof makeProof>[0], token: string, named: NamedAction): Promise<string> {
  const { iss, sub, sid } = claimsOf(token);
  const identity = { subject: `${iss}|${sub}`, ...(sid === undefined ? {} : { sessionId: sid }) };
  return (await makeProof(sql, systemRandom(), { identity, named, at: systemClock().now() })).proof;
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
