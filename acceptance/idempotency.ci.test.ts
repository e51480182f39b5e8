// Two equal POSTs with one Idempotency-Key on the running platform, with kill -9 of the gateway or of the service in between: one effect, equal answers.
// What was cut off and may not be done again is said to be so, and never done twice.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allOr, countOf } from "../testkit/full-count.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform } from "../testkit/platform.ts";

let platform: Platform;
let token: string;

beforeAll(async () => {
  platform = startPlatform();
  await platform.ready();
  token = (await logInAs(platform, "duty")).access_token;
}, 180_000);
afterAll(() => platform.end());

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly replayed: boolean;
}

async function post(path: string, key: string, body: object): Promise<Answer> {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });
  const replayed = answer.headers.get("idempotent-replay") === "true";
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, replayed };
}

async function get(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()) as Record<string, unknown>[];
}

/** Until it is neither away nor still at it, as a caller does who lost the answer. */
async function postUntilAnswered(path: string, key: string, body: object): Promise<Answer> {
  let answered: Answer | undefined;
  await eventually(
    `${path} is answered`,
    async () => {
      const answer = await post(path, key, body).catch(() => undefined);
      const isOpen = answer === undefined || answer.status >= 500 || answer.body["code"] === "IDEMPOTENCY_IN_PROGRESS";
      if (!isOpen) answered = answer;
      return !isOpen;
    },
    90_000,
  );
  return answered as Answer;
}

async function killed(service: string): Promise<void> {
  const pid = platform.runFile().processes[service] ?? 0;
  process.kill(pid, "SIGKILL");
  await eventually(`${service} is another process`, () => platform.runFile().processes[service] !== pid, 60_000);
  await eventually(`${service} is back`, async () => (await platform.health()) === 200, 60_000);
}

const order = {
  idempotency_key: "twice",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "1",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
};

/** By their own key. */
async function ordersOf(key: string): Promise<readonly unknown[]> {
  const found = await get("/v1/oms/orders?count_max=200");
  return found.filter((one) => (one["order"] as { readonly idempotency_key?: string }).idempotency_key === key);
}

const withoutMark = ({ status, body }: Answer) => ({ status, body });

describe("two equal POSTs with one key", () => {
  test("are one effect and equal answers over kill -9 of the gateway, and of the service that did it", async () => {
    const requests = [
      ["operations", "/v1/drills", { reason: "once" }],
      ["operations", "/v1/halts", { id: "gamma", reason: "once", confirmation: "HALT" }],
      ["oms", "/v1/oms/orders", order],
    ] as const;
    const firsts = [];
    for (const [, path, body] of requests) firsts.push(await post(path, "key-1", body));
    expect(firsts.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, false],
      [201, false],
      [200, false],
    ]);
    for (const service of allOr(["gateway", "operations", "oms"], ["gateway", "operations"])) {
      await killed(service);
      for (const [index, [, path, body]] of requests.entries()) {
        const again = await postUntilAnswered(path, "key-1", body);
        expect({ path, ...again }).toEqual({ path, ...firsts[index], replayed: true });
      }
    }
    expect((await get("/v1/drills")).filter(({ reason }) => reason === "once")).toHaveLength(1);
    const halts = (await get("/v1/halts")).filter(({ reason }) => reason === "once");
    expect(halts.map(({ halt_id }) => halt_id)).toEqual([firsts[1]?.body["halt_id"]]);
    expect(await ordersOf("twice")).toHaveLength(1);
    const other = await post("/v1/drills", "key-1", { reason: "another" });
    expect([other.status, other.body["code"]]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"]);
  }, 240_000);

  test("are one effect when the kill comes amid the first, and the answers after it are equal", async () => {
    for (let round = 0; round < countOf(20, 1); round += 1) {
      for (const service of allOr(["gateway", "oms", "operations"], ["operations"])) {
        const name = `amid-${service}-${round}`;
        const asked = { ...order, idempotency_key: name };
        const lost = Promise.allSettled([
          post("/v1/oms/orders", name, asked),
          post("/v1/drills", name, { reason: name }),
        ]);
        await pause(round * 7);
        await killed(service);
        await lost;
        const ordered = await postUntilAnswered("/v1/oms/orders", name, asked);
        expect([name, ordered.status]).toEqual([name, 200]);
        expect(withoutMark(await post("/v1/oms/orders", name, asked))).toEqual(withoutMark(ordered));
        expect(await ordersOf(name)).toHaveLength(1);
        await expectOneDrill(name, service);
      }
    }
  }, 1_200_000);
});

/** A killed service may have done it or not; then it says that it does not know, and does not do it again. */
async function expectOneDrill(name: string, service: string): Promise<void> {
  const drilled = await postUntilAnswered("/v1/drills", name, { reason: name });
  const again = await post("/v1/drills", name, { reason: name });
  expect([name, again.status, again.body["code"]]).toEqual([name, drilled.status, drilled.body["code"]]);
  const drills = (await get("/v1/drills")).filter(({ reason }) => reason === name);
  if (drilled.status === 201) {
    expect(again).toEqual({ ...drilled, replayed: true });
    expect(drills).toHaveLength(1);
  } else {
    expect([service, drilled.body["code"]]).toEqual(["operations", "IDEMPOTENT_OUTCOME_UNKNOWN"]);
    expect(drills.length).toBeLessThanOrEqual(1);
  }
}
