// Whether events that arrived by another way are those that the database has. Whoever may publish on NATS can write any name into a header, but not
// a row into the outbox, the journal or the audit log. Many are asked for at once, by the numbers that they claim to stand under; of the
// outbox only digests come back.
import { createHash } from "node:crypto";
import { fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import { decisionSource } from "../../transport/decision-messages.ts";
import { auditRowsAt } from "../audit/audit-rows.ts";
import { decisionsAt, messagesOf } from "../risk/decision-rows.ts";
import type { RunStatement } from "./outbox-reader.ts";
import type { OutboxRow } from "./outbox-row.ts";

/** What somebody says that the database has. */
export interface Claim {
  readonly id: string;
  readonly subject: string;
  /** The number of its row. */
  readonly position: bigint;
  readonly payload: Uint8Array;
}

/** What the database knows about it. */
export interface Proven {
  readonly key: string;
  readonly at: Instant;
  readonly source: string;
}

/** One answer for each, in their order: undefined for what the database does not have, or has no longer. */
export type Prove = (claims: readonly Claim[]) => Promise<readonly (Proven | undefined)[]>;

const text = `
select id::text, event_id::text, at_us::text, subject, key, source, encode(sha256(payload), 'hex'), null::bytea
from outbox where id = any ($1::bigint[])
union all ${decisionsAt("$1::bigint[]")}
union all ${auditRowsAt("$1::bigint[]")}`;

/** The largest number that the database has: a larger one would make it refuse the whole question. */
const positionMax = 2n ** 63n - 1n;

type RawRow = readonly [
  id: string,
  eventId: string,
  atUs: string,
  subject: string | null,
  key: string,
  source: string | null,
  sha256: string | null,
  record: Buffer | null,
];

export function proveOnPostgres(run: RunStatement): Prove {
  return async (claims) => {
    const positions = new Set(claims.filter(({ position }) => position <= positionMax).map(({ position }) => position));
    if (positions.size === 0) return claims.map(() => undefined);
    const values = [[...positions].map(String)];
    const answer = await run({ name: "outbox_proof", text, values, rowMode: "array" });
    const rows = new Map((answer.rows as unknown as readonly RawRow[]).map((row) => [row[0], row]));
    return claims.map((claim) => {
      const row = rows.get(String(claim.position));
      return row === undefined ? undefined : proven(claim, row);
    });
  };
}

function proven(claim: Claim, row: RawRow): Proven | undefined {
  const [, eventId, atUs, subject, key, source, sha256, record] = row;
  const at = fromMicroseconds(Number(atUs));
  if (record !== null) return provenDecision(claim, { id: claim.position, eventId, at, key, record });
  if (eventId !== claim.id || subject !== claim.subject || source === null) return undefined;
  return sha256 === createHash("sha256").update(claim.payload).digest("hex") ? { key, at, source } : undefined;
}

/** A decision is one row and several messages: expanded as the relay does it, byte for byte. */
function provenDecision(
  claim: Claim,
  row: Pick<OutboxRow, "id" | "eventId" | "at" | "key" | "record">,
): Proven | undefined {
  const whole = { ...row, subject: claim.subject, source: decisionSource, payload: "" };
  const message = messagesOf(whole, [claim.subject]).find(({ eventId }) => eventId === claim.id);
  if (message === undefined || message.poison !== undefined || message.subject !== claim.subject) return undefined;
  if (!Buffer.from(message.payload).equals(claim.payload)) return undefined;
  return { key: message.key, at: message.at, source: message.source };
}
