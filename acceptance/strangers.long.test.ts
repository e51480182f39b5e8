// Strangers who take every place at the door of a running platform, and keep coming back: order management and the person who wants to halt come through.
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentCredentials, operatorUrl } from "../testkit/login.ts";
import { type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const hello = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const askHealth = Buffer.from("GET /v1/healthz HTTP/1.1\r\nhost: a\r\n\r\n");
/** Whoever is cut comes again after this long: as many as can be without spending the machine's time on it. */
const againMs = 3_000;
/** Two seconds on a machine that has nothing else to do; on a busier one, beyond three times what the same takes while nobody attacks. */
const boundMs = (calmMs: number): number => 2_000 + 3 * calmMs;

let folder: string;
let platform: Platform;
let ctl: Ctl;

beforeAll(async () => {
  folder = temporaryFolder("strangers");
  platform = startPlatform({ dataFolder: join(folder, "data") });
  await platform.ready();
  ctl = ctlIn(join(folder, "home"), {
    PORTCULLIS_URL: operatorUrl(platform),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
  });
  await ctl.json(0, "auth", "login", "--dev", "duty");
}, 120_000);

afterAll(async () => {
  await ctl?.end();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** So many connections that say this and no more; whoever is cut comes again. */
function besiege(address: string, count: number, first: Buffer) {
  const [host, port] = address.split(":");
  const sockets = new Set<Socket>();
  let isOver = false;
  let cut = 0;
  const come = (): void => {
    const socket = connect({ host, port: Number(port) });
    sockets.add(socket);
    socket.on("error", () => undefined).on("data", () => undefined);
    socket.once("connect", () => socket.write(first));
    socket.once("close", () => {
      sockets.delete(socket);
      cut += 1;
      if (!isOver) setTimeout(come, againMs);
    });
  };
  for (let n = 0; n < count; n += 1) come();
  return {
    cut: () => cut,
    end: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ readonly value: Value; readonly ms: number }> {
  const began = Date.now();
  return { value: await work(), ms: Date.now() - began };
}

/** With a connection of its own, as an order management that was just started. */
async function checkOnce(key: string): Promise<string> {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  try {
    const { status, answer } = await client.call("RiskEngine", "CheckOrder", goodOrder(key), { deadlineMs: 20_000 });
    return answer === undefined ? status : "decided";
  } finally {
    client.close();
  }
}

describe("a crowd at the door", { timeout: 180_000 }, () => {
  test("of 512 idle HTTP/2 and 1,024 kept-alive connections keeps neither an order nor a halt out", async () => {
    const calmCheck = await timed(() => checkOnce("calm"));
    const calmHalt = await timed(() =>
      ctl.json(0, "cmd", "halt", "alpha-momentum", "--reason", "before", "--confirm", "HALT"),
    );
    expect(calmCheck.value).toBe("decided");
    const { addresses } = platform.runFile();
    const sieges = [
      besiege(addresses["riskengine"] ?? "", 512, hello),
      besiege(addresses["operations"] ?? "", 512, hello),
      besiege(addresses["gateway"] ?? "", 1_024, askHealth),
    ];
    try {
      // tidy: sleeps because the siege is to stand before its effect is measured
      await pause(4_000);
      for (let round = 0; round < 4; round += 1) {
        const check = await timed(() => checkOnce(`siege-${round}`));
        expect(check.value).toBe("decided");
        const scope = ["alpha-meanrev", "beta-trend", "gamma-income", "alpha"][round] ?? "";
        const halt = await timed(() =>
          ctl.json(0, "cmd", "halt", scope, "--reason", "under siege", "--confirm", "HALT"),
        );
        process.stderr.write(`check ${check.ms} ms (calm ${calmCheck.ms}), halt ${halt.ms} ms (calm ${calmHalt.ms})\n`);
        expect(check.ms).toBeLessThan(boundMs(calmCheck.ms));
        expect(halt.ms).toBeLessThan(boundMs(calmHalt.ms));
        // tidy: sleeps because rounds are to lie apart, so that each finds the machine as the siege left it
        await pause(3_000);
      }
      expect(sieges.every((siege) => siege.cut() > 0)).toBe(true);
      // Strangers who make way are no failure, and somebody hears of them.
      expect(await platform.health()).toBe(200);
      const headers = await bearerOf(platform, "duty");
      const alarms = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/operations/alarms`, { headers });
      expect(JSON.stringify(await alarms.json())).toContain("CONNECTIONS_CROWDED");
    } finally {
      for (const siege of sieges) siege.end();
    }
  });
});
