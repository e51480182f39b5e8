// What a stranger with a valid token found on a running platform, once more on one: each finding is carried out from outside, and is refused or held. The desk
// is a foreign order management that does things right; the stranger has a token of the same rights and every fund. Each finding has a fund of its own.
import { afterAll, beforeAll, expect, test } from "vitest";
import { describedServices } from "../adapters/grpc/definitions.ts";
import { alwaysOpen } from "../contracts/src/calendars.ts";
import { foreignPublishers } from "../contracts/src/foreign-events.ts";
import type { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import type { Approval, Block, LimitUse } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { envelopeAction } from "../services/riskengine/envelope-proof.ts";
import { flowAction } from "../services/treasury/book-flow.ts";
import { ampleEnvelope } from "../testkit/ample-envelope.ts";
import { type TestClient, testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { emptyMessage } from "../testkit/ownership/naming-message.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";
import { referenceActionOf } from "../testkit/reference-action.ts";
import { type Asking, withAsking } from "../testkit/shared/asking.ts";

const funds = [
  "cancelled",
  "mispriced",
  "valued",
  "reused",
  "unread",
  "flood",
  "crossed",
  "rebated",
  "late",
  "early",
  "priced",
  "exits",
] as const;
type Fund = (typeof funds)[number];
const reason = "a stranger's findings";
const rights = ["CheckOrder", "ConfirmSent", "ReleaseApproval", ...foreignPublishers.map(({ operation }) => operation)];

let platform: Platform;
const clients = new Map<string, TestClient>();
const tokens = { desk: "", stranger: "" };
type Who = keyof typeof tokens;

beforeAll(async () => {
  platform = startPlatform();
  await platform.ready();
  await withAsking(platform, async (asking) => {
    for (const who of ["desk", "stranger"] as const) {
      const named = { name: who, operations: rights, expires_in_s: 3_600 };
      const action = { action: "IssueServiceToken", parameters: named } as const;
      const made = (await asking.askProven("POST", "/v1/service-tokens", action, named)) as { readonly token: string };
      tokens[who] = made.token;
    }
    await seed(asking);
  });
}, 240_000);

afterAll(async () => {
  for (const client of clients.values()) client.close();
  await platform?.end();
}, 60_000);

/** Every fund has ten million and a fifth of it for each position; ACME is priced by the desk alone. */
async function seed({ ask, askProven }: Asking): Promise<void> {
  const add = async (kind: string, added: readonly object[]): Promise<void> => {
    const { version, content } = await reference(kind);
    const document = { version: version + 1, content: [...content, ...added], reason };
    await ask("PUT", `/v1/treasury/reference/${kind}`, document);
  };
  const plain = { tick_size: "0.01", lot_size: "1", multiplier: "1", currency: "USD", asset_class: "EQUITY" };
  const { name: calendar } = alwaysOpen.definition;
  await add("instruments", [
    { symbol: "ACME", name: "Acme", ...plain, sector: "industrials", calendar, priced_by: ["desk"] },
  ]);
  const made = funds.map((id) => ({
    fund_id: id,
    name: id,
    mode: "PAPER",
    currency: "USD",
    calendar,
    strategies: [`${id}-core`],
  }));
  await add("funds", made);
  await add("restricted", [{ symbol: "JPM", reason: "a deal" }]);
  for (const fund_id of funds) {
    const flow = { fund_id, idempotency_key: fund_id, currency: "USD", amount: "10000000" };
    await askProven("POST", "/v1/treasury/flows", flowAction(flow, reason), { ...flow, reason });
    const limits = { max_position_pct: 0.2, max_notional: 2_000_000, allowed_brokers: ["house", "paper"] };
    const envelope = ampleEnvelope(fund_id, { ...limits, reason });
    // The engine looks for new funds once a second.
    await eventually(`the limits of ${fund_id} are set`, () =>
      askProven("PUT", `/v1/riskengine/envelopes/${fund_id}`, envelopeAction(envelope), envelope).then(
        () => true,
        () => false,
      ),
    );
  }
  for (const fund of funds) {
    await eventually(`${fund} may trade`, async () => (await check("desk", fund, { dry_run: true })).code === "");
  }
}

async function get<Answer>(path: string): Promise<Answer> {
  const headers = await bearerOf(platform, "viewer");
  return (await (await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers })).json()) as Answer;
}

const reference = (kind: string) =>
  get<{ readonly version: number; readonly content: readonly Record<string, unknown>[] }>(
    `/v1/treasury/reference/${kind}`,
  );
/** Those of the fund itself. */
const blocksOf = async (fund: Fund): Promise<readonly Block[]> =>
  (await get<readonly Block[]>(`/v1/riskengine/blocks?fund_id=${fund}`)).filter(({ fund_id: id }) => id === fund);
const codesOf = async (fund: Fund): Promise<readonly string[]> => (await blocksOf(fund)).map(({ code }) => code);
const alarmsOf = async (code: string) =>
  (await get<readonly { readonly code: string; readonly sentence: string }[]>("/v1/operations/alarms")).filter(
    (one) => one.code === code,
  );
const gross = async (fund: Fund): Promise<LimitUse | undefined> =>
  (await get<readonly LimitUse[]>(`/v1/riskengine/limit-use?fund_id=${fund}`)).find(
    ({ limit }) => limit === "max_gross_exposure_pct",
  );

const processes: Readonly<Record<string, string>> = { RiskEngine: "riskengine", Oms: "oms" };

async function grpc(procedure: string, message: object, who: Who) {
  const [service = "", name = ""] = procedure.split("/");
  const address = platform.runFile().addresses[processes[service] ?? "operations"] ?? "";
  const [host = "", port = ""] = address.split(":");
  const client = clients.get(address) ?? testClient(host === "unix" ? { path: port } : { host, port: Number(port) });
  clients.set(address, client);
  const type = describedServices.find((one) => one.name === service)?.methods.find((one) => one.name === name);
  const asked = { ...emptyMessage(type?.requestType ?? ""), ...message };
  const { answer, metadata } = await client.call(service, name, asked, {
    metadata: { authorization: `Bearer ${tokens[who]}` },
    deadlineMs: 15_000,
  });
  return { answer, code: String(metadata.get("portcullis-code")[0] ?? "") };
}

let numbers = 0;
const next = (): number => {
  numbers += 1;
  return numbers;
};

function orderOf(fund: Fund, differs: object = {}) {
  const id = `${fund}-${next()}`;
  const terms = { order_type: "MARKET", tif: "DAY", broker: "house", asset_class: "EQUITY", actor: "test" };
  const about = { fund_id: fund, strategy_id: `${fund}-core`, symbol: "MSFT", side: "BUY", quantity: "100" };
  return { order_id: id, idempotency_key: id, ...about, ...terms, ...differs };
}

async function check(who: Who, fund: Fund, differs: object = {}): Promise<RiskDecision> {
  return (await grpc("RiskEngine/CheckOrder", orderOf(fund, differs), who)).answer as RiskDecision;
}

interface Receipt {
  readonly accepted: boolean;
  readonly repeated: boolean;
  readonly code: string;
}

const publishers: Readonly<Record<string, string>> = {
  [subjects.navUpdated.name]: "PublishValues",
  [subjects.marketMarks.name]: "PublishPrices",
};

async function publish(who: Who, { name: subject }: { readonly name: string }, payload: object, id?: string) {
  const procedure = publishers[subject] ?? "PublishOrders";
  const event = { id: id ?? `e-${next()}`, subject, payload_json: JSON.stringify(payload) };
  return (await grpc(`ForeignEvents/${procedure}`, event, who)).answer as Receipt;
}

const now = (): string => new Date().toISOString();

/** An order of the desk that was sent, and what it is called in events. */
async function sent(fund: Fund, differs: object = {}) {
  const order = orderOf(fund, differs);
  const decision = (await grpc("RiskEngine/CheckOrder", order, "desk")).answer as RiskDecision;
  expect(decision.reason, decision.code).toBe("");
  await grpc("RiskEngine/ConfirmSent", { order_id: order.order_id }, "desk");
  const { order_id, fund_id, strategy_id, symbol, side, quantity } = order;
  return { order, named: { order_id, fund_id, strategy_id, symbol }, traded: { side, quantity } };
}

const fillOf = (one: Awaited<ReturnType<typeof sent>>, price: string, differs: object = {}) => ({
  fill_id: `fill-${next()}`,
  ...one.named,
  ...one.traded,
  price,
  filled_at: now(),
  ...differs,
});

async function marketPrice(symbol: string): Promise<number> {
  const [quote] = await get<readonly { readonly bid: string }[]>(`/v1/market/quotes?symbols=${symbol}`);
  return Number(quote?.bid);
}

test("another source reports no end of an order, and neither confirms, amends nor releases it", async () => {
  const one = await sent("cancelled", { quantity: "1000" });
  const { order_id: orderId } = one.named;
  const ended = {
    ...one.named,
    from: "WORKING",
    to: "CANCELLED",
    filled_quantity: "0",
    remaining_quantity: "0",
    at: now(),
  };
  const told = await publish("stranger", subjects.ordersCancelled, ended);
  expect(told).toMatchObject({ accepted: false, code: "EVENT_ORDER_NOT_YOURS" });
  for (const procedure of ["ConfirmSent", "ReleaseApproval"]) {
    const { code } = await grpc(`RiskEngine/${procedure}`, { order_id: orderId, reason }, "stranger");
    expect(code, procedure).toBe("ORDER_NOT_YOURS");
  }
  const amended = await check("stranger", "cancelled", { order_id: orderId, quantity: "5" });
  expect(amended).toMatchObject({ approved: false, rejecting_gate: "schema", code: "ORDER_NOT_YOURS" });
  const again = (await grpc("RiskEngine/CheckOrder", one.order, "stranger")).answer as RiskDecision;
  expect(again).toMatchObject({ approved: false, code: "KEY_REUSED" });
  expect(again.original).toBeUndefined();
  const [reserved] = await get<readonly Approval[]>("/v1/riskengine/approvals?fund_id=cancelled");
  expect(reserved).toMatchObject({ order_id: orderId, reserved_quantity: "1000" });
  await eventually("it is told", async () => (await alarmsOf("ORDER_OF_ANOTHER")).length > 0);
  expect(await publish("desk", subjects.ordersCancelled, ended)).toMatchObject({ accepted: true, code: "" });
}, 60_000);

test("a fill at a price that nobody paid raises no limit, and lets no money out", async () => {
  const before = Number((await gross("mispriced"))?.allowed);
  const bought = await sent("mispriced", { quantity: "1000" });
  const price = await marketPrice("MSFT");
  await publish("desk", subjects.fillsCreated, fillOf(bought, String(price)));
  await eventually("it is held", async () => {
    return (await check("desk", "mispriced", { side: "SELL", quantity: "900", dry_run: true })).code === "";
  });
  const sold = await sent("mispriced", { side: "SELL", quantity: "900" });
  expect(await publish("desk", subjects.fillsCreated, fillOf(sold, String(price * 20)))).toMatchObject({
    accepted: true,
  });
  await eventually("the block stands", async () => (await codesOf("mispriced")).includes("FILL_NOT_ACCEPTED"));
  type Funds = readonly { readonly fund_id: string; readonly nav?: string }[];
  await eventually("treasury values it", async () => {
    const all = await get<Funds>("/v1/treasury/funds");
    return Number(all.find(({ fund_id }) => fund_id === "mispriced")?.nav) > before * 1.3;
  });
  expect(Number((await gross("mispriced"))?.allowed)).toBeLessThan(before * 1.05);
  const flow = { fund_id: "mispriced", idempotency_key: "out", currency: "USD", amount: "-7000000" };
  await withAsking(platform, async ({ askProven }) => {
    const asked = askProven("POST", "/v1/treasury/flows", flowAction(flow, reason), { ...flow, reason });
    await expect(asked).rejects.toThrow("FLOW_LIMITS_UNKNOWN");
  });
}, 60_000);

test("a value of a paper fund from outside is nobody's, and changes nothing", async () => {
  const before = Number((await gross("valued"))?.allowed);
  const value = { fund_id: "valued", nav: "100000000", currency: "USD", as_of: now() };
  expect(await publish("stranger", subjects.navUpdated, value)).toMatchObject({ code: "EVENT_VALUE_NOT_YOURS" });
  expect(Number((await gross("valued"))?.allowed)).toBeLessThan(before * 1.05);
  expect(await codesOf("valued")).toEqual([]);
});

test("an event id with other content is refused, and its fund waits as for a fill that is held", async () => {
  const one = await sent("reused");
  const price = String(await marketPrice("MSFT"));
  const first = fillOf(one, price, { quantity: "50" });
  expect(await publish("desk", subjects.fillsCreated, first, "the-id")).toMatchObject({ accepted: true });
  expect(await publish("desk", subjects.fillsCreated, first, "the-id")).toMatchObject({
    accepted: true,
    repeated: true,
  });
  const other = await publish("desk", subjects.fillsCreated, fillOf(one, price, { quantity: "50" }), "the-id");
  expect(other).toMatchObject({ accepted: false, repeated: false, code: "EVENT_ID_REUSED" });
  await eventually("the fund waits", async () => (await check("desk", "reused")).code === "FILL_NOT_ACCEPTED");
  expect(JSON.stringify(await get("/v1/operations/parked"))).toContain("EVENT_ID_REUSED");
}, 60_000);

test("a fill that cannot be read holds its fund over gRPC", async () => {
  const one = await sent("unread");
  const unread = await publish("desk", subjects.fillsCreated, fillOf(one, "a lot"));
  expect(unread).toMatchObject({ accepted: false, code: "BUS_PAYLOAD_INVALID" });
  await eventually("the fund waits", async () => (await check("desk", "unread")).code === "FILL_NOT_ACCEPTED");
}, 60_000);

test("56 refused events are one gap and one alarm of it, with the refusals", async () => {
  const one = await sent("flood");
  const wrong = { symbol: "XMO" };
  for (let sequence = 1; sequence <= 56; sequence += 1) {
    const { accepted } = await publish("desk", subjects.fillsCreated, fillOf(one, "1", { ...wrong, sequence }));
    expect(accepted).toBe(false);
  }
  const last = fillOf(one, String(await marketPrice("MSFT")), { sequence: 57 });
  expect(await publish("desk", subjects.fillsCreated, last)).toMatchObject({ accepted: true });
  await eventually("the fund trades on, or one block says what is missing", async () => {
    const gaps = (await blocksOf("flood")).filter(({ gap }) => gap !== undefined);
    return gaps.length === 1 || (await check("desk", "flood", { dry_run: true })).code === "";
  });
  expect((await blocksOf("flood")).length).toBeLessThanOrEqual(1);
  expect((await alarmsOf("EVENT_GAP")).filter(({ sentence }) => sentence.includes("flood")).length).toBeLessThanOrEqual(
    1,
  );
}, 120_000);

test.each([
  ["one leg of a cross", "crossed", "CROSS_NOT_VOUCHED", { kind: "CROSS" }],
  ["a fee that pays a million", "rebated", "FEE_NOT_VOUCHED", { fee: "-1000000" }],
  ["a fill of 2001", "late", "FILL_DATE_NOT_VOUCHED", { filled_at: "2001-01-01T00:00:00.000000Z" }],
  ["a fill of 2031", "early", "FILL_DATE_NOT_VOUCHED", { filled_at: "2031-01-01T00:00:00.000000Z" }],
] as const)(
  "%s raises no limit, and new risk in its symbol waits for an operator",
  async (_what, fund, code, differs) => {
    const before = Number((await gross(fund))?.allowed);
    const one = await sent(fund, { quantity: "10" });
    const price = String(await marketPrice("MSFT"));
    expect(await publish("desk", subjects.fillsCreated, fillOf(one, price, differs))).toMatchObject({ accepted: true });
    await eventually("it waits for an operator", async () => (await codesOf(fund)).includes(code));
    expect((await check("desk", fund)).code).toBe(code);
    expect(Number((await gross(fund))?.allowed)).toBeLessThan(before * 1.05);
  },
  60_000,
);

test("a price counts from the sources that are named, and one that is five times the last only once it stands", async () => {
  const mark = (price: string) => ({ symbol: "ACME", price, source: "any", at: now() });
  expect(await publish("stranger", subjects.marketMarks, mark("1"))).toMatchObject({ code: "EVENT_PRICE_NOT_YOURS" });
  const say = (price: string) => publish("desk", subjects.marketMarks, mark(price));
  const acme = { symbol: "ACME", quantity: "1", dry_run: true };
  await eventually("ACME has a price", async () => {
    await say("100");
    return (await check("desk", "priced", acme)).code === "";
  });
  const saidAt = Date.now();
  await say("500");
  await eventually(
    "the jump stops new risk",
    async () => (await check("desk", "priced", acme)).code === "PRICE_NOT_VOUCHED",
  );
  await eventually("it is believed when it has stood", async () => {
    await say("500");
    return (await check("desk", "priced", acme)).code === "";
  });
  expect(Date.now() - saidAt).toBeGreaterThan(4_000);
}, 60_000);

test("two exits take a strategy to nothing, not below, and its own exit stays possible", async () => {
  const bought = await sent("exits", { broker: "paper" });
  await publish("desk", subjects.fillsCreated, fillOf(bought, String(await marketPrice("MSFT"))));
  const exit = { side: "SELL", reduce_only: true, broker: "paper", order_type: "LIMIT", dry_run: false };
  const limit_price = ((await marketPrice("MSFT")) * 1.03).toFixed(2);
  const sell = (differs: object) =>
    grpc("RiskEngine/CheckOrder", orderOf("exits", { ...exit, limit_price, ...differs }), "desk");
  await eventually("the position counts", async () => {
    const { answer } = await sell({ dry_run: true });
    return (answer as RiskDecision).code === "";
  });
  const tooLarge = (await sell({ quantity: "200" })).answer as RiskDecision;
  expect(tooLarge).toMatchObject({ approved: false, closing_quantity_allowed: "100" });
  expect((await sell({})).answer).toMatchObject({ approved: true });
  const second = (await sell({})).answer as RiskDecision;
  expect(second).toMatchObject({ approved: false });
}, 60_000);

test("during a halt of the firm reference data is loosened by nobody without a second factor, and by nobody alone", async () => {
  const halted = { id: "", reason, confirmation: "HALT" };
  await withAsking(platform, async ({ ask, askProven }) => {
    const set = async (kind: string, change: (content: readonly Record<string, unknown>[]) => readonly object[]) => {
      const { version, content } = await reference(kind);
      return { version: version + 1, content: change(content), reason };
    };
    const { id: _id, ...firm } = halted;
    await ask("POST", "/v1/halts", firm);
    const looser = [
      ["restricted", await set("restricted", () => [])],
      [
        "instruments",
        await set("instruments", (all) =>
          all.map((one) => (one["symbol"] === "AAPL" ? { ...one, sector: "none" } : one)),
        ),
      ],
      ["borrow", await set("borrow", (all) => all.map((one) => ({ ...one, fee_pct: "0" })))],
      ["fx", await set("fx", (all) => all.map((one) => (one["base"] === "EUR" ? { ...one, rate: "108.5" } : one)))],
    ] as const;
    for (const [kind, document] of looser) {
      await expect(ask("PUT", `/v1/treasury/reference/${kind}`, document), kind).rejects.toThrow("STEP_UP_REQUIRED");
      const named = referenceActionOf({ kind, ...document, content_json: JSON.stringify(document.content) });
      const asked = await askProven("PUT", `/v1/treasury/reference/${kind}`, named, document);
      expect(asked, kind).toMatchObject({ pending: true });
      expect((await reference(kind)).version, kind).toBe(document.version - 1);
    }
  });
}, 60_000);
