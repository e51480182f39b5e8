// Recorded decisions with their entries of the audit log, as many as a test wants, and whoever verifies them; a test changes what it likes.
import { systemSha256OfBytes } from "../../adapters/system/signing.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { makeEntry } from "../../core/audit/entry.ts";
import { zeroHex } from "../../core/audit/hash.ts";
import { decisionEvents } from "../../core/engine/decision-events.ts";
import type { RecordedDecision, ReplayQueries } from "../../ports/replay-queries.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import { fitPayload } from "../../services/operations/audit/log/event-data.ts";
import { createVerify, type VerifyPorts } from "../../services/operations/replay/verify-decisions.ts";
import { readRecordedDecisions } from "../risk/recorded-decisions.ts";
import { openMemoryPlatform } from "../virtual/memory-platform.ts";

export const pastStart = 1_794_744_000_000_000 as Instant;
export const decisionId = (number: number): string => `0190c5f3-0000-7000-8000-${String(number).padStart(12, "0")}`;
const chosen = readRecordedDecisions()
  .filter(({ envelope }) => envelope.fund_id !== "")
  .slice(-36);
/** Those that there are; further ones repeat them. */
export const chosenCount = chosen.length;

export type DecisionRow = { -readonly [Name in keyof RecordedDecision]: RecordedDecision[Name] };

/** Decision number so and so, with its entry. */
function rowOf(number: number, second: number): DecisionRow {
  const { order, decision: known, inputs } = chosen[number % chosenCount] as (typeof chosen)[number];
  const decided = plusMilliseconds(pastStart, second * 1_000);
  const decision = {
    ...known,
    order_id: order.order_id,
    decision_id: decisionId(number),
    fund_id: "alpha",
    envelope_version: number % chosenCount,
    halt_epoch: 0,
    decided_at: format(decided),
    checks: [],
    warnings: [],
  };
  const payload = DecisionRecord.encode({ order, decision: { ...decision, classification: "" }, inputs }).finish();
  const base = { id: BigInt(number + 1), decisionId: decisionId(number), at: decided, payload };
  const row = { ...base, approved: known.approved, code: known.code, orderId: order.order_id };
  return { ...row, entry: entryOf(row, 100 + number) };
}

/** As the log has it, with whatever somebody made of its payload. */
export function entryOf(
  row: Omit<DecisionRow, "entry">,
  sequence: number,
  change: (payload: object) => object = (payload) => payload,
): NonNullable<DecisionRow["entry"]> {
  const event = decisionEvents(row.decisionId, DecisionRecord.decode(row.payload)).at(-1);
  const heard = subjects.decisionMade.schema.parse(JSON.parse(JSON.stringify(event?.payload)));
  const fields = {
    sequence,
    timestamp: format(plusMilliseconds(row.at, 20)),
    actor: "service:riskengine",
    action: "order.decided",
    subject_id: row.orderId,
    prev_hash: zeroHex,
    data: {
      at: format(row.at),
      event_id: row.decisionId,
      payload: change(fitPayload(heard, systemSha256OfBytes) as object),
      source: "riskengine",
      subject: subjects.decisionMade.name,
    },
  };
  return { sequence, action: "order.decided", text: makeEntry(fields, systemSha256OfBytes).text };
}

export interface VerifyFixture {
  readonly rows: DecisionRow[];
  readonly log: NonNullable<DecisionRow["entry"]>[];
  verify(request?: object, actor?: string): ReturnType<ReturnType<typeof createVerify>>;
}

export interface VerifyFixtureOptions {
  /** How far the log has come. */
  readonly through?: Instant;
  readonly count?: number;
  /** When a decision was made, in seconds from the start; one after the other when absent. */
  readonly secondOf?: (number: number) => number;
  /** What each look at the clock takes. */
  readonly lookMs?: number;
  readonly ports?: Partial<Pick<VerifyPorts, "timers" | "stopwatch">>;
}

export function verifyFixture({
  through = plusMilliseconds(pastStart, 3_600_000),
  count = chosenCount,
  secondOf = (number) => number,
  lookMs = 0,
  ports: own = {},
}: VerifyFixtureOptions = {}): VerifyFixture {
  const platform = openMemoryPlatform({ seed: 1, pumps: true });
  const rows = Array.from({ length: count }, (_, number) => rowOf(number, secondOf(number)));
  const log = rows.flatMap(({ entry }) => entry ?? []);
  const pageMax = count === chosenCount ? 7 : 1_000;
  const replayQueries = {
    decisionNumbers: async ({ after, from, to }) => {
      const ids = rows.filter(({ id, at }) => id > after && at >= from && at < to).map(({ id }) => id);
      return { ids: ids.slice(0, pageMax), through: ids.length > pageMax ? ids[pageMax - 1] : undefined };
    },
    decisions: async (ids) => {
      const wanted = new Set(ids);
      return rows.filter(({ id }) => wanted.has(id));
    },
    entryMarks: async ({ after, countMax }) =>
      log
        .filter(({ sequence }) => sequence > (after?.sequence ?? -1))
        .slice(0, countMax)
        .map(({ sequence }) => ({ at: pastStart, sequence })),
    entryTexts: async (sequences) => log.filter(({ sequence }) => sequences.includes(sequence)),
  } satisfies Partial<ReplayQueries>;
  let now = plusMilliseconds(pastStart, 7_200_000);
  const ports = {
    ...platform.portsOf("operations"),
    clock: {
      now: () => {
        now = plusMilliseconds(now, lookMs);
        return now;
      },
    },
    referenceData: { read: async () => ({ funds: [{ fund_id: "alpha" }] }), changed: async () => 1 },
    store: { transact: async () => ({ writerEpoch: 1, through }) },
    riskQueries: {
      envelope: async (_fund: string, version: number) => chosen[version]?.envelope,
    },
    replayQueries,
    sha256OfBytes: systemSha256OfBytes,
    stopwatch: () => 0,
    ...own,
  } as unknown as VerifyPorts;
  const verify = createVerify(ports);
  const asked = { fund_id: "alpha", from: format(pastStart), to: undefined, count_max: 0 };
  return {
    rows,
    log,
    verify: (request = {}, actor = "operator:duty") =>
      verify({ ...asked, ...request }, { identity: { actor }, signal: new AbortController().signal } as RpcCall),
  };
}
