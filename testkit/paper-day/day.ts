// A day on the paper platform in a few minutes: strategies trade by themselves, and people go short, write and close options, move money in and out,
// book dividends, a split and a split of a share that options are held on, see a symbol halted, and lose three of the platform's processes to kill -9. All day long the platform must say
// that its books agree, and in the evening a second bookkeeping, which shares no code with the services, must come to the same
// positions, cash and values to the last decimal.
import { messageOf } from "../../contracts/src/fault.ts";
import type { OrderStatus } from "../../contracts/src/generated/svc/v1/platform.ts";
import type { Exposures } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Books } from "../../contracts/src/generated/svc/v1/riskworkers.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { openPaperFixture, type PaperFixture } from "../crash-rounds/paper-fixture.ts";
import { trades } from "../crash-rounds/paper-rounds.ts";
import { ordersUnderWay, wrongWithBooks, wrongWithBroker } from "../crash-rounds/paper-verdict.ts";
import { eventually, pause } from "../platform.ts";
import {
  type Entry,
  keepSecondBooks,
  type ReportedCash,
  type ReportedFill,
  type ReportedInstrument,
  type ReportedValue,
  wrongWithValue,
} from "./second-books.ts";

export interface DaySummary {
  readonly fills: number;
  readonly values: number;
  readonly cashEntries: number;
  readonly looksAtBooks: number;
  readonly durationMs: number;
}

const configuration = `
research: { decide_every_s: 2 }
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1000 }
`;
const settleMsMax = 120_000;
const lookEveryMs = 2_000;
const put = "SPY 281215P00550000";
/** What the put is called when its share was split two for one. */
const splitPut = "SPY 281215P00275000";

interface Day {
  readonly fixture: PaperFixture;
  readonly say: (line: string) => void;
  orders: number;
}

export async function runPaperDay(say: (line: string) => void): Promise<DaySummary> {
  const startedAtMs = Date.now();
  const fixture = await openPaperFixture("paper-day", configuration);
  const day: Day = { fixture, say, orders: 0 };
  const watch = watchBooks(fixture);
  try {
    await morning(day);
    await noon(day);
    await afternoon(day);
    const summary = await evening(day);
    const looksAtBooks = await watch.stop();
    return { ...summary, looksAtBooks, durationMs: Date.now() - startedAtMs };
  } catch (error) {
    say(`the day failed; the platform's last words:\n${fixture.printed().slice(-4_000)}`);
    throw error;
  } finally {
    await watch.stop().catch(() => undefined);
    await fixture.close();
  }
}

/** Shorts and options, before anything goes wrong. */
async function morning(day: Day): Promise<void> {
  const { fixture } = day;
  await trades(fixture, 3);
  // Somebody else's hands are on these two from now on.
  for (const strategyId of ["alpha-meanrev", "gamma-income"]) await setStatus(day, strategyId, "shadow");
  const held = await atRest(day, "alpha", "JPM");
  await order(day, { symbol: "JPM", side: "SELL", quantity: held, reduce_only: true });
  await order(day, { symbol: "JPM", side: "SELL_SHORT", quantity: "300" });
  await order(day, { symbol: put, side: "BUY", quantity: "2", fund_id: "gamma" });
  await killAndGoOn(day, "oms");
}

/** Money in and out, a dividend on a long and a short, a split under a resting order, a symbol without prices. */
async function noon(day: Day): Promise<void> {
  await flow(day, "alpha", "250000.37");
  await flow(day, "beta", "-125000.11");
  const today = new Date().toISOString().slice(0, 10);
  for (const [symbol, amount] of [
    ["AAPL", "0.26"],
    ["JPM", "1.15"],
  ] as const) {
    const terms = { symbol, amount_per_share: amount, ex_date: today, reason: "paper day", ratio: "", new_symbol: "" };
    await day.fixture.askAsOperator("Treasury", "BookCorporateAction", {
      action_id: `day-${symbol}`,
      kind: "CASH_DIVIDEND",
      ...terms,
    });
  }
  await order(day, { symbol: "NVDA", side: "BUY", quantity: "5", order_type: "LIMIT", limit_price: "136" }, "WORKING");
  await killAndGoOn(day, "treasury");
  await split(day, "NVDA", "4:1");
  await split(day, "SPY", "2:1");
  await faults(day, { halted_symbols: ["MSFT"] });
  // tidy: sleeps because trading is suspended for as long.
  await pause(20_000);
  await faults(day, {});
}

async function afternoon(day: Day): Promise<void> {
  await order(day, { symbol: "JPM", side: "BUY_TO_COVER", quantity: "120" });
  await order(day, { symbol: splitPut, side: "SELL", quantity: "3", fund_id: "gamma", reduce_only: true });
  await killAndGoOn(day, "riskengine");
  await flow(day, "gamma", "-10000.5");
  await trades(day.fixture, 10);
}

interface Asked {
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly fund_id?: string;
  readonly order_type?: string;
  readonly limit_price?: string;
  readonly reduce_only?: boolean;
}

const strategyOf: Readonly<Record<string, string>> = {
  JPM: "alpha-meanrev",
  NVDA: "alpha-momentum",
  [put]: "gamma-income",
  [splitPut]: "gamma-income",
};

const endings = new Set(["REJECTED", "CANCELLED", "EXPIRED", "FILLED"]);

/** Hands an order in and waits for what should become of it. */
async function order(day: Day, asked: Asked, wanted = "FILLED"): Promise<void> {
  day.orders += 1;
  const id = `day-${day.orders}`;
  const whole = {
    fund_id: "alpha",
    order_type: "MARKET",
    ...asked,
    order_id: id,
    idempotency_key: id,
    strategy_id: strategyOf[asked.symbol] ?? "",
    asset_class: asked.symbol.startsWith("SPY 28") ? "OPTION" : "EQUITY",
    tif: "GTC",
    broker: "paper",
    actor: "paper day",
  };
  await day.fixture.ask("Oms", "SubmitOrder", whole);
  let status: OrderStatus | undefined;
  await eventually(
    `${id} is ${wanted}`,
    async () => {
      status = await day.fixture.ask<OrderStatus>("Oms", "GetOrder", { order_id: id });
      if (endings.has(status.state) && status.state !== wanted) throw new Error(`${id} ended as ${status.state}`);
      return status.state === wanted;
    },
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}: ${JSON.stringify(status)}`);
  });
  day.say(`${asked.side} ${asked.quantity} ${asked.symbol}: ${wanted}`);
}

/** What the fund holds of it once no order is open there any more. */
async function atRest({ fixture }: Day, fundId: string, symbol: string): Promise<string> {
  let held = "";
  await eventually(
    `no order of ${fundId} in ${symbol} is open`,
    async () => {
      const { lines } = await fixture.ask<Exposures>("RiskEngine", "ListExposures", {});
      const line = lines.find((one) => one.fund_id === fundId && one.symbol === symbol);
      held = line?.quantity ?? "";
      return line !== undefined && line.pending_buy === "0" && line.pending_sell === "0";
    },
    settleMsMax,
  );
  return held;
}

async function setStatus({ fixture }: Day, strategyId: string, status: string): Promise<void> {
  await fixture.askAsOperator("Research", "SetStrategy", { strategy_id: strategyId, status, reason: "paper day" });
}

async function flow({ fixture, say }: Day, fundId: string, amount: string): Promise<void> {
  const terms = {
    fund_id: fundId,
    idempotency_key: `day-flow-${fundId}`,
    currency: "USD",
    amount,
    reason: "paper day",
  };
  await fixture.bookFlow(terms);
  say(`${amount} USD for ${fundId}`);
}

async function faults({ fixture }: Day, faults: object): Promise<void> {
  await fixture.askAsOperator("Oms", "SetPaperWeather", {
    gaps: [],
    halted_symbols: [],
    news: [],
    informed: [],
    ...faults,
    reason: "paper day",
  });
}

const notOfASplit = { amount_per_share: "", ex_date: "", new_symbol: "" };

async function split({ fixture, say }: Day, symbol: string, ratio: string): Promise<void> {
  const terms = { action_id: `day-split-${symbol}`, kind: "SPLIT", symbol, ratio, reason: "paper day", ...notOfASplit };
  let state = "";
  await eventually(
    `the split of ${symbol} is done`,
    async () => {
      ({ state } = await fixture.askAsOperator<{ state: string }>("Treasury", "BookCorporateAction", terms));
      return state === "DONE";
    },
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}: ${state}`);
  });
  say(`${symbol} split ${ratio}`);
}

async function killAndGoOn({ fixture, say }: Day, victim: string): Promise<void> {
  fixture.kill(victim);
  await eventually("the platform is healthy", async () => (await fixture.platform().health()) === 200, settleMsMax);
  await trades(fixture, 3);
  say(`${victim} was killed, and trading goes on`);
}

/** Asks the platform all day long whether its books agree; the first difference that it tells ends the day. */
function watchBooks(fixture: PaperFixture): { stop(): Promise<number> } {
  let isStopping = false;
  let looks = 0;
  const reported: string[] = [];
  async function run(): Promise<void> {
    while (!isStopping) {
      await pause(lookEveryMs);
      const books = await fixture.ask<Books>("RiskWorkers", "GetBooks", {}).catch(() => undefined);
      if (books === undefined) continue;
      looks += 1;
      for (const { name, agrees, difference } of books.checks) if (!agrees) reported.push(`${name}: ${difference}`);
    }
  }
  const running = run();
  return {
    async stop() {
      isStopping = true;
      await running;
      if (reported.length > 0)
        throw new Error(`the books did not agree throughout:\n${reported.slice(0, 10).join("\n")}`);
      return looks;
    },
  };
}

/** Nobody trades any more; then everything is counted. */
async function evening(day: Day): Promise<Omit<DaySummary, "looksAtBooks" | "durationMs">> {
  const { owner } = day.fixture;
  for (const strategyId of ["alpha-momentum", "beta-trend"]) await setStatus(day, strategyId, "shadow");
  await day.fixture.askAsOperator("Oms", "CancelAll", { confirmation: "CANCEL", reason: "the day is over" });
  await eventually(
    "no order is left lying",
    async () => (await ordersUnderWay(owner, Date.now() * 1_000)).length === 0,
    settleMsMax,
  );
  let wrong: readonly string[] = [];
  let found: Reported | undefined;
  await eventually(
    "the books of the evening agree",
    async () => {
      found = await readReported(day.fixture);
      wrong = [...(await wrongWithBroker(owner)), ...(await wrongWithBooks(day.fixture)), ...wrongInTheEvening(found)];
      return wrong.length === 0;
    },
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}:\n${wrong.slice(0, 20).join("\n")}`);
  });
  if (found === undefined) throw new Error("nothing was read");
  const count = (kind: Entry["kind"]): number => found?.entries.filter((entry) => entry.kind === kind).length ?? 0;
  // Two shares, and the four options on one of them.
  if (count("exchange") !== 6) throw new Error(`6 instruments were split, and ${count("exchange")} were reported`);
  return { fills: count("fill"), cashEntries: count("cash"), values: found.values.length };
}

interface Reported {
  readonly instruments: readonly ReportedInstrument[];
  readonly entries: readonly Entry[];
  readonly values: readonly ReportedValue[];
}

/** Everything since the beginning, in the order of its commits. */
async function readReported({ owner }: PaperFixture): Promise<Reported> {
  const names = [subjects.fillsCreated, subjects.ledgerBooked, subjects.navUpdated, subjects.corporateActionChanged];
  const { rows } = await owner.query<{ subject: string; payload: string }>(
    "select subject, convert_from(payload, 'UTF8') as payload from portcullis.outbox where subject = any($1) order by id",
    [names.map(({ name }) => name)],
  );
  const stored = await owner.query<{ content: readonly ReportedInstrument[] }>(
    "select content from portcullis.reference_version where kind = 'instruments' order by version",
  );
  const entries: Entry[] = [];
  const values: ReportedValue[] = [];
  for (const { subject, payload } of rows) {
    const reported: unknown = JSON.parse(payload);
    if (subject === subjects.fillsCreated.name) entries.push({ kind: "fill", reported: reported as ReportedFill });
    else if (subject === subjects.ledgerBooked.name) entries.push({ kind: "cash", reported: reported as ReportedCash });
    else if (subject === subjects.navUpdated.name) values.push(reported as ReportedValue);
    else entries.push(...exchangesOf(reported as ReportedAction));
  }
  // Those that a split took the place of are named by trades and values of before it.
  const instruments = new Map(stored.rows.flatMap(({ content }) => content).map((one) => [one.symbol, one]));
  return { instruments: [...instruments.values()], entries, values };
}

interface ReportedAction {
  readonly state: string;
  readonly legs: readonly { symbol: string; new_symbol: string; quantity: readonly [number, number] }[];
}

function exchangesOf({ state, legs }: ReportedAction): readonly Entry[] {
  if (state !== "APPLIED") return [];
  return legs.map(({ symbol, new_symbol, quantity: [times, per] }) => ({
    kind: "exchange",
    from: symbol,
    to: new_symbol,
    times: String(times),
    per: String(per),
  }));
}

/** Every value of the day adds up, and the newest of each fund is what the second bookkeeping comes to. */
function wrongInTheEvening({ instruments, entries, values }: Reported): readonly string[] {
  const books = keepSecondBooks(instruments, entries);
  const newest = new Map(values.map((value) => [value.fund_id, value]));
  return [
    ...values.flatMap((value) => wrongWithValue(instruments, value)),
    ...[...newest.values()].flatMap((value) => wrongWithValue(instruments, value, books)),
  ];
}
