// What people are told of the moments of a day that the paper platform lived, held against what was written down while it ran and against sums over the journal:
// nothing later than asked, nothing lost or doubled by kill -9, and every record that somebody touched.
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Moment, ReplayBar, TimelineEvent } from "../contracts/src/generated/svc/v1/replay.ts";
import { DecisionRecord } from "../contracts/src/generated/svc/v1/riskdesk.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { eventually } from "../testkit/platform.ts";
import {
  gappedSymbol,
  type LivedDay,
  livedFunds,
  minuteText,
  nowText,
  openLivedDay,
} from "../testkit/replay/lived-day.ts";
import { laterThan, microsecondsOf, momentText, positionsAt, recordedFills } from "../testkit/replay/past-oracle.ts";
import { prng } from "../testkit/virtual/prng.ts";

const seed = 47;
const timeout = 900_000;
const minuteUs = 60_000_000;

let day: LivedDay;
let lived: Awaited<ReturnType<LivedDay["live"]>>;
let owner: pg.Pool;

beforeAll(async () => {
  day = await openLivedDay();
  owner = day.owner;
  lived = await day.live();
}, 900_000);

afterAll(() => day?.close(), 60_000);

const momentAt = (fundId: string, at: string) => day.get<Moment>(`/v1/replay/moment?fund_id=${fundId}&at=${at}`);
const timeline = (fundId: string, more = "") =>
  day.get<readonly TimelineEvent[]>(`/v1/replay/timeline?fund_id=${fundId}&from=${day.began}&count_max=500${more}`);
const barsOf = (symbol: string, more = "") =>
  day.get<readonly ReplayBar[]>(`/v1/replay/bars/${symbol}?count_max=30${more}`);

describe("moments of a day", () => {
  test("200 of them have nothing later in them, and hold what was recorded by then", { timeout }, async () => {
    const rolls = prng(seed);
    const fills = await recordedFills(owner);
    expect(fills.length).toBeGreaterThan(6);
    const [first, last] = [microsecondsOf(day.began), microsecondsOf(nowText())];
    const halts = new Set<number>();
    for (let n = 0; n < 200; n += 1) {
      const atUs = first + Math.floor(((last - first) * rolls.word()) / 2 ** 32);
      const at = momentText(atUs);
      const fundId = livedFunds[rolls.below(livedFunds.length)] ?? "alpha";
      const named = `seed ${seed}, ${fundId} at ${at}`;
      const moment = await momentAt(fundId, at);
      expect(laterThan(moment, atUs), named).toEqual([]);
      const held = moment.positions.map(({ strategy_id: of, symbol, quantity }) => `${of} ${symbol} ${quantity}`);
      expect(held.toSorted(), named).toEqual(positionsAt(fills, fundId, atUs));
      if (fundId === "beta") halts.add(moment.halts.length);
      if (n % 4 > 0) continue;
      const rows = await timeline(fundId, `&to=${at}`);
      expect(laterThan(rows, atUs), named).toEqual([]);
      expect(new Set(rows.map(({ event_id }) => event_id)).size, named).toBe(rows.length);
      const bars = await barsOf(gappedSymbol, `&at=${at}`);
      expect(laterThan(bars, atUs), named).toEqual([]);
      expect(bars.filter(({ closed, start }) => closed && microsecondsOf(start) + minuteUs > atUs)).toEqual([]);
    }
    expect([...halts].sort()).toEqual([0, 1]);
  });

  test("what is used of limits is what the engine said at that very second, or has a reason", { timeout }, async () => {
    const moved = await owner.query("select fund_id, at_us from portcullis.risk_journal where kind <> 1 or approved");
    const movedAt = moved.rows.map(({ fund_id, at_us }) => ({ fundId: String(fund_id), us: Number(at_us) }));
    let [compared, counted] = [0, 0];
    for (const { fundId, at, uses } of lived.written.filter((_, index) => index % 3 === 0)) {
      const us = microsecondsOf(at);
      // What was on its way to the books in that second may be in one and not in the other.
      if (movedAt.some((one) => one.fundId === fundId && Math.abs(one.us - us) < 1_500_000)) continue;
      const then = new Map((await momentAt(fundId, at)).limit_use.map((row) => [`${row.limit} ${row.scope}`, row]));
      const gross = Number(uses.find(({ limit }) => limit === "max_gross_exposure_pct")?.used ?? 0);
      for (const { limit, scope, used } of uses) {
        const row = then.get(`${limit} ${scope}`);
        const named = `${fundId} ${limit} ${scope} at ${at}: ${used}, ${JSON.stringify(row)}`;
        expect(row?.used !== undefined || row?.reason !== undefined || used === undefined, named).toBe(true);
        if (row?.used === undefined || used === undefined) continue;
        // The price moves of one second.
        expect(Math.abs(Number(row.used) - Number(used)), named).toBeLessThanOrEqual(1 + gross * 0.004);
        if (limit === "max_gross_exposure_pct") counted += 1;
      }
      compared += 1;
    }
    process.stderr.write(`${compared} of ${lived.written.length} seconds compared, ${counted} with gross exposure\n`);
    expect(counted).toBeGreaterThan(10);
  });

  test("a fill that came late stands where it was learned of, and is in no moment before", async () => {
    const { recordedAfter, filledAt } = lived.lateFill;
    const fills = await timeline("outside", "&kinds=fill");
    const late = fills.find(({ happened_at: happened }) => happened === filledAt);
    expect(microsecondsOf(late?.at ?? "")).toBeGreaterThanOrEqual(microsecondsOf(recordedAfter));
    const heldAt = async (at: string): Promise<string | undefined> =>
      (await momentAt("outside", at)).positions.find(({ symbol }) => symbol === "MSFT")?.quantity;
    expect([await heldAt(recordedAfter), await heldAt(nowText())]).toEqual(["60", "100"]);
  });

  test("a gap that was cleared is still in what was heard, and no longer in the market's own past", {
    timeout,
  }, async () => {
    const depth = (bars: readonly Pick<ReplayBar, "start" | "low" | "high">[]): number | undefined =>
      bars
        .filter(({ start }) => start === lived.gapMinute)
        .map(({ low, high }) => Number(low) / Number(high))
        .at(0);
    await eventually("it is kept", async () => (depth(await barsOf(gappedSymbol)) ?? 1) < 0.98, 90_000);
    const market = await day.get<readonly ReplayBar[]>(`/v1/market/bars/${gappedSymbol}?interval=1m&count_max=30`);
    expect(depth(market)).toBeGreaterThan(0.98);
  });
});

describe("what is asked for wrongly", () => {
  const ahead = new Date(Date.now() + 86_400_000).toISOString();
  test.each([
    [`timeline?fund_id=alpha&to=${ahead}`, 400, /to .* in the future/],
    ["timeline?fund_id=alpha&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", 400, /from .* is after to/],
    ["timeline?fund_id=alpha&from=2026-01-01T00:00:00Z&to=2026-02-02T00:00:00Z", 400, /31 days/],
    ["timeline?fund_id=alpha&kinds=fill,rumour", 400, /kinds names "rumour"/],
    ["timeline?fund_id=nobody", 404, /nobody/],
    [`moment?fund_id=alpha&at=${ahead}`, 400, /at .* in the future/],
    ["moment?fund_id=nobody", 404, /nobody/],
    ["bars/NONESUCH", 404, /NONESUCH/],
    [`bars/AAPL?at=${ahead}`, 400, /at .* in the future/],
  ])("%s is %i", async (path, status, words) => {
    const headers = await bearerOf(day.platform, "viewer");
    const answer = await fetchOnNewConnection(`${operatorUrl(day.platform)}/v1/replay/${path}`, { headers });
    const { detail } = (await answer.json()) as { readonly detail: string };
    expect([answer.status, detail]).toEqual([status, expect.stringMatching(words)]);
  });

  test.each([
    [["timeline", "--fund-id", "alpha", "--kinds", "rumour"], /rumour/],
    [["moment", "--fund-id", "nobody"], /nobody/],
    [["bars", "NONESUCH"], /NONESUCH/],
    [["verify", "--fund-id", "alpha", "--from", "2026-01-01", "--to", "2026-03-01"], /31 days/],
  ] as const)("ctl replay %j is refused by name", { timeout: 60_000 }, async (words, said) => {
    const { exit, stderr } = await day.ctl.run("replay", ...words);
    expect([exit === 0, stderr]).toEqual([false, expect.stringMatching(said)]);
  });
});

describe("kill -9 of operations", () => {
  test("cuts the minute, doubles nothing, and loses nothing that was answered", { timeout }, async () => {
    const { platform } = day;
    await eventually("a minute is young", () => new Date().getUTCSeconds() < 30);
    const [minute, pid] = [minuteText(), platform.runFile().processes["operations"] ?? 0];
    process.kill(pid, "SIGKILL");
    const ours = { fund_id: "alpha", strategy_id: "alpha-momentum", quantity: "1", broker: "paper" };
    const orders = Array.from({ length: 5 }, () => day.order(ours));
    for (const order of orders) await day.submit(order);
    await eventually("operations is back", async () => {
      const { processes } = platform.runFile();
      return processes["operations"] !== pid && (await platform.health()) === 200;
    });
    await eventually("every answered decision is told, and once", async () => {
      const told = (await timeline("alpha", "&kinds=decision")).map(({ order_id }) => order_id);
      return orders.every(({ order_id: id }) => told.filter((one) => one === id).length === 1);
    });
    const next = momentText(microsecondsOf(minute) + minuteUs);
    let bars: readonly ReplayBar[] = [];
    await eventually(
      "the next minute is kept",
      async () => {
        bars = await barsOf("AAPL");
        return bars.some(({ start, closed }) => start === next && closed);
      },
      150_000,
    );
    expect(bars.find(({ start }) => start === minute)?.cut).toBe(true);
    expect(bars.find(({ start }) => start === next)?.cut).toBe(false);
    expect(new Set(bars.map(({ start }) => start)).size).toBe(bars.length);
  });
});

describe("minutes that cannot be written", () => {
  test("are told of, wait, and are written later", { timeout }, async () => {
    const alarms = async (code: string): Promise<number> =>
      (await day.get<readonly { readonly code: string }[]>("/v1/operations/alarms")).filter((one) => one.code === code)
        .length;
    const kept = async (): Promise<readonly number[]> =>
      (
        await owner.query("select start_us from portcullis.market_minute where symbol = 'AAPL' order by start_us")
      ).rows.map(({ start_us }) => Number(start_us));
    const before = await kept();
    await owner.query(`
      create function portcullis.refuse_minutes() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
      create trigger refuse_minutes before insert on portcullis.market_minute for each row execute function portcullis.refuse_minutes()`);
    await eventually("it is told", async () => (await alarms("BARS_NOT_KEPT")) > 0, 150_000);
    await owner.query("drop trigger refuse_minutes on portcullis.market_minute");
    await eventually("what waited is written", async () => (await kept()).length > before.length, 90_000);
    const after = await kept();
    const newest = after.slice(before.length - 1);
    expect(newest.slice(1).map((start, index) => start - (newest[index] ?? 0))).toEqual(
      newest.slice(1).map(() => minuteUs),
    );
  });
});

interface Verdict {
  readonly decisions: number;
  readonly same: number;
  readonly different: number;
  readonly skipped: number;
  readonly through: string;
  readonly differences: readonly { readonly decision_id: string; readonly cause: string }[];
}

describe("recorded decisions", () => {
  test("are what they were, all of them, and exactly that one is not which the database's owner touched", {
    timeout,
  }, async () => {
    const verify = async (exit: number): Promise<Verdict> =>
      (await day.ctl.json(exit, "replay", "verify", "--fund-id", "alpha", "--from", day.began)) as unknown as Verdict;
    const first = await verify(0);
    expect(first.same + first.skipped).toBe(first.decisions);
    expect(first.same).toBeGreaterThan(10);
    const found = await owner.query(
      `select id, event_id::text as decision_id, payload from portcullis.risk_journal
       where kind = 1 and approved and fund_id = 'alpha' and at_us > $1 and at_us < $2 order by id limit 3`,
      [microsecondsOf(day.began), microsecondsOf(first.through)],
    );
    const [changed, turned, gone] = found.rows as readonly { id: string; decision_id: string; payload: Buffer }[];
    const record = DecisionRecord.decode(changed?.payload ?? Buffer.of());
    const order = { ...record.order, quantity: "77777" } as typeof record.order;
    const payload = Buffer.from(DecisionRecord.encode({ ...record, order }).finish());
    const listed = async (): Promise<readonly string[]> =>
      (await verify(10)).differences.map(({ decision_id: id, cause }) => `${id} ${cause}`);
    await owner.query("set session_replication_role = replica");
    const setPayload = "update portcullis.risk_journal set payload = $2 where id = $1";
    await owner.query(setPayload, [changed?.id, payload]);
    expect(await listed()).toEqual([`${changed?.decision_id} AUDIT`]);
    await owner.query(setPayload, [changed?.id, changed?.payload]);
    const setVerdict = "update portcullis.risk_journal set approved = $2, code = $3 where id = $1";
    await owner.query(setVerdict, [turned?.id, false, "NO_PRICE"]);
    expect(await listed()).toEqual([`${turned?.decision_id} AUDIT`]);
    await owner.query(setVerdict, [turned?.id, true, ""]);
    await owner.query("delete from portcullis.risk_journal where id = $1", [gone?.id]);
    expect(await listed()).toEqual([`${gone?.decision_id} MISSING`]);
    expect((await verify(10)).decisions).toBeGreaterThanOrEqual(first.decisions);
  });

  test("are verified once at a time for each person, who is told when to come again", { timeout }, async () => {
    const headers = { ...(await bearerOf(day.platform, "viewer")), "content-type": "application/json" };
    const ask = () =>
      fetchOnNewConnection(`${operatorUrl(day.platform)}/v1/replay/verify`, {
        method: "POST",
        headers,
        body: JSON.stringify({ fund_id: "alpha", from: day.began }),
      });
    const answers = await Promise.all([ask(), ask(), ask()]);
    const refused = answers.find(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
