// Equal POSTs with one Idempotency-Key on the running platform, one after another and at once: one effect, equal answers. With kill -9 in between they are in
// idempotency.ci.test.ts.
import { beforeAll, describe, expect, test } from "vitest";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { sharedPlatform } from "../testkit/shared/shared-platform.ts";

const shared = sharedPlatform({ people: ["duty"] });
let token: string;

beforeAll(async () => {
  token = (await logInAs(shared.platform, shared.person("duty"))).access_token;
});

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly replayed: boolean;
}

async function post(path: string, key: string, body: object): Promise<Answer> {
  const answer = await fetchOnNewConnection(`${operatorUrl(shared.platform)}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });
  const replayed = answer.headers.get("idempotent-replay") === "true";
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, replayed };
}

async function get(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answer = await fetchOnNewConnection(`${operatorUrl(shared.platform)}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()) as Record<string, unknown>[];
}

const orderOf = (key: string) => ({
  idempotency_key: key,
  fund_id: shared.fund.fundId,
  strategy_id: shared.fund.strategyId,
  symbol: "AAPL",
  side: "BUY",
  quantity: "1",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
});

async function ordersOf(key: string): Promise<readonly unknown[]> {
  const found = await get(`/v1/oms/orders?fund_id=${shared.fund.fundId}`);
  return found.filter((one) => (one["order"] as { readonly idempotency_key?: string }).idempotency_key === key);
}

describe("equal POSTs with one key", () => {
  test("are one effect and equal answers, and another body with that key is refused", async () => {
    const { fundId } = shared.fund;
    const reason = `once for ${fundId}`;
    const requests = [
      ["/v1/drills", { reason }, 201],
      ["/v1/halts", { id: fundId, reason, confirmation: "HALT" }, 201],
      ["/v1/oms/orders", orderOf(`${fundId}-twice`), 200],
    ] as const;
    for (const [path, body, status] of requests) {
      const first = await post(path, fundId, body);
      expect([first.status, first.replayed]).toEqual([status, false]);
      expect(await post(path, fundId, body)).toEqual({ ...first, replayed: true });
    }
    expect((await get("/v1/drills")).filter((drill) => drill["reason"] === reason)).toHaveLength(1);
    expect((await get("/v1/halts")).filter((halt) => halt["reason"] === reason)).toHaveLength(1);
    expect(await ordersOf(`${fundId}-twice`)).toHaveLength(1);
    const other = await post("/v1/drills", fundId, { reason: "another" });
    expect([other.status, other.body["code"]]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"]);
    const lifted = await post("/v1/halts/resume", `${fundId}-over`, { id: fundId, reason, confirmation: "RESUME" });
    expect(lifted.status).toBe(200);
  }, 60_000);

  test("are one effect when they come at once", async () => {
    const key = `${shared.fund.fundId}-at-once`;
    const answers = await Promise.all([1, 2, 3].map(() => post("/v1/oms/orders", key, orderOf(key))));
    // One that comes while the first is being done is refused for that, or waits for its answer.
    const done = answers.filter(({ body }) => body["code"] !== "IDEMPOTENCY_IN_PROGRESS");
    expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await ordersOf(key)).toHaveLength(1);
  });
});
