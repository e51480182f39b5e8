// A moment of the past has a reason where something is not kept, and no figure in its place.
import { afterEach, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Moment } from "../../../contracts/src/generated/svc/v1/replay.ts";
import { format, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { ReplayQueries, Standing } from "../../../ports/replay-queries.ts";
import type { JournalRow } from "../../../ports/risk-store.ts";
import { envelopeRecord, fillOf, orderOf, reference, startOfDay } from "../../../testkit/risk/engine-fixture.ts";
import { serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { paperReference } from "../../shared/paper-seeds.ts";
import { getMoment } from "./moment.ts";

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const at = (second: number): Instant => plusMilliseconds(startOfDay, second * 1_000);

function fillRow(id: number, second: number, quantity: string, price: string, symbol = "AAPL"): JournalRow {
  const order = orderOf(`o${id}`, { fund_id: "alpha", strategy_id: "trend", symbol });
  const fill = { ...fillOf(order, quantity, id), price, filled_at: format(startOfDay) };
  const payload = new TextEncoder().encode(JSON.stringify(fill));
  return {
    id: BigInt(id),
    kind: "fill",
    at: at(second),
    fundId: "alpha",
    orderId: order.order_id,
    fillId: fill.fill_id,
    payload,
  };
}

const rows = [fillRow(1, 1, "10", "100"), fillRow(2, 5, "10", "110"), fillRow(3, 9, "4", "50", "MSFT")];
const standing: Standing = {
  reference: {
    ...reference,
    funds: reference.funds.map((fund) => ({ ...fund, calendar: "always-open" })),
    calendars: paperReference("").calendars,
    versions: {} as never,
    change: 0,
  },
  envelope: envelopeRecord("alpha"),
  nav: {
    fundId: "alpha",
    at: at(8),
    nav: decimal.parse("1000000"),
    cash: decimal.parse("1000000"),
    positionsValue: decimal.zero,
    netFlows: decimal.zero,
    currency: "USD",
    oldestPriceAgeMs: 0,
    prices: { AAPL: { quantity: "20", price: "120", at: format(at(8)) } },
  },
  halts: [],
  restrictions: [],
  baselines: [],
};

function moment(second: number, differs: Partial<Standing> = {}): Promise<Moment> {
  const fixture = serviceFixture(5);
  closes.push(fixture.close);
  const replayQueries = {
    standing: async () => ({ ...standing, ...differs }),
    booksBefore: async () => undefined,
    journal: async ({ after, at: until }) => rows.filter((row) => row.id > after && row.at <= until),
  } satisfies Partial<ReplayQueries>;
  const ports = {
    ...fixture.portsOf("operations"),
    clock: { now: () => at(3_600) },
    referenceData: { read: async () => ({ funds: [{ fund_id: "alpha" }] }), changed: async () => 1 },
    running: () => undefined,
    replayQueries,
  };
  return getMoment(ports as never, { fund_id: "alpha", at: format(at(second)) }, new AbortController().signal);
}

const sumOf = ({ limit_use: use }: Moment) => use.find(({ limit }) => limit === "max_gross_exposure_pct");

it("holds what was recorded by then, at what it cost and was valued at: a fill that came late is not in it", async () => {
  const early = await moment(4);
  expect(early.positions).toMatchObject([{ symbol: "AAPL", quantity: "10", average_price: "100", price: "120" }]);
  const later = await moment(8);
  expect(later.positions).toMatchObject([{ symbol: "AAPL", quantity: "20", average_price: "105" }]);
  expect(sumOf(later)).toMatchObject({ used: "2400", as_of: format(at(8)) });
  expect(later.nav).toMatchObject({ value: "1000000", as_of: format(at(8)) });
});

it("says of a position whose price is not kept why, and tells no sum that leaves it out", async () => {
  const { positions, ...rest } = await moment(10);
  expect(positions.find(({ symbol }) => symbol === "MSFT")).toMatchObject({
    price: undefined,
    reason: expect.stringMatching(/not kept/),
  });
  const sum = sumOf({ positions, ...rest });
  expect(sum).toMatchObject({ band: 100, reason: "A price of then is not kept: MSFT." });
  expect(sum?.used).toBeUndefined();
});

it("has a reason for its value and every limit where no value of then is kept", async () => {
  for (const nav of [undefined, standing.nav && { ...standing.nav, at: at(-3_700) }]) {
    const { nav: worth, limit_use: use } = await moment(10, { nav });
    expect(worth).toMatchObject({ value: undefined, reason: expect.stringMatching(/No value of that time is kept/) });
    for (const row of use) expect(row, row.limit).toMatchObject({ reason: expect.stringMatching(/not kept/) });
    expect(use.length).toBeGreaterThan(0);
  }
});

it("counts losses of the calendar from the baselines of then, and has a reason for the others", async () => {
  const base = { value: decimal.parse("1010000"), netFlows: decimal.zero, version: 0, valuedAt: at(0), setAt: at(0) };
  const baseline = { ...base, limit: "daily" as const, period: "2026-11-15", setBy: "riskengine", reason: "" };
  const { limit_use: use } = await moment(8, { baselines: [baseline] });
  expect(use.find(({ limit }) => limit === "daily")).toMatchObject({ used: "10000" });
  const moved = { ...baseline, netFlows: decimal.one };
  const { limit_use: other } = await moment(8, { baselines: [moved] });
  expect(other.find(({ limit }) => limit === "daily")?.reason).toMatch(/Money moved/);
});

it("the second before midnight is judged by the day that ends, the second after it by the day that begins, whenever it is asked", async () => {
  const base = { netFlows: decimal.zero, version: 0, limit: "daily" as const, setBy: "riskengine", reason: "" };
  const of = (period: string, second: number, value: string) => ({
    ...base,
    period,
    value: decimal.parse(value),
    valuedAt: at(second),
    setAt: at(second),
  });
  // The always open calendar's days are those of UTC; the session of the fixture begins at 13:30.
  const midnight = -13.5 * 3_600;
  const baselines = [of("2026-11-15", midnight, "1000500"), of("2026-11-14", midnight - 86_400, "1030000")];
  const lossAt = async (second: number) => {
    const nav = standing.nav && { ...standing.nav, at: at(second) };
    const { limit_use: use } = await moment(second, { nav, baselines });
    return use.find(({ limit }) => limit === "daily");
  };
  expect(await lossAt(midnight - 1)).toMatchObject({ used: "30000", as_of: format(at(midnight - 1)) });
  expect(await lossAt(midnight + 1)).toMatchObject({ used: "500", as_of: format(at(midnight + 1)) });
});
