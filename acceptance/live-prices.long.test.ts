// 32.2 from outside: no price of the simulated market in any decision of a LIVE fund, with the foreign feed never started, up, down, and down after a restart
// of the risk engine, while a PAPER fund trades the same symbol on simulated prices all the time.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Order, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { seedForeignFund } from "../testkit/foreign/seed.ts";
import { type TestClient, testClient } from "../testkit/grpc/test-client.ts";
import { developmentCredentials } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform } from "../testkit/platform.ts";
import { addressOf, openRiskClient, type RiskClient } from "../testkit/risk/client.ts";

let platform: Platform;
let client: RiskClient;
let door: TestClient;
let isFeeding = false;
let values = 0;
let timer: NodeJS.Timeout;
const failed: string[] = [];

/** Every decision about each fund, whatever it was. */
const decided: Record<"alpha" | "harbor", RiskDecision[]> = { alpha: [], harbor: [] };

beforeAll(async () => {
  platform = startPlatform();
  await platform.ready();
  await seedForeignFund(platform);
  client = await openRiskClient(platform);
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  door = testClient(addressOf(platform, "operations"), { token });
  timer = setInterval(() => void tick(), 500);
}, 480_000);

afterAll(async () => {
  clearInterval(timer);
  client?.close();
  door?.close();
  await platform?.end();
}, 60_000);

async function publish(operation: string, subject: string, payload: object): Promise<void> {
  const event = { id: crypto.randomUUID(), subject, payload_json: JSON.stringify(payload) };
  const { status, answer } = await door.call("ForeignEvents", operation, event, { deadlineMs: 10_000 });
  const receipt = answer as { readonly accepted: boolean; readonly reason: string } | undefined;
  if (receipt?.accepted !== true) failed.push(`${subject}: ${status} ${receipt?.reason ?? ""}`);
}

async function tick(): Promise<void> {
  const at = new Date().toISOString();
  const value = { fund_id: "harbor", nav: "10000000", currency: "USD", as_of: at };
  values += 1;
  await publish("PublishValues", "svc.v1.treasury.nav.updated", { ...value, sequence: values });
  const mark = { symbol: "AAPL", price: "231.00", source: "paper", at };
  if (isFeeding) await publish("PublishPrices", "svc.v1.market.marks", mark);
}

async function check(fund: "alpha" | "harbor", strategy: string, broker: string): Promise<string> {
  const order: Order = {
    idempotency_key: crypto.randomUUID(),
    order_id: crypto.randomUUID(),
    fund_id: fund,
    strategy_id: strategy,
    symbol: "AAPL",
    side: "BUY",
    quantity: "1",
    order_type: "MARKET",
    tif: "DAY",
    broker,
    asset_class: "EQUITY",
    actor: "test",
    dry_run: true,
  };
  const { answer } = await client.tryCheck(order);
  if (answer === undefined) return "NO_ANSWER";
  decided[fund].push(answer);
  return answer.code;
}

const live = () => check("harbor", "harbor-core", "house");
const paper = () => check("alpha", "alpha-momentum", "paper");

async function ask(count: number): Promise<readonly string[]> {
  const codes = new Set<string>();
  for (let asked = 0; asked < count; asked += 1) {
    codes.add(await live());
    await pause(50);
  }
  return [...codes];
}

const sourcesIn = (decisions: readonly RiskDecision[]): ReadonlySet<string> =>
  new Set(
    decisions.flatMap(({ checks }) =>
      checks.flatMap(({ figures }) => figures.flatMap(({ name, value }) => (name === "price_source" ? [value] : []))),
    ),
  );

test("32.2: a LIVE fund is never decided on a simulated price", { timeout: 600_000 }, async () => {
  await eventually("alpha trades on simulated prices", async () => (await paper()) === "");
  await eventually("harbor is valued", async () => (await live()) === "REFERENCE_PRICE_MISSING");
  expect(await ask(50)).toEqual(["REFERENCE_PRICE_MISSING"]);

  isFeeding = true;
  await eventually("harbor trades on prices from outside", async () => (await live()) === "");
  expect(await ask(50)).toEqual([""]);

  isFeeding = false;
  await eventually("its prices go stale", async () => (await live()) === "REFERENCE_PRICE_STALE");
  expect(await ask(50)).toEqual(["REFERENCE_PRICE_STALE"]);
  expect(await paper()).toBe("");

  const pid = platform.runFile().processes["riskengine"] ?? 0;
  process.kill(pid, "SIGKILL");
  await eventually(
    "another risk engine runs",
    () => ![undefined, pid].includes(platform.runFile().processes["riskengine"]),
  );
  client.close();
  await eventually("it answers", async () => {
    client = await openRiskClient(platform);
    if ((await live()) === "REFERENCE_PRICE_MISSING") return true;
    client.close();
    return false;
  });
  await eventually("alpha trades again", async () => (await paper()) === "");
  expect(await ask(20)).toEqual(["REFERENCE_PRICE_MISSING"]);

  expect([...sourcesIn(decided.harbor)]).toEqual(["order-management"]);
  expect([...sourcesIn(decided.alpha)]).toEqual(["paper"]);
  expect(failed.filter((one) => one.includes("marks"))).toEqual([]);
});
