// A day of the paper platform in a few minutes: strategies trade by themselves, a foreign order management tells of a fill that comes late and takes one back, an
// order is amended, what is held is split, a price gaps and comes back, a strategy is halted and let go, and limits are tightened. Meanwhile somebody writes down
// what the engine says of every limit.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import type pg from "pg";
import { describedServices } from "../../adapters/grpc/definitions.ts";
import { addressOfSocket, openPool } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import { alwaysOpen } from "../../contracts/src/calendars.ts";
import { foreignPublishers } from "../../contracts/src/foreign-events.ts";
import type { LimitUse } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { envelopeAction } from "../../services/riskengine/envelope-proof.ts";
import { flowAction } from "../../services/treasury/book-flow.ts";
import { ampleEnvelope } from "../ample-envelope.ts";
import { type Ctl, ctlIn } from "../ctl/ctl.ts";
import { testClient } from "../grpc/test-client.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { bearerOf, developmentOperator, operatorUrl } from "../login.ts";
import { emptyMessage } from "../ownership/naming-message.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../platform.ts";
import { quietLog } from "../quiet-log.ts";
import { addressOf } from "../risk/client.ts";
import { withAsking } from "../shared/asking.ts";

const configuration = `
research: { decide_every_s: 2 }
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1000 }
`;
const reason = "a day that is looked at again";
export const livedFunds = ["alpha", "beta", "gamma", "outside"] as const;
/** What falls and comes back. */
export const gappedSymbol = "XOM";

interface WrittenDown {
  readonly fundId: string;
  /** The engine's own moment. */
  readonly at: string;
  readonly uses: readonly LimitUse[];
}

export interface LivedDay {
  readonly platform: Platform;
  /** One connection to the database, as its owner. */
  readonly owner: pg.Pool;
  /** As `duty`. */
  readonly ctl: Ctl;
  readonly began: string;
  /** As the viewer. */
  get<Answer>(path: string): Promise<Answer>;
  /** Nothing has happened before; answers with what the tests need to know of it. */
  live(): Promise<{
    readonly written: readonly WrittenDown[];
    readonly lateFill: { readonly recordedAfter: string; readonly filledAt: string };
    readonly gapMinute: string;
  }>;
  order(differs?: Partial<Order>): Order;
  submit(order: Order): Promise<void>;
  close(): Promise<void>;
}

interface Order {
  readonly order_id: string;
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly order_type: string;
  readonly tif: string;
  readonly broker: string;
  readonly limit_price?: string;
}

export const nowText = (): string => `${new Date().toISOString().slice(0, -1)}000Z`;
export const minuteText = (): string => `${new Date().toISOString().slice(0, 17)}00.000000Z`;

export async function openLivedDay(): Promise<LivedDay> {
  const folder = temporaryFolder("lived-day");
  const file = join(folder, "portcullis.yaml");
  writeFileSync(file, configuration);
  const environment = { PORTCULLIS_CONFIG: file };
  const platform = startPlatform({ dataFolder: join(folder, "data"), environment, funds: "as configured" });
  await platform.ready();
  const began = nowText();
  const { host, port } = platform.runFile().database;
  const target = addressOfSocket(host, port, ownerRoleName).owner;
  const owner = openPool(target, { log: quietLog, applicationName: "lived day", sizeMax: 1 });
  const ctl = ctlIn(join(folder, "home"), {
    PORTCULLIS_URL: operatorUrl(platform),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
  });
  await ctl.json(0, "auth", "login", "--dev", "duty");
  const day = { platform, owner, ctl, began, get: asViewer(platform), order: ordersOf() };
  return {
    ...day,
    live: () => live(day),
    submit: (order) => submit(ctl, order),
    async close() {
      await ctl.end();
      await owner.end();
      await platform.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Day = Pick<LivedDay, "platform" | "owner" | "ctl" | "began" | "get" | "order">;

/** Tokens are short-lived, and a log-in for each question is too many of them. */
function asViewer(platform: Platform): LivedDay["get"] {
  const tokenMsMax = 120_000;
  let [loggedInAt, headers]: [number, Readonly<Record<string, string>>] = [0, {}];
  return async <Answer>(path: string): Promise<Answer> => {
    if (Date.now() - loggedInAt > tokenMsMax) [loggedInAt, headers] = [Date.now(), await bearerOf(platform, "viewer")];
    const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers });
    const document: unknown = await answer.json();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(document)}`);
    return document as Answer;
  };
}

function ordersOf(): LivedDay["order"] {
  let numbers = 0;
  return (differs = {}) => {
    numbers += 1;
    const about = { fund_id: "outside", strategy_id: "outside-core", symbol: "MSFT", side: "BUY", quantity: "100" };
    const terms = { order_type: "MARKET", tif: "DAY", broker: "house" };
    return { order_id: `day-${numbers}`, ...about, ...terms, ...differs };
  };
}

async function submit(ctl: Ctl, order: Order): Promise<void> {
  const words = Object.entries(order).flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, String(value)]);
  const { exit, stderr } = await ctl.run("oms", "orders", "submit", ...words);
  if (exit !== 0 && exit !== 8) throw new Error(`${order.order_id}: exit ${exit}: ${stderr}`);
}

async function live(day: Day): ReturnType<LivedDay["live"]> {
  const token = await outsideFund(day);
  const book = writeDown(day);
  try {
    const lateFill = await outsideTrades(day, token);
    await amendedAndSplit(day);
    const gapMinute = await gapAndBack(day);
    await haltsAndLimits(day);
    return { written: book.written, lateFill, gapMinute };
  } finally {
    await book.stop();
  }
}

function writeDown({ get }: Day): { readonly written: readonly WrittenDown[]; stop(): Promise<void> } {
  const written: WrittenDown[] = [];
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      for (const fundId of livedFunds) {
        const uses = await get<readonly LimitUse[]>(`/v1/riskengine/limit-use?fund_id=${fundId}`).catch(() => []);
        const at = uses.find(({ limit }) => limit === "max_gross_exposure_pct")?.as_of;
        if (at !== undefined) written.push({ fundId, at, uses });
      }
      // tidy: sleeps because what is written down is to be spread over the day
      await pause(700);
    }
  })();
  return {
    written,
    async stop() {
      isOver = true;
      await running;
    },
  };
}

/** A fund whose orders a program outside manages; answers with its token. */
function outsideFund({ platform }: Day): Promise<string> {
  return withAsking(platform, async ({ ask, askProven }) => {
    const { version, content } = (await ask("GET", "/v1/treasury/reference/funds")) as {
      readonly version: number;
      readonly content: readonly object[];
    };
    const named = { fund_id: "outside", name: "outside", mode: "PAPER", currency: "USD", strategies: ["outside-core"] };
    const fund = { ...named, calendar: alwaysOpen.definition.name };
    const added = { version: version + 1, content: [...content, fund], reason };
    await ask("PUT", "/v1/treasury/reference/funds", added);
    const flow = { fund_id: "outside", idempotency_key: "capital", currency: "USD", amount: "10000000" };
    await askProven("POST", "/v1/treasury/flows", flowAction(flow, reason), { ...flow, reason });
    const envelope = ampleEnvelope("outside", { allowed_brokers: ["house", "paper"], reason });
    await eventually("the limits of outside are set", () =>
      askProven("PUT", "/v1/riskengine/envelopes/outside", envelopeAction(envelope), envelope).then(
        () => true,
        () => false,
      ),
    );
    const rights = ["CheckOrder", "ConfirmSent", ...foreignPublishers.map(({ operation }) => operation)];
    const issued = { name: "desk", operations: rights, expires_in_s: 3_600 };
    const action = { action: "IssueServiceToken", parameters: issued } as const;
    return ((await askProven("POST", "/v1/service-tokens", action, issued)) as { readonly token: string }).token;
  });
}

/** Of a program outside, by its own token. */
async function say(day: Day, token: string, [part = "", service = "", name = ""]: string[], message: object) {
  const asked = testClient(addressOf(day.platform, part), { token });
  try {
    const type = describedServices.find((one) => one.name === service)?.methods.find((one) => one.name === name);
    const whole = { ...emptyMessage(type?.requestType ?? ""), ...message };
    const { status, answer, details } = await asked.call(service, name, whole, { deadlineMs: 15_000 });
    if (answer === undefined) throw new Error(`${name}: ${status} ${details}`);
    return answer as { readonly code: string; readonly accepted?: boolean };
  } finally {
    asked.close();
  }
}

async function publish(day: Day, token: string, subject: string, payload: { readonly [name: string]: string }) {
  const id = `e-${payload["bust_id"] ?? payload["fill_id"]}`;
  const event = { id, subject, payload_json: JSON.stringify(payload) };
  const receipt = await say(day, token, ["operations", "ForeignEvents", "PublishOrders"], event);
  if (receipt.accepted !== true) throw new Error(`${subject} was refused: ${JSON.stringify(receipt)}`);
}

const { fillsCreated, fillsBusted } = subjects;

/** A fill that is told half a minute after it was made, one in time, and one that is taken back. */
async function outsideTrades(day: Day, token: string) {
  const send = async (differs: Partial<Order> = {}): Promise<Order> => {
    const order = day.order(differs);
    const asked = { ...order, idempotency_key: order.order_id, asset_class: "EQUITY", actor: "test" };
    const check = ["riskengine", "RiskEngine", "CheckOrder"];
    await eventually(
      "outside may trade",
      async () => (await say(day, token, check, { ...asked, dry_run: true })).code === "",
    );
    await say(day, token, check, { ...asked, dry_run: false });
    await say(day, token, ["riskengine", "RiskEngine", "ConfirmSent"], { order_id: order.order_id });
    return order;
  };
  const fillOf = async ({ order_id, fund_id, strategy_id, symbol, side }: Order, quantity: string) => {
    const [quote] = await day.get<readonly { readonly bid: string }[]>(`/v1/market/quotes?symbols=${symbol}`);
    const about = { order_id, fund_id, strategy_id, symbol, side, quantity, price: quote?.bid ?? "" };
    return { fill_id: `fill-${order_id}-${quantity}`, ...about, filled_at: nowText() };
  };
  const first = await send();
  const late = await fillOf(first, "40");
  await publish(day, token, fillsCreated.name, await fillOf(first, "60"));
  const wrong = await fillOf(await send({ symbol: "NVDA", quantity: "50" }), "50");
  await publish(day, token, fillsCreated.name, wrong);
  // tidy: sleeps because a fill that comes late comes later than others
  await pause(20_000);
  const lateFill = { recordedAfter: nowText(), filledAt: late.filled_at };
  await publish(day, token, fillsCreated.name, late);
  const { fill_id, order_id, fund_id, strategy_id, symbol } = wrong;
  const bust = { bust_id: "bust-1", fill_id, order_id, fund_id, strategy_id, symbol, reason, at: nowText() };
  await publish(day, token, fillsBusted.name, bust);
  const fills = `/v1/replay/timeline?fund_id=outside&kinds=fill&from=${day.began}`;
  await eventually("they are in the log", async () => (await day.get<readonly object[]>(fills)).length === 4);
  return lateFill;
}

/** An order that rests and is amended, and a split of what is held. */
async function amendedAndSplit(day: Day): Promise<void> {
  const [quote] = await day.get<readonly { readonly bid: string }[]>("/v1/market/quotes?symbols=JPM");
  const limit_price = (Number(quote?.bid) * 0.98).toFixed(2);
  const ours = { fund_id: "alpha", strategy_id: "alpha-meanrev", broker: "paper" };
  const resting = day.order({ ...ours, symbol: "JPM", quantity: "20", tif: "GTC", order_type: "LIMIT", limit_price });
  await submit(day.ctl, resting);
  await day.ctl.json(0, "oms", "orders", "amend", resting.order_id, "--quantity", "15", "--reason", reason);
  const terms = { action_id: "day-split", kind: "SPLIT", symbol: "AMZN", ratio: "2:1", reason };
  await withAsking(day.platform, ({ ask }) =>
    eventually(
      "the split is done",
      async () => ((await ask("POST", "/v1/treasury/corporate-actions", terms)) as { state: string }).state === "DONE",
      90_000,
    ),
  );
}

async function gapAndBack({ ctl }: Day): Promise<string> {
  const suffer = (...words: string[]) => ctl.json(0, "paper", "weather", "set", ...words, "--reason", reason);
  await eventually("a minute is young", () => new Date().getUTCSeconds() < 30);
  const minute = minuteText();
  await suffer("--gap", `${gappedSymbol}=-0.04`);
  // tidy: sleeps because prices of the gap are to be heard for a while
  await pause(12_000);
  await suffer("--clear");
  return minute;
}

/** A strategy halted and let go again, and limits that are tightened meanwhile. */
async function haltsAndLimits({ ctl, platform }: Day): Promise<void> {
  await ctl.json(0, "cmd", "halt", "beta-trend", "--reason", reason, "--confirm", "HALT");
  await withAsking(platform, async ({ ask, askProven }) => {
    const before = (await ask("GET", "/v1/riskengine/envelopes/alpha")) as RiskEnvelope;
    const { version, max_notional = 250_000 } = before;
    const tighter = { ...before, version: version + 1, max_notional: max_notional - 1_000, reason };
    await askProven("PUT", "/v1/riskengine/envelopes/alpha", envelopeAction(tighter), tighter);
  });
  // tidy: sleeps because there is to be a time in which it is halted
  await pause(5_000);
  const totp = new TOTP({ secret: developmentOperator(platform.dataFolder, "duty").totp_secret }).generate();
  await ctl.json(0, "cmd", "resume", "beta-trend", "--reason", reason, "--confirm", "RESUME", "--totp", totp);
  // tidy: sleeps because there is to be a time after it
  await pause(5_000);
}
