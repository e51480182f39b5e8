// The Vault adapter passes the common suite with either login, and does what only it must: deleted versions, lost answers,
// refusals, servers that are unwell.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Secrets } from "../../ports/secrets.ts";
import { describeSecrets, faultOf, printed, type SecretsFixture } from "../../testkit/conformance/secrets.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { type RememberingLog, rememberingLog } from "../../testkit/secrets-file/folders.ts";
import { startVaultServer, type VaultServer, type VaultServerOptions } from "../../testkit/vault-server.ts";
import { systemClock } from "../system/clock.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { openVaultSecrets, type VaultSecretsOptions } from "./vault-secrets.ts";

const path = "secret/portcullis/tradingview/alpha";
const value = "s3cret-value-of-alpha";

interface VaultFixture extends SecretsFixture {
  readonly server: VaultServer;
  readonly log: RememberingLog;
  open(changes?: Partial<VaultSecretsOptions>): Promise<Secrets>;
}

async function makeFixture(
  kind: "token" | "approle",
  serverOptions: Partial<VaultServerOptions> = {},
): Promise<VaultFixture> {
  const [clock, timers, random, log] = [systemClock(), systemTimers(), systemRandom(), rememberingLog()];
  const server = await startVaultServer({ clock, random, ...serverOptions });
  const opened: Secrets[] = [];
  return {
    server,
    log,
    async open(changes = {}) {
      const { rootToken: token, roleId, secretId, address } = server;
      const login = kind === "token" ? ({ kind, token } as const) : ({ kind, roleId, secretId } as const);
      const secrets = await openVaultSecrets({ address, login, clock, timers, random, log, ...changes });
      opened.push(secrets);
      return secrets;
    },
    async close() {
      for (const secrets of opened) await secrets.close();
      await server.stop();
      const said = log.lines.join("\n");
      for (const hidden of [server.rootToken, server.secretId, value]) expect(said).not.toContain(hidden);
      for (const { token } of server.requests) if (token !== "") expect(said).not.toContain(token);
    },
  };
}

describeSecrets("Vault with a token", () => makeFixture("token"));
describeSecrets("Vault with AppRole and a mount that requires check-and-set", () =>
  makeFixture("approle", { casRequired: true }),
);

let fixture: VaultFixture;
beforeEach(async () => {
  fixture = await makeFixture("approle");
});
afterEach(() => fixture.close());

/** A request past the adapter, as an operator would make it. */
async function asRoot(method: string, apiPath: string, body?: unknown): Promise<number> {
  const response = await fetchOnNewConnection(`${fixture.server.address}/v1/${apiPath}`, {
    method,
    headers: { "x-vault-token": fixture.server.rootToken },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

describe("A deleted version", () => {
  it("reads as undefined, and the next put, rotate or put-if-absent continues the count", async () => {
    const secrets = await fixture.open();
    const key = "secret/data/portcullis/tradingview/alpha";
    await secrets.put(path, "one");
    await secrets.put(path, "two");
    await asRoot("DELETE", key);
    expect(await secrets.get(path)).toBeUndefined();
    expect(await secrets.put(path, "three")).toEqual({ path, version: 3, value: "three" });
    await asRoot("DELETE", key);
    expect(await secrets.rotate(path, (now) => (now === undefined ? "four" : "wrong"))).toEqual({
      path,
      version: 4,
      value: "four",
    });
    await asRoot("POST", "secret/destroy/portcullis/tradingview/alpha", { versions: [4] });
    expect(await secrets.get(path)).toBeUndefined();
    expect((await faultOf(secrets.put(path, "stale", { expectedVersion: 3 }))).code).toBe("SECRETS_CONFLICT");
    expect((await secrets.put(path, "five", { expectedVersion: 0 })).version).toBe(5);
    expect((await faultOf(secrets.put(path, "again", { expectedVersion: 0 }))).code).toBe("SECRETS_CONFLICT");
    await asRoot("DELETE", "secret/metadata/portcullis/tradingview/alpha");
    expect((await secrets.put(path, "anew")).version).toBe(1);
  });
});

describe("A lost answer to a write", () => {
  it("is cleared up: the write counts once, whether it is a put or a rotation", async () => {
    const secrets = await fixture.open();
    fixture.server.misbehave("cut off after the work", 1, "secret/data");
    // The first request of a conditional put is the write itself.
    expect((await secrets.put(path, "1", { expectedVersion: 0 })).version).toBe(1);
    for (const how of ["cut off", "cut off after the work"] as const) {
      const before = await secrets.get(path);
      fixture.server.misbehave(how, 2, "secret/data");
      const after = await secrets.rotate(path, (now) => String(Number(now?.value) + 1));
      expect(after.version).toBe((before?.version ?? 0) + 1);
      expect(after.value).toBe(String(after.version));
    }
    expect((await secrets.get(path))?.version).toBe(3);
  });

  it("is not mistaken for ours when somebody else wrote the same value in between", async () => {
    const [first, second] = [await fixture.open(), await fixture.open()];
    await first.put(path, "same");
    fixture.server.misbehave("cut off", 1, "secret/data");
    const lost = first.put(path, "same again", { expectedVersion: 1 });
    await second.put(path, "same again", { expectedVersion: 1 });
    expect((await faultOf(lost)).code).toBe("SECRETS_CONFLICT");
  });
});

describe("A refusal", () => {
  it("is SECRETS_FORBIDDEN after one new login", async () => {
    const secrets = await fixture.open();
    fixture.server.forbid("secret/data/portcullis/tradingview");
    const before = fixture.server.requests.length;
    const fault = await faultOf(secrets.put(path, value, { expectedVersion: 0 }));
    expect([fault.code, fault.retry]).toEqual(["SECRETS_FORBIDDEN", "never"]);
    expect(printed(fault)).not.toContain(value);
    const asked = fixture.server.requests.slice(before).map((request) => request.path);
    expect(asked).toEqual([
      "secret/data/portcullis/tradingview/alpha",
      "auth/approle/login",
      "secret/data/portcullis/tradingview/alpha",
    ]);
  });

  it("because the token was revoked is healed by a new login, one for many callers", async () => {
    const secrets = await fixture.open();
    await secrets.put(path, value);
    fixture.server.revokeAll();
    const before = fixture.server.requests.length;
    const answers = await Promise.all([1, 2, 3, 4].map(() => secrets.get(path)));
    expect(answers.map((secret) => secret?.value)).toEqual([value, value, value, value]);
    const logins = fixture.server.requests.slice(before).filter((request) => request.path.endsWith("login"));
    expect(logins).toHaveLength(1);
  });

  it("of the credentials is SECRETS_FORBIDDEN at once and does not show them", async () => {
    const login = { kind: "approle", roleId: fixture.server.roleId, secretId: "wrong-secret-id" } as const;
    const approle = await faultOf(fixture.open({ login }));
    expect([approle.code, approle.retry]).toEqual(["SECRETS_FORBIDDEN", "never"]);
    expect(printed(approle)).not.toContain("wrong-secret-id");
    const token = await faultOf(fixture.open({ login: { kind: "token", token: "hvs.wrong-token" } }));
    expect([token.code, token.retry]).toEqual(["SECRETS_FORBIDDEN", "never"]);
    expect(printed(token)).not.toContain("hvs.wrong-token");
    const broken = await faultOf(fixture.open({ login: { kind: "token", token: "hvs.with\nnewline" } }));
    expect(broken.code).toBe("CONFIGURATION_INVALID");
    expect(printed(broken)).not.toContain("hvs.with");
  });
});

describe("A server that is unwell", () => {
  it("for a moment is asked again: limited, sealed, broken, behind, cut off", async () => {
    const secrets = await fixture.open();
    await secrets.put(path, value);
    fixture.server.limitRate(2);
    expect((await secrets.get(path))?.value).toBe(value);
    for (const how of [500, 502, 503, 412, "cut off"] as const) {
      fixture.server.misbehave(how, 1);
      expect((await secrets.get(path))?.value).toBe(value);
    }
    fixture.server.seal();
    const answer = secrets.get(path);
    setTimeout(() => fixture.server.unseal(), 150);
    expect((await answer)?.value).toBe(value);
  });

  it("for longer is SECRETS_UNAVAILABLE, later, after a bounded number of attempts", async () => {
    const secrets = await fixture.open({ attemptsMax: 3 });
    await secrets.put(path, value);
    const cases = [
      [503, "status 503"],
      [429, "status 429"],
      [500, "status 500"],
      ["cut off", undefined],
    ] as const;
    for (const [how, reason] of cases) {
      fixture.server.misbehave(how, 3, "secret/");
      const before = fixture.server.requests.length;
      const fault = await faultOf(secrets.put(path, "new-value-lost", { expectedVersion: 1 }));
      expect([fault.code, fault.retry, fault.facts["attempts"]]).toEqual(["SECRETS_UNAVAILABLE", "later", 3]);
      if (reason !== undefined) expect(fault.facts["reason"]).toBe(reason);
      expect(printed(fault)).not.toContain("new-value-lost");
      expect(fixture.server.requests.length - before).toBe(3);
    }
    expect((await secrets.get(path))?.version).toBe(1);
  });

  it("that says nothing is given up on after the timeout; closing does not wait for it", async () => {
    const secrets = await fixture.open({ attemptsMax: 2, timeoutMs: 60 });
    fixture.server.misbehave("silent", 2, "secret/");
    const fault = await faultOf(secrets.get(path));
    expect([fault.code, fault.facts["reason"]]).toEqual(["SECRETS_UNAVAILABLE", "timeout"]);
    const patient = await fixture.open({ timeoutMs: 60_000 });
    fixture.server.misbehave("silent", 1, "secret/");
    const hanging = faultOf(patient.get(path));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await patient.close();
    expect((await hanging).facts["reason"]).toBe("closed");
  });

  it("that is not there is SECRETS_UNAVAILABLE with the reason", async () => {
    const gone = await makeFixture("token");
    await gone.close();
    const fault = await faultOf(fixture.open({ address: gone.server.address, attemptsMax: 2 }));
    expect([fault.code, fault.retry, fault.facts["reason"]]).toEqual(["SECRETS_UNAVAILABLE", "later", "ECONNREFUSED"]);
  });

  it("that answers something else is a fault at once, never an absent secret, and is not quoted", async () => {
    const secrets = await fixture.open();
    for (const how of ["huge", "not JSON", "redirect", 404, 400, 405] as const) {
      fixture.server.misbehave(how, 1, "secret/");
      const fault = await faultOf(secrets.get(path));
      expect([how, fault.code, fault.retry]).toEqual([how, "SECRETS_UNAVAILABLE", "never"]);
      expect(printed(fault)).not.toContain("s3cret");
    }
    const outside = await makeFixture("token", { namespace: "team/risk" });
    try {
      expect((await outside.open({ namespace: "team/risk" }).then((ours) => ours.get(path))) === undefined).toBe(true);
      const fault = await faultOf(outside.open({ namespace: "elsewhere" }));
      expect([fault.code, fault.retry]).toEqual(["SECRETS_UNAVAILABLE", "never"]);
    } finally {
      await outside.close();
    }
  });

  it("whose secret has no text under `value` is a fault, not an empty secret", async () => {
    const secrets = await fixture.open();
    await asRoot("POST", "secret/data/portcullis/foreign", { data: { other: "s3cret" } });
    const fault = await faultOf(secrets.get("secret/portcullis/foreign"));
    expect([fault.code, fault.retry]).toEqual(["SECRETS_UNAVAILABLE", "never"]);
    await asRoot("POST", "secret/data/portcullis/by-hand", { data: { value: "by hand" } });
    expect((await secrets.get("secret/portcullis/by-hand"))?.value).toBe("by hand");
    await asRoot("POST", "secret/data/portcullis/odd%20name", { data: { value: "by hand" } });
    expect(await secrets.list("secret/portcullis")).toEqual(["secret/portcullis/by-hand", "secret/portcullis/foreign"]);
  });
});

describe("The address", () => {
  it("must be https unless it is this machine or plain http is allowed by name", async () => {
    const refused = [
      "http://vault.example:8200",
      "http://10.0.0.1",
      "ftp://127.0.0.1",
      "vault",
      "https://a:b@vault.example",
    ];
    for (const address of refused)
      expect((await faultOf(fixture.open({ address }))).code).toBe("CONFIGURATION_INVALID");
    const allowed = await faultOf(
      fixture.open({ address: "http://vault.invalid:8200", isPlainHttpAllowed: true, attemptsMax: 1 }),
    );
    expect(allowed.code).toBe("SECRETS_UNAVAILABLE");
    expect(await (await fixture.open({ address: `${fixture.server.address}/` })).get(path)).toBeUndefined();
  });
});
