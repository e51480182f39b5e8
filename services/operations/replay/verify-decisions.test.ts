// Recorded decisions are made again and held against the audit log: what is as it was is the same, and each thing that somebody changed is listed, alone.
import { expect, it } from "vitest";
import { systemSha256OfBytes } from "../../../adapters/system/signing.ts";
import type { Order, RiskDecision } from "../../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { makeEntry } from "../../../core/audit/entry.ts";
import { zeroHex } from "../../../core/audit/hash.ts";
import { decisionEvents } from "../../../core/engine/decision-events.ts";
import type { RecordedDecision, ReplayQueries, TimelineEntry } from "../../../ports/replay-queries.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { readRecordedDecisions } from "../../../testkit/risk/recorded-decisions.ts";
import { openMemoryPlatform } from "../../../testkit/virtual/memory-platform.ts";
import { fitPayload } from "../audit/log/event-data.ts";
import { createVerify, type VerifyPorts } from "./verify-decisions.ts";

const start = 1_794_744_000_000_000 as Instant;
const uuid = (number: number): string => `0190c5f3-0000-7000-8000-${String(number).padStart(12, "0")}`;
const chosen = readRecordedDecisions()
  .filter(({ envelope }) => envelope.fund_id !== "")
  .slice(-36);

type Row = { -readonly [Name in keyof RecordedDecision]: RecordedDecision[Name] };

/** Decision number so and so, a second after the one before, with its entry. */
function rowOf(number: number): Row {
  const { order, decision: known, inputs, envelope } = chosen[number] as (typeof chosen)[number];
  const decided = plusMilliseconds(start, number * 1_000);
  const decision = {
    ...known,
    order_id: order.order_id,
    decision_id: uuid(number),
    fund_id: "alpha",
    envelope_version: number,
    halt_epoch: 0,
    decided_at: format(decided),
    checks: [],
    warnings: [],
  };
  const payload = DecisionRecord.encode({ order, decision: { ...decision, classification: "" }, inputs }).finish();
  expect(envelope).toBeDefined();
  const base = { id: BigInt(number + 1), decisionId: uuid(number), at: decided, payload };
  const row = { ...base, approved: known.approved, code: known.code, orderId: order.order_id };
  return { ...row, entry: entryOf(row, 100 + number) };
}

function entryOf(row: Omit<Row, "entry">, sequence: number): NonNullable<Row["entry"]> {
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
      payload: fitPayload(heard, systemSha256OfBytes),
      source: "riskengine",
      subject: subjects.decisionMade.name,
    },
  };
  return { sequence, action: "order.decided", text: makeEntry(fields, systemSha256OfBytes).text };
}

interface World {
  readonly rows: Row[];
  readonly log: NonNullable<Row["entry"]>[];
  readonly ports: VerifyPorts;
  verify(request?: object, actor?: string): ReturnType<ReturnType<typeof createVerify>>;
}

function world(through = plusMilliseconds(start, 3_600_000)): World {
  const platform = openMemoryPlatform({ seed: 1, pumps: true });
  const base = platform.portsOf("operations");
  const rows = chosen.map((_record, number) => rowOf(number));
  const log = rows.flatMap(({ entry }) => entry ?? []);
  const replayQueries = {
    decisionNumbers: async ({ after, from, to }) => {
      const ids = rows.filter(({ id, at }) => id > after && at >= from && at < to).map(({ id }) => id);
      return { ids: ids.slice(0, 7), through: ids.length > 7 ? ids[6] : undefined };
    },
    decisions: async (ids) => rows.filter(({ id }) => ids.includes(id)),
    entries: async ({ after, countMax }) =>
      log
        .filter(({ sequence }) => sequence > (after?.sequence ?? -1))
        .slice(0, countMax)
        .map((one): TimelineEntry => ({ ...one, at: start, eventId: "", isCurrent: true })),
  } satisfies Partial<ReplayQueries>;
  const ports = {
    ...base,
    clock: { now: () => plusMilliseconds(start, 7_200_000) },
    referenceData: { read: async () => ({ funds: [{ fund_id: "alpha" }] }), changed: async () => 1 },
    store: { transact: async () => ({ writerEpoch: 1, through }) },
    riskQueries: {
      envelope: async (_fund: string, version: number) => chosen[version]?.envelope,
    },
    replayQueries,
    sha256OfBytes: systemSha256OfBytes,
    stopwatch: () => 0,
  } as unknown as VerifyPorts;
  const verify = createVerify(ports);
  const asked = { fund_id: "alpha", from: format(start), to: undefined, count_max: 0 };
  return {
    rows,
    log,
    ports,
    verify: (request = {}, actor = "operator:duty") =>
      verify({ ...asked, ...request }, { identity: { actor }, signal: new AbortController().signal } as RpcCall),
  };
}

it("every record that is as it was is the same or skipped, and they add up", async () => {
  const { verify, rows } = world();
  const verdict = await verify();
  expect(verdict).toMatchObject({ decisions: rows.length, different: 0, differences: [] });
  expect(verdict.same + verdict.skipped).toBe(rows.length);
  expect(verdict.same).toBeGreaterThan(15);
});

const changes: readonly (readonly [what: string, cause: string, change: (row: Row) => void])[] = [
  [
    "an order",
    "AUDIT",
    (row) => changed(row, (record) => ({ ...record, order: { ...record.order, quantity: "999999" } as Order })),
  ],
  [
    "a verdict",
    "AUDIT",
    (row) =>
      changed(row, (record) => ({ ...record, decision: { ...record.decision, approved: false } as RiskDecision })),
  ],
  [
    "the column of a verdict",
    "AUDIT",
    (row) => {
      row.approved = !row.approved;
    },
  ],
  [
    "its entry away",
    "AUDIT",
    (row) => {
      delete row.entry;
    },
  ],
  [
    "the record to rubbish",
    "UNREADABLE",
    (row) => {
      row.payload = new Uint8Array([0xff, 0xff]);
    },
  ],
  [
    "the inputs to rubbish",
    "UNREADABLE",
    (row) => changed(row, (record) => ({ ...record, inputs: new Uint8Array([13, 2, 0, 1]) })),
  ],
];

it.each(changes)("whoever changes %s is found: exactly that one, as %s", async (_what, cause, change) => {
  const { verify, rows, log } = world();
  const at = rows.findIndex(({ approved }, number) => approved && number > 10);
  const row = rows[at] as Row;
  const { entry } = row;
  change(row);
  if (row.entry === undefined)
    log.splice(
      log.findIndex(({ sequence }) => sequence === entry?.sequence),
      1,
    );
  const verdict = await verify();
  expect(verdict).toMatchObject({ decisions: rows.length, different: 1 });
  expect(verdict.differences).toMatchObject([{ decision_id: uuid(at), cause }]);
});

function changed(row: Row, change: (record: DecisionRecord) => DecisionRecord): void {
  row.payload = DecisionRecord.encode(change(DecisionRecord.decode(row.payload))).finish();
}

it("a record that decides otherwise by its limits is a DECISION, with both verdicts", async () => {
  const { verify, rows } = world();
  const at = rows.findIndex(({ code }) => code === "NOTIONAL_ABOVE_MAX" || code === "POSITION_LIMIT_EXCEEDED");
  const row = rows[at] as Row;
  const approved = { approved: true, code: "", rejecting_gate: "" };
  changed(row, (record) => ({ ...record, decision: { ...record.decision, ...approved } as RiskDecision }));
  row.approved = true;
  row.code = "";
  row.entry = entryOf(row, row.entry?.sequence ?? 0);
  const { differences } = await verify();
  expect(differences).toMatchObject([
    { cause: "DECISION", recorded: { approved: true, code: "" }, replayed: { approved: false } },
  ]);
});

it("a record that is gone is a difference and not a smaller number", async () => {
  const { verify, rows } = world();
  const [gone] = rows.splice(20, 1);
  const verdict = await verify();
  expect(verdict).toMatchObject({ decisions: chosen.length, different: 1 });
  expect(verdict.differences).toMatchObject([
    { cause: "MISSING", order_id: gone?.orderId, recorded: { code: gone?.code } },
  ]);
});

it("nothing is judged that the log may not have taken in, and it says up to where it was", async () => {
  const { verify } = world(plusMilliseconds(start, 25_000));
  const verdict = await verify();
  expect(verdict).toMatchObject({ through: format(plusMilliseconds(start, 20_000)), decisions: 20, different: 0 });
});

it("one runs for each person, and another's runs beside it", async () => {
  const { verify } = world();
  const [first, second, other] = await Promise.allSettled([verify(), verify(), verify({}, "operator:relief")]);
  expect(first).toMatchObject({ status: "fulfilled" });
  expect(second).toMatchObject({ status: "rejected", reason: { code: "RESOURCE_EXHAUSTED" } });
  expect(other).toMatchObject({ status: "fulfilled" });
  await expect(verify()).resolves.toMatchObject({ different: 0 });
});

it("lists as many differences as asked and counts all", async () => {
  const { verify, rows, log } = world();
  log.splice(0);
  for (const row of rows) delete row.entry;
  const verdict = await verify({ count_max: 3 });
  expect(verdict.differences).toHaveLength(3);
  expect(verdict.different).toBe(rows.length);
});

it.each([
  [{ from: "2030-01-01T00:00:00Z" }, /lies in the future/],
  [{ from: "2026-01-01T00:00:00Z" }, /more than 31 days/],
  [{ from: format(plusMilliseconds(start, 9_000)), to: format(start) }, /is after to/],
])("refuses %j by name", async (request, words) => {
  await expect(world().verify(request)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(words),
  });
});
