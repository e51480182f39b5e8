// The lease of a Vault login over days of virtual time: renewed before it ends, replaced by a new login when it cannot be.
import { afterEach, expect, it } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import { faultOf } from "../../testkit/conformance/secrets.ts";
import { type RememberingLog, rememberingLog } from "../../testkit/secrets-file/folders.ts";
import { startVaultServer, type VaultServer, type VaultServerOptions } from "../../testkit/vault-server.ts";
import { systemRandom } from "../system/random.ts";
import { openVaultSecrets } from "./vault-secrets.ts";
import type { VaultLogin } from "./vault-session.ts";

const path = "secret/portcullis/a";

/** So far in the future that a pending timer this far off is a request under way, and no test ever reaches it. */
const requestTimeoutMs = 1e12;

/** Time that passes only when it is told to; it stands still while a request is under way. */
function manualTime() {
  let nowMs = 1_700_000_000_000;
  const pending = new Set<{ atMs: number; run: () => void }>();
  const clock: Clock = { now: () => (nowMs * 1000) as Instant };
  function after(ms: number, run: () => void) {
    const timer = { atMs: nowMs + ms, run };
    pending.add(timer);
    return () => {
      pending.delete(timer);
    };
  }
  const timers: Timers = {
    after,
    sleep: (ms) => new Promise((resolve) => after(ms, resolve)),
    soon: (run) => after(0, run),
  };
  async function quiet(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 2));
    while ([...pending].some((timer) => timer.atMs > nowMs + requestTimeoutMs / 2));
  }
  async function advance(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    for (;;) {
      const due = [...pending].filter((timer) => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      pending.delete(due);
      nowMs = Math.max(nowMs, due.atMs);
      due.run();
      await quiet();
    }
    nowMs = untilMs;
  }
  return { clock, timers, advance, pendingCount: () => pending.size };
}

interface Fixture {
  readonly server: VaultServer;
  readonly time: ReturnType<typeof manualTime>;
  readonly log: RememberingLog;
  readonly secrets: Secrets;
  /** How often a path was asked for since the last call. */
  asked(part: string): number;
}

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.secrets.close();
  await fixture?.server.stop();
  expect(fixture?.time.pendingCount()).toBe(0);
});

async function start(
  options: Partial<VaultServerOptions>,
  loginOf?: (server: VaultServer) => VaultLogin,
): Promise<Fixture> {
  const [time, random, log] = [manualTime(), systemRandom(), rememberingLog()];
  const server = await startVaultServer({ clock: time.clock, random, ...options });
  const { address, roleId, secretId } = server;
  const login = loginOf?.(server) ?? { kind: "approle", roleId, secretId };
  const { clock, timers } = time;
  const secrets = await openVaultSecrets({
    address,
    login,
    clock,
    timers,
    random,
    log,
    attemptsMax: 1,
    timeoutMs: requestTimeoutMs,
  });
  let seen = 0;
  const asked = (part: string) => {
    const count = server.requests.slice(seen).filter((request) => request.path.includes(part)).length;
    seen = server.requests.length;
    return count;
  };
  fixture = { server, time, log, secrets, asked };
  return fixture;
}

it("renews a lease before it ends, again and again, without a new login", async () => {
  const { time, secrets, asked, server } = await start({ leaseS: 60 });
  await secrets.put(path, "value");
  asked("");
  await time.advance(400_000);
  const paths = server.requests.map((request) => request.path);
  expect(paths.filter((one) => one === "auth/token/renew-self")).toHaveLength(10);
  expect(paths.filter((one) => one === "auth/approle/login")).toHaveLength(1);
  expect((await secrets.get(path))?.value).toBe("value");
});

it("logs in anew when the token reaches its greatest age, before it ends", async () => {
  const { time, secrets, server } = await start({ leaseS: 60, leaseMaxS: 150 });
  await secrets.put(path, "value");
  for (let round = 0; round < 20; round += 1) {
    await time.advance(30_000);
    expect((await secrets.get(path))?.value).toBe("value");
  }
  const paths = server.requests.map((request) => request.path);
  const logins = paths.filter((one) => one === "auth/approle/login").length;
  expect(logins).toBeGreaterThanOrEqual(4);
  expect(logins).toBeLessThanOrEqual(7);
  // Every read was answered at the first attempt: no token ever ran out in our hands.
  expect(paths.filter((one) => one === "secret/data/portcullis/a")).toHaveLength(2 + 20);
});

it("logs in anew instead of renewing when the token is not renewable", async () => {
  const { time, asked, secrets } = await start({ leaseS: 60, renewable: false });
  asked("");
  await time.advance(125_000);
  const { server } = fixture ?? {};
  expect(server?.requests.some((request) => request.path.includes("renew-self"))).toBe(false);
  expect(asked("auth/approle/login")).toBe(3);
  expect(await secrets.get(path)).toBeUndefined();
});

it("keeps trying while Vault is sealed, and logs in anew when the lease ended meanwhile", async () => {
  const { time, secrets, server, log, asked } = await start({ leaseS: 60 });
  await secrets.put(path, "value");
  server.seal();
  asked("");
  await time.advance(59_000);
  expect(asked("renew-self")).toBeGreaterThanOrEqual(3);
  await time.advance(60_000);
  expect((await faultOf(secrets.get(path))).code).toBe("SECRETS_UNAVAILABLE");
  server.unseal();
  expect((await secrets.get(path))?.value).toBe("value");
  expect(log.lines.some((line) => line.startsWith("Vault's lease could not be renewed"))).toBe(true);
  asked("");
  await time.advance(41_000);
  expect(asked("renew-self")).toBe(1);
});

it("catches up with one renewal when the seal is lifted in time", async () => {
  const { time, secrets, server, asked } = await start({ leaseS: 60 });
  server.seal();
  await time.advance(45_000);
  server.unseal();
  await time.advance(10_000);
  asked("");
  await time.advance(20_000);
  expect(await secrets.get(path)).toBeUndefined();
  expect(asked("approle/login")).toBe(0);
});

it("renews a plain token, says when that is no longer possible, and then is forbidden", async () => {
  const renewing = await start({}, (server) => ({
    kind: "token",
    token: server.issueToken({ leaseS: 60, renewable: true }),
  }));
  await renewing.time.advance(200_000);
  expect(await renewing.secrets.get(path)).toBeUndefined();
  await renewing.secrets.close();
  await renewing.server.stop();

  const ending = await start({}, (server) => ({
    kind: "token",
    token: server.issueToken({ leaseS: 60, renewable: false }),
  }));
  await ending.time.advance(50_000);
  expect(await ending.secrets.get(path)).toBeUndefined();
  expect(ending.log.lines.some((line) => line.startsWith("The Vault token cannot be renewed"))).toBe(true);
  await ending.time.advance(11_000);
  expect((await faultOf(ending.secrets.get(path))).code).toBe("SECRETS_FORBIDDEN");
});

it("never renews a token without an end, and gives a token of its own back when it closes", async () => {
  const root = await start({}, (server) => ({ kind: "token", token: server.rootToken }));
  await root.time.advance(100 * 24 * 3600 * 1000);
  expect(root.asked("renew-self")).toBe(0);
  await root.secrets.close();
  expect(root.asked("revoke-self")).toBe(0);
  await root.server.stop();

  const { secrets, asked } = await start({});
  await secrets.close();
  expect(asked("revoke-self")).toBe(1);
});

it("reports credentials that were withdrawn while it ran, and uses them again only when asked", async () => {
  const { time, secrets, server, log } = await start({ leaseS: 60, renewable: false });
  server.refuseLogins();
  await time.advance(300_000);
  expect(server.requests.filter((request) => request.path.includes("login"))).toHaveLength(2);
  expect(log.lines.at(-1)).toContain("Vault refuses this role id and secret id");
  expect((await faultOf(secrets.get(path))).code).toBe("SECRETS_FORBIDDEN");
});
