// The answers of the risk queries over a small book of decisions and envelopes that stands in for the database.
import { expect, test } from "vitest";
import { codeEntry } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { RiskEnvelope as RiskEnvelopeMessage } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import {
  DecisionRecord,
  type DecisionRecords,
  type EnvelopeDiff,
  type EnvelopeReplay,
  type Envelopes,
  type Rejections,
} from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { orderRejection } from "../../contracts/src/records/order.ts";
import { envelopeMessage } from "../../core/envelope/envelope.ts";
import type { ReferenceData } from "../../ports/reference-data.ts";
import type { RefusedOrder, RejectionQuery, RiskQueries, StoredDecision } from "../../ports/risk-queries.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import { exampleDecision, exampleEnvelope, exampleOrder } from "../../testkit/record-examples.ts";
import { riskQueries } from "./risk-queries.ts";
import type { RiskQueriesPorts } from "./risk-queries-arguments.ts";
import { type ReplayOptions, replayEnvelope, replayOptionsDefault } from "./risk-queries-replay.ts";

const now = instant.parse("2026-11-16T15:00:00Z");
const proposed = envelopeMessage(exampleEnvelope);

interface Queries {
  readonly ports: RiskQueriesPorts;
  readonly asked: unknown[];
  naps: number;
  isEngineAway: boolean;
  call<Answer>(procedure: string, request: object, signal?: AbortSignal): Promise<Answer>;
}

function uuid(number: number): string {
  return `0190c5f3-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** Decision number so and so, about an order of 100 + that many shares. */
function stored(number: number, changed: Partial<RiskDecision> = {}): StoredDecision {
  const decisionId = uuid(number);
  const decision = { ...exampleDecision, order_id: `o-${number}`, decision_id: decisionId, ...changed } as RiskDecision;
  const order = { ...exampleOrder, order_id: `o-${number}`, quantity: String(100 + number) };
  const payload = DecisionRecord.encode({ order, decision, inputs: new Uint8Array([7, 7]) }).finish();
  return { id: BigInt(number), decisionId, payload };
}

function queries(
  decisions: readonly StoredDecision[] = [],
  envelopes: readonly RiskEnvelope[] = [],
  refused: readonly RefusedOrder[] = [],
): Queries {
  const asked: unknown[] = [];
  const queries: RiskQueries = {
    haltChanges: async () => ({ epoch: 0, active: [], changes: [] }),
    pastHalts: async () => [],
    rejections: async (query: RejectionQuery) => {
      asked.push(query);
      return [...refused, ...decisions].slice(0, query.countMax);
    },
    decisionsOf: async (orderId, countMax) => {
      asked.push({ orderId, countMax });
      return decisions.filter((each) => DecisionRecord.decode(each.payload).order?.order_id === orderId);
    },
    decisionsBetween: async (fundId, from, to, after, countMax) => {
      asked.push({ fundId, from, to, after });
      return decisions.filter((each) => each.id > after).slice(0, countMax);
    },
    envelope: async (fundId, version) =>
      envelopes.find((each) => each.fund_id === fundId && each.version === (version ?? envelopes[0]?.version)),
    envelopes: async (fundId, countMax) => envelopes.filter((each) => each.fund_id === fundId).slice(0, countMax),
  };
  const funds = [{ fund_id: "alpha" }, { fund_id: "beta" }];
  const made: Queries = {
    asked,
    naps: 0,
    isEngineAway: false,
    ports: {
      clock: { now: () => now },
      timers: {
        sleep: async () => undefined,
        after: () => () => undefined,
        soon: (run) => {
          made.naps += 1;
          run();
        },
      },
      riskQueries: queries,
      limitPreviews: {
        preview: async (asked) => {
          made.asked.push(asked);
          if (made.isEngineAway) throw new Fault("SERVICE_UNAVAILABLE", "It is away.", { retry: "later" });
          return { funds: [], more: false, as_of: "2026-11-16T15:00:00.000000Z" };
        },
      },
      referenceData: { read: async () => ({ funds }), changed: async () => 1 } as unknown as ReferenceData,
    },
    call: async <Answer>(procedure: string, request: object, signal = new AbortController().signal) => {
      const handler = riskQueries(made.ports).handlers[procedure];
      if (handler === undefined) throw new Error(`no ${procedure}`);
      return (await handler(request as never, { signal, identity: { kind: "operator" } } as RpcCall)) as Answer;
    },
  };
  return made;
}

async function refusal(answer: Promise<unknown>): Promise<string> {
  const thrown: unknown = await answer.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Fault)) throw new Error(`expected a fault, not ${String(thrown)}`);
  expect(thrown.retry).toBe(thrown.code === "CANCELLED" ? "later" : "never");
  return `${thrown.code} ${thrown.message}`;
}

test("rejections are reported whole, and that there are more", async () => {
  const book = queries([3, 2, 1].map((number) => stored(number)));
  const request = { fund_id: "alpha", hours: 2, count_max: 2, after_decision_id: uuid(9) };
  const answer = await book.call<Rejections>("ListRejections", request);
  expect(answer.rejections.map(({ order_id, quantity }) => [order_id, quantity])).toEqual([
    ["o-3", "103"],
    ["o-2", "102"],
  ]);
  expect(answer.more).toBe(true);
  expect(orderRejection.safeParse(answer.rejections[0]).success).toBe(true);
  const since = instant.parse("2026-11-16T13:00:00Z");
  expect(book.asked).toEqual([{ fundId: "alpha", since, countMax: 3, afterDecisionId: uuid(9) }]);
});

test("22.9: an order that order management refused is reported with its source, and the list goes on behind it", async () => {
  const order = { ...exampleOrder, order_id: "o-7" };
  const refusedAt = instant.parse("2026-11-16T14:00:00Z");
  const refused = { refusedAt, order, code: "ORDER_HALTED", reason: "The halt h-1 covers this order." };
  const book = queries([stored(1)], [], [refused]);
  const request = { fund_id: "alpha", hours: 2, count_max: 5, after_decision_id: "oms:o-8" };
  const answer = await book.call<Rejections>("ListRejections", request);
  expect(answer.rejections.map(({ source, gate, decision_id }) => [source, gate, decision_id.slice(0, 4)])).toEqual([
    ["oms", "", "oms:"],
    ["riskengine", "position_risk", answer.rejections[1]?.decision_id.slice(0, 4)],
  ]);
  expect(answer.rejections[0]).toMatchObject({
    order_id: "o-7",
    code: "ORDER_HALTED",
    decided_at: "2026-11-16T14:00:00.000000Z",
  });
  expect(book.asked[0]).toMatchObject({ afterDecisionId: "oms:o-8" });
});

test("a day and a hundred when nothing is said, over every fund, and no more than there are", async () => {
  const book = queries([stored(1)]);
  const answer = await book.call<Rejections>("ListRejections", { hours: 0, count_max: 0 });
  expect(answer.more).toBe(false);
  expect(answer.rejections).toHaveLength(1);
  expect(book.asked).toEqual([{ since: instant.parse("2026-11-15T15:00:00Z"), countMax: 101 }]);
  expect(await queries().call("ListRejections", { hours: 0, count_max: 0 })).toEqual({ rejections: [], more: false });
  expect(await queries().call("ListRejections", { fund_id: "beta", hours: 1, count_max: 0 })).toMatchObject({
    more: false,
  });
});

test.each([
  ["ListRejections", { fund_id: "omega", hours: 0, count_max: 0 }, 'NOT_FOUND There is no fund "omega".'],
  ["ListRejections", { fund_id: "", hours: 0, count_max: 0 }, 'INVALID_ARGUMENT fund_id is "": name a fund'],
  ["ListRejections", { fund_id: "a\0b", hours: 0, count_max: 0 }, "INVALID_ARGUMENT fund_id is"],
  ["ListRejections", { hours: -1, count_max: 0 }, "INVALID_ARGUMENT hours is -1: give a number above 0 and up to 8784"],
  ["ListRejections", { hours: Number.NaN, count_max: 0 }, "INVALID_ARGUMENT hours is NaN"],
  ["ListRejections", { hours: 8_785, count_max: 0 }, "INVALID_ARGUMENT hours is 8785"],
  ["ListRejections", { hours: 1, count_max: 1_001 }, "INVALID_ARGUMENT count_max is 1001: ask for at most 1000"],
  ["ListRejections", { hours: 1, count_max: 1, after_decision_id: "x" }, "INVALID_ARGUMENT after_decision_id is"],
  ["GetDecisions", { order_id: "" }, "INVALID_ARGUMENT order_id is"],
  ["GetDecisions", { order_id: "x\0" }, "INVALID_ARGUMENT order_id is"],
  ["GetDecisions", { order_id: "o-404" }, 'NOT_FOUND Nothing was decided about an order "o-404".'],
  ["ListEnvelopes", { fund_id: "omega", count_max: 0 }, 'NOT_FOUND There is no fund "omega".'],
  ["DiffEnvelopes", { fund_id: "omega", to_version: 1 }, 'NOT_FOUND There is no fund "omega".'],
  ["DiffEnvelopes", { fund_id: "beta", to_version: 1 }, 'NOT_FOUND The fund "beta" has no envelope.'],
  ["DiffEnvelopes", { fund_id: "alpha", from_version: 7 }, 'NOT_FOUND The fund "alpha" has no envelope of version 7.'],
  ["DiffEnvelopes", { fund_id: "alpha" }, "INVALID_ARGUMENT There is nothing to compare with"],
  ["DiffEnvelopes", { fund_id: "alpha", to_version: 1, proposed }, "INVALID_ARGUMENT Both to_version and proposed"],
  ["DiffEnvelopes", { fund_id: "beta", proposed }, 'INVALID_ARGUMENT The proposed envelope is for "alpha"'],
  ["ReplayEnvelope", { count_max: 0 }, "INVALID_ARGUMENT There is no proposed envelope"],
  ["ReplayEnvelope", { proposed, from: "monday", count_max: 0 }, 'INVALID_ARGUMENT from is "monday": give a time such'],
  ["ReplayEnvelope", { proposed, to: "2026-11-16", count_max: 0 }, 'INVALID_ARGUMENT to is "2026-11-16": give a time'],
  ["ReplayEnvelope", { proposed, from: "2026-11-16T16:00:00Z", count_max: 0 }, "INVALID_ARGUMENT The period from"],
  [
    "ReplayEnvelope",
    { proposed: { ...proposed, fund_id: "omega" }, count_max: 0 },
    'NOT_FOUND There is no fund "omega"',
  ],
] as const)("%s refuses %o", async (procedure, request, sentence) => {
  const book = queries([], [exampleEnvelope]);
  expect(await refusal(book.call(procedure, request))).toContain(sentence);
});

test("every decision about an order is reported without the engine's own bytes", async () => {
  const answer = await queries([stored(1), stored(2)]).call<DecisionRecords>("GetDecisions", { order_id: "o-2" });
  expect(answer.records).toHaveLength(1);
  expect(answer.records[0]).toMatchObject({ order: { quantity: "102" }, decision: { decision_id: uuid(2) } });
  expect(answer.records[0]?.inputs).toHaveLength(0);
});

test("a fund's envelopes, newest first, and none for a fund that has none yet", async () => {
  const second = { ...exampleEnvelope, version: 2, max_notional: 100_000 };
  const book = queries([], [second, exampleEnvelope]);
  const answer = await book.call<Envelopes>("ListEnvelopes", { fund_id: "alpha", count_max: 0 });
  expect(answer.envelopes.map(({ version, max_notional }) => [version, max_notional])).toEqual([
    [2, 100_000],
    [1, 250_000],
  ]);
  expect(await book.call("ListEnvelopes", { fund_id: "beta", count_max: 0 })).toEqual({ envelopes: [] });
});

test("two versions are compared, and a version with a proposal", async () => {
  const second = { ...exampleEnvelope, version: 2, max_notional: 100_000 };
  const book = queries([], [second, exampleEnvelope]);
  const tightened = { field: "max_notional", before: "250000", after: "100000", effect: "TIGHTENS" };
  const back = { fund_id: "alpha", from_version: 1, to_version: 2 };
  expect(await book.call("DiffEnvelopes", back)).toEqual({ ...back, changes: [tightened], loosens: false });
  expect(await book.call("DiffEnvelopes", { fund_id: "alpha", from_version: 1 })).toMatchObject({ to_version: 2 });
  const offer = { ...proposed, fund_id: "", max_notional: 100_000, max_position_pct: 0.08 };
  const answer = await book.call<EnvelopeDiff>("DiffEnvelopes", { fund_id: "alpha", proposed: offer });
  expect(answer).toMatchObject({
    from_version: 2,
    loosens: true,
    changes: [{ field: "max_position_pct", before: "0.07" }],
  });
  expect(answer.to_version).toBeUndefined();
  // What it would make of limits is the engine's to say, of the envelope as it would be; without it the comparison stands.
  expect(answer.preview).toMatchObject({ funds: [], more: false });
  expect(book.asked.at(-1)).toMatchObject({ envelope: { fund_id: "alpha", max_position_pct: 0.08 } });
  book.isEngineAway = true;
  const without = await book.call<EnvelopeDiff>("DiffEnvelopes", { fund_id: "alpha", proposed: offer });
  expect(without).toMatchObject({ loosens: true, preview_missing: expect.stringContaining("It is away.") });
  expect(without.preview).toBeUndefined();
});

test("a fund's first limits are compared with nothing: each of them loosens, and what they would make of the fund is told", async () => {
  const book = queries([], [exampleEnvelope]);
  const answer = await book.call<EnvelopeDiff>("DiffEnvelopes", {
    fund_id: "beta",
    proposed: { ...proposed, fund_id: "" },
  });
  expect(answer).toMatchObject({ fund_id: "beta", from_version: 0, loosens: true, preview: { funds: [] } });
  expect(answer.changes).toContainEqual({ field: "max_position_pct", before: "", after: "0.07", effect: "LOOSENS" });
  expect(book.asked.at(-1)).toMatchObject({ envelope: { fund_id: "beta" } });
  const nobody = refusal(book.call("DiffEnvelopes", { fund_id: "omega", proposed: { ...proposed, fund_id: "" } }));
  expect(await nobody).toContain('NOT_FOUND There is no fund "omega".');
});

test.each(["DiffEnvelopes", "ReplayEnvelope"])("%s denies a proposal that is no envelope", async (procedure) => {
  const { max_notional: _, ...incomplete } = proposed;
  const request = { fund_id: "alpha", proposed: incomplete, count_max: 0 };
  const answer = await queries([], [exampleEnvelope]).call<{ denial: { code: string; reason: string } }>(
    procedure,
    request,
  );
  expect(answer.denial).toMatchObject({ code: "ENVELOPE_INVALID" });
  expect(answer.denial.reason).toMatch(/^max_notional is missing/);
  expect(codeEntry(answer.denial.code)).toMatchObject({ grpc: "INVALID_ARGUMENT" });
});

/** Decides by the order's number: every third is a duplicate or was decided by earlier rules, of the others the even ones are approved now. */
const byNumber: ReplayOptions["replay"] = (record) => {
  const number = Number(record.order?.quantity) - 100;
  if (number % 3 === 0) return number === 3 ? "NO_LIMIT_DECIDES" : "EARLIER_RULES";
  if (number % 2 === 0) return { approved: true, gate: "", code: "", reason: "" };
  return { approved: false, gate: "static", code: "NOTIONAL_ABOVE_MAX", reason: "Too much." };
};

function replay(
  book: Queries,
  options: Partial<ReplayOptions> = {},
  request: { proposed: RiskEnvelopeMessage; count_max: number; from?: string } = { proposed, count_max: 0 },
  signal = new AbortController().signal,
): Promise<EnvelopeReplay> {
  const all = { ...replayOptionsDefault, pageCount: 4, replay: byNumber, ...options };
  return replayEnvelope(book.ports, request, { signal }, all) as Promise<EnvelopeReplay>;
}

const approvedThen = { approved: true, rejecting_gate: "", code: "", reason: "", checks: [] };

test("a replay counts every decision once, page by page, and lists what would change", async () => {
  const before = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => stored(number, number >= 5 ? approvedThen : {}));
  const book = queries(before);
  const answer = await replay(book, {}, { proposed, count_max: 3 });
  // 3 and 6 cannot change. 1 is denied for another reason, 2 and 4 are approved now, 5 and 7 are not any more, 8 still is.
  expect(answer).toMatchObject({
    replayed: 6,
    skipped: 2,
    earlier_rules: 1,
    changed: 5,
    newly_approved: 2,
    newly_denied: 2,
  });
  expect(answer.changes.map((change) => change.order_id)).toEqual(["o-1", "o-2", "o-4"]);
  expect(answer.changes[0]).toEqual({
    order_id: "o-1",
    decision_id: uuid(1),
    symbol: "AAPL",
    side: "BUY",
    quantity: "101",
    approved_before: false,
    approved_after: false,
    code_before: "POSITION_LIMIT_EXCEEDED",
    code_after: "NOTIONAL_ABOVE_MAX",
    reason_after: "Too much.",
    decided_at: exampleDecision.decided_at,
  });
  const [from, to] = [instant.parse("2026-11-15T15:00:00Z"), now];
  expect(book.asked).toEqual([0n, 4n, 8n].map((after) => ({ fundId: "alpha", from, to, after })));
  expect(book.naps).toBe(2);
});

test("a replay lets others have their turn after every slice", async () => {
  const book = queries([1, 2, 3, 4, 5, 6, 7, 8].map((number) => stored(number)));
  const slices: number[] = [];
  const counting: ReplayOptions["replay"] = (record, envelope) => {
    slices[book.naps] = (slices[book.naps] ?? 0) + 1;
    return byNumber(record, envelope);
  };
  await replay(book, { pageCount: 100, sliceCount: 3, replay: counting });
  expect(slices).toEqual([3, 3, 2]);
});

test("a period with as many decisions as allowed is replayed, one more is refused", async () => {
  const book = queries([1, 2, 3, 4, 5, 6, 7, 8].map((number) => stored(number)));
  expect((await replay(book, { decisionsMax: 8 })).replayed).toBe(6);
  expect(await refusal(replay(book, { decisionsMax: 7 }))).toMatch(/INVALID_ARGUMENT .* more than 7 decisions: narrow/);
});

test("a replay ends when nobody waits for it", async () => {
  const hangUp = new AbortController();
  const book = queries([1, 2, 3, 4, 5, 6, 7, 8].map((number) => stored(number)));
  const noticing: ReplayOptions["replay"] = (record, envelope) => {
    hangUp.abort();
    return byNumber(record, envelope);
  };
  const running = replay(book, { replay: noticing }, { proposed, count_max: 0 }, hangUp.signal);
  expect(await refusal(running)).toMatch(/^CANCELLED /);
  expect(book.asked).toHaveLength(1);
});

test("a fund without decisions is replayed to nothing", async () => {
  expect(await replay(queries())).toMatchObject({ fund_id: "alpha", replayed: 0, skipped: 0, changes: [] });
});

test.each([
  ["no decision", new Uint8Array(0), "holds no decision"],
  ["no message", new Uint8Array([0xff, 0xff]), ""],
])("a record that is %s is named and ends nothing but the question", async (_name, payload, why) => {
  const book = queries([{ ...stored(1), payload }]);
  const sentence = `INTERNAL The record of decision ${uuid(1)} cannot be read: `;
  const answers = [book.call("ListRejections", { hours: 0, count_max: 0 }), replay(book)];
  for (const answer of answers) {
    const reported = await refusal(answer);
    expect(reported).toContain(sentence);
    expect(reported).toContain(why);
  }
});
