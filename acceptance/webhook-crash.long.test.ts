// Kill -9 of gateway, order management and PostgreSQL, 25 rounds, under a sender that resends: every alert that was answered with 202 has one row, and one
// order or one recorded end; no key made two orders, and each symbol's orders came in the order in which its alerts were sent.
import { expect, test } from "vitest";
import { seedOfRun } from "../testkit/crash-rounds/rounds.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform } from "../testkit/platform.ts";
import { prng } from "../testkit/virtual/prng.ts";
import { alertWith, type Sent, sendAlert, writeFundSecrets } from "../testkit/webhook-sender.ts";

const rounds = 25;
const victims = ["oms", "gateway", "postgres", "oms and postgres"] as const;
const secret = "alpha-secret-0123456789";
/** As the sender does: three resends at most, and then the alert is lost. */
const sendsMax = 4;
const resendAfterMs = 1_500;

interface Row {
  readonly signal_id: string;
  readonly status: string;
  readonly http_status: number;
  readonly code?: string;
  readonly order_id?: string;
  readonly order_state?: string;
  readonly idempotency_key?: string;
}

interface OrderRow {
  readonly order: { readonly order_id: string; readonly symbol: string };
  readonly created_at: string;
}

/** The answer that the sender got in the end; undefined when there was none. */
async function deliver(platform: Platform, body: string): Promise<Sent | undefined> {
  for (let sends = 1; sends <= sendsMax; sends += 1) {
    const sent = await sendAlert(platform, body).catch((thrown: unknown) => {
      if (thrown instanceof TypeError || thrown instanceof SyntaxError) return undefined;
      throw thrown;
    });
    if (sent !== undefined && sent.status < 500) return sent;
    await pause(resendAfterMs);
  }
  return undefined;
}

function kill(platform: Platform, victim: (typeof victims)[number]): void {
  const { processes, database } = platform.runFile();
  for (const name of victim.split(" and ")) {
    const pid = (name === "postgres" ? database.pid : processes[name]) ?? 0;
    if (pid > 1) process.kill(pid, "SIGKILL");
  }
}

async function readAll<One>(platform: Platform, path: string): Promise<readonly One[]> {
  const { access_token: token } = await logInAs(platform, "duty");
  const all: One[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const answer: Response = await fetchOnNewConnection(new URL(next, operatorUrl(platform)), {
      headers: { authorization: `Bearer ${token}` },
    });
    if (answer.status !== 200) throw new Error(`${next}: ${answer.status} ${await answer.text()}`);
    all.push(...((await answer.json()) as One[]));
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return all;
}

test("every accepted alert is one order or one recorded end, whatever was killed", { timeout: 900_000 }, async () => {
  const random = prng(seedOfRun()).fork("webhook");
  const platform = startPlatform({ environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  try {
    await platform.ready();
    await writeFundSecrets(platform, { alpha: secret });
    const answers: { readonly symbol: string; readonly sent: Sent | undefined }[] = [];
    const lane = async (symbol: string, count: number, gapMs: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        const side = n % 2 === 0 ? "buy" : "sell";
        answers.push({
          symbol,
          sent: await deliver(platform, alertWith(secret, { symbol: `NASDAQ:${symbol}`, side })),
        });
        await pause(gapMs);
      }
    };
    for (let round = 0; round < rounds; round += 1) {
      // Two lanes stay below the fund's ten a second, however quick the answers are.
      const sending = [lane("AAPL", 4, 260), lane("MSFT", 4, 260)];
      await pause(random.below(700));
      kill(platform, victims[random.below(victims.length)] ?? "oms");
      await Promise.all(sending);
    }
    const rows = await settled(platform);
    const accepted = answers.filter(({ sent }) => sent?.status === 202);
    expect(accepted.length).toBeGreaterThan(rounds * 3);
    expect(answers.filter(({ sent }) => sent !== undefined && ![202, 409].includes(sent.status))).toEqual([]);
    await judge(platform, rows, answers);
    const lost = answers.filter(({ sent }) => sent === undefined).length;
    process.stdout.write(
      `${answers.length} alerts, ${accepted.length} accepted at once, ${lost} without an answer, ${rows.length} rows\n`,
    );
  } finally {
    await platform.end();
  }
});

/** The rows once nothing waits any more. */
async function settled(platform: Platform): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  await eventually(
    "every accepted alert has ended",
    async () => {
      rows = await readAll<Row>(platform, "/v1/signals?count_max=500&fund_id=alpha").catch(() => []);
      return rows.length > 0 && rows.every(({ status }) => status !== "ACCEPTED");
    },
    120_000,
  );
  return rows;
}

async function judge(
  platform: Platform,
  rows: readonly Row[],
  answers: readonly { readonly symbol: string; readonly sent: Sent | undefined }[],
): Promise<void> {
  const orders = (await readAll<OrderRow>(platform, "/v1/oms/orders?count_max=500&fund_id=alpha")).filter(({ order }) =>
    order.order_id.startsWith("tv-"),
  );
  const byId = new Map(orders.map((one) => [one.order.order_id, one]));
  const taken = rows.filter(({ status }) => status !== "REFUSED");
  for (const row of taken) {
    const isOrder = row.status === "SUBMITTED" && byId.has(row.order_id ?? "");
    const isEnd = row.status === "FAILED" && row.code !== undefined && !byId.has(row.order_id ?? "");
    expect([row, isOrder !== isEnd]).toEqual([row, true]);
  }
  expect(new Set(taken.map(({ idempotency_key: key }) => key)).size).toBe(taken.length);
  expect(new Set(taken.map(({ order_id: id }) => id))).toEqual(
    new Set([...byId.keys(), ...taken.filter(({ status }) => status === "FAILED").map(({ order_id: id }) => id ?? "")]),
  );
  const known = new Map(taken.map((row) => [row.signal_id, row]));
  const expected = new Map<string, string[]>();
  for (const { symbol, sent } of answers) {
    const original = sent?.status === 409 ? (sent.body["original"] as Row) : (sent?.body as Row | undefined);
    if (original === undefined) continue;
    const row = known.get(original.signal_id);
    expect([sent?.text, row?.order_id]).toEqual([sent?.text, original.order_id]);
    if (row?.status === "SUBMITTED") expected.set(symbol, [...(expected.get(symbol) ?? []), original.order_id ?? ""]);
  }
  for (const [symbol, sentOrder] of expected) {
    const mentioned = new Set(sentOrder);
    const made = orders
      .filter(({ order }) => order.symbol === symbol && mentioned.has(order.order_id))
      .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))
      .map(({ order }) => order.order_id);
    expect(made).toEqual(sentOrder);
  }
}
