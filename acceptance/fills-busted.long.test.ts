// 32.5 from outside: a foreign order management with its own login on a NATS server with accounts busts and corrects trades, also before they arrive and
// with kill -9 of the risk engine and treasury in the middle. Exposure, ledger, NAV and losses are back to the cent, and every bust is in the audit log.
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inboxPrefix, natsAuthorization, natsUsers, passwordVariable } from "../adapters/nats/server-configuration.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { type NatsServer, startNatsServer } from "../testkit/nats-server.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";

const folder = temporaryFolder("fills-busted");
const passwordOf = (user: string): string => `p-${user}-secret`;
let nats: NatsServer;
let platform: Platform;

beforeAll(async () => {
  let configuration = natsAuthorization();
  for (const { name } of natsUsers()) {
    configuration = configuration.replace(`$${passwordVariable(name)}\n`, `${JSON.stringify(passwordOf(name))}\n`);
    await writeFile(join(folder, `${name}.creds`), `${name}:${passwordOf(name)}\n`, { mode: 0o600 });
  }
  nats = await startNatsServer({ jetStream: true, configuration });
  // Nobody of ours trades: whatever alpha holds came from outside.
  platform = startPlatform({
    dataFolder: join(folder, "data"),
    environment: {
      PORTCULLIS_BUS_URL: nats.url,
      PORTCULLIS_BUS_CREDS_DIR: folder,
      PORTCULLIS_SERVICES: "riskengine,operations,treasury,gateway",
    },
  });
  await platform.ready();
}, 240_000);

afterAll(async () => {
  await platform?.end();
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

let sequence = 0;
/** Acknowledged by JetStream when it resolves. */
async function publish(subject: string, payload: object): Promise<void> {
  sequence += 1;
  const user = "foreign-oms";
  const connection = await connect({
    servers: nats.url,
    user,
    pass: passwordOf(user),
    inboxPrefix: inboxPrefix(user),
  });
  const text = JSON.stringify({ ...payload, sequence });
  await jetstream(connection).publish(subject, text, { msgID: crypto.randomUUID() });
  await connection.close();
}

const named = (n: number) => ({
  fill_id: `f-${n}`,
  order_id: `theirs-${n}`,
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
});
const fill = (n: number, differs: object = {}): Promise<void> =>
  publish("svc.v1.oms.fills.created", {
    ...named(n),
    side: "BUY",
    quantity: "100",
    price: "231.37",
    fee: "1.05",
    filled_at: new Date().toISOString(),
    ...differs,
  });
const bust = (n: number, differs: object = {}): Promise<void> =>
  publish("svc.v1.oms.fills.busted", {
    bust_id: `b-${n}`,
    ...named(n),
    reason: "erroneous trade",
    at: new Date().toISOString(),
    ...differs,
  });

async function read<Answer>(path: string): Promise<Answer> {
  const headers = await bearerOf(platform, "viewer");
  return (await (await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers })).json()) as Answer;
}

interface Entry {
  readonly entry_id: string;
  readonly kind: string;
}
interface Alarm {
  readonly code: string;
  readonly sentence: string;
}
const navOf = async (): Promise<string | undefined> =>
  (await read<{ readonly fund_id: string; readonly nav?: string }[]>("/v1/treasury/funds")).find(
    ({ fund_id }) => fund_id === "alpha",
  )?.nav;
/** The fund's gross exposure, as the risk engine counts it. */
const gross = async (): Promise<string | undefined> =>
  (await read<{ readonly limit: string; readonly used?: string }[]>("/v1/riskengine/limit-use?fund_id=alpha")).find(
    ({ limit }) => limit === "max_gross_exposure_pct",
  )?.used;
const entries = async (): Promise<readonly string[]> =>
  (await read<Entry[]>("/v1/treasury/ledger?fund_id=alpha"))
    .filter(({ kind }) => kind === "FILL" || kind === "BUST")
    .map(({ entry_id, kind }) => `${kind} ${entry_id}`)
    .sort();
const heard = async (): Promise<number | undefined> =>
  (
    await read<{ readonly positions: { readonly kind: string; readonly last_sequence?: number }[] }>(
      "/v1/riskengine/foreign/position?source=foreign-oms&fund_id=alpha",
    )
  ).positions.find(({ kind }) => kind === "fills")?.last_sequence;
const refused = async (): Promise<readonly (string | undefined)[]> =>
  (await read<Alarm[]>("/v1/operations/alarms"))
    .filter(({ code }) => code === "EVENT_REFUSED")
    .map(({ sentence }) => /: (EVENT_\w+)\./.exec(sentence)?.[1])
    .sort();

async function killed(...services: readonly string[]): Promise<void> {
  const before = new Map(services.map((name) => [name, platform.runFile().processes[name] ?? 0]));
  for (const pid of before.values()) process.kill(pid, "SIGKILL");
  await eventually("they run again", async () => {
    const { processes } = platform.runFile();
    return [...before].every(([name, pid]) => (processes[name] ?? pid) !== pid) && (await platform.health()) === 200;
  });
}

const capital = "10000000";
const losses = async () =>
  read<{ readonly limit: string; readonly loss?: string }[]>("/v1/riskengine/losses?fund_id=alpha");

test("32.5: busts move position, ledger, NAV and losses back over kill -9, whatever came first", {
  timeout: 400_000,
}, async () => {
  await eventually("alpha is valued", async () => (await navOf()) === capital);
  const flat = await gross();
  expect(flat).toBe("0");

  await fill(1);
  await eventually("it is held", async () => (await gross()) !== flat && (await navOf()) !== capital);
  await bust(1);
  await eventually("it is not", async () => (await gross()) === flat && (await navOf()) === capital);
  expect(await entries()).toEqual(["BUST bust:f-1", "FILL fill:f-1"]);

  // The bust before its fill, one in the middle of kills, and everything twice.
  await bust(2);
  await fill(3);
  await killed("riskengine", "treasury");
  await fill(2);
  const dying = killed("riskengine", "treasury");
  await bust(3);
  await fill(4);
  await dying;
  await bust(4);
  await bust(4);
  await fill(1);
  await eventually("all were heard", async () => (await heard()) === sequence);
  const all = [1, 2, 3, 4].flatMap((n) => [`BUST bust:f-${n}`, `FILL fill:f-${n}`]).sort();
  await eventually("all are booked", async () => (await entries()).length === all.length);
  expect(await entries()).toEqual(all);
  await eventually("back to the cent", async () => (await gross()) === flat && (await navOf()) === capital);
  expect(await refused()).toEqual([]);

  // A correction: the old fill goes, a new one comes under its own id.
  await fill(5, { price: "2313.7" });
  await bust(5);
  await fill(6, { price: "231.37" });
  await eventually("the corrected trade is held", async () => (await gross()) !== flat);
  await bust(6, { order_id: "another" });
  await bust(5, { bust_id: "b-again" });
  await bust(6, { bust_id: "b-5" });
  await eventually("three are refused", async () => (await refused()).length === 3);
  expect(await refused()).toEqual(["EVENT_BUST_CHANGED", "EVENT_BUST_MISMATCH", "EVENT_FILL_BUSTED"]);
  await bust(6);
  await eventually("nothing is held", async () => (await gross()) === flat && (await navOf()) === capital);
  // Those counted from before the fills; the highest value may be one in which a busted fill stands.
  const counted = (await losses()).filter(({ limit }) => ["daily", "weekly", "monthly", "strategy"].includes(limit));
  expect(counted.map(({ loss }) => loss ?? "0").filter((loss) => Number(loss) !== 0)).toEqual([]);
  expect(counted.length).toBeGreaterThan(2);

  const busts = async (orderId: string): Promise<number> =>
    (await read<{ readonly action: string }[]>(`/v1/operations/audit?subject_id=${orderId}`)).filter(
      ({ action }) => action === "fill.busted",
    ).length;
  await eventually("every bust is in the log", async () => (await busts("theirs-6")) === 2);
  // As often as it was published, refused ones too.
  expect([await busts("theirs-1"), await busts("theirs-4"), await busts("another")]).toEqual([1, 2, 1]);
  expect(await read("/v1/operations/audit/verify")).toMatchObject({ gap_count: 0 });
});
