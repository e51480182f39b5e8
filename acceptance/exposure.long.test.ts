// The platform before strangers on the network, as its users start it: what it refuses to be, and what it says of itself.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { giveMadeDatabase } from "../testkit/made-cluster.ts";
import { type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { startSecondIssuer } from "../testkit/second-issuer.ts";

const folder = temporaryFolder("exposure");
const open: Platform[] = [];

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function start(name: string, environment: Readonly<Record<string, string>>): Platform {
  giveMadeDatabase(join(folder, name));
  const platform = startPlatform({ dataFolder: join(folder, name), environment });
  open.push(platform);
  return platform;
}

const everywhere = { PORTCULLIS_HTTP_HOST: "0.0.0.0", PORTCULLIS_BASE_URL: "https://portcullis.example" };
const production = { PORTCULLIS_MODE: "production" };
const insecure = { PORTCULLIS_INSECURE: "true" };
const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

describe("production is a mode", { timeout: 120_000 }, () => {
  test.each([
    ["NODE_ENV alone", { NODE_ENV: "production" }, "PORTCULLIS_MODE=production"],
    ["development beyond this machine", { ...everywhere, ...insecure }, "mode: production"],
    ["no word about TLS", { ...everywhere, ...production }, "PORTCULLIS_TLS_CERT_FILE"],
    ["0.0.0.0 as the issuer", { ...production, ...insecure, PORTCULLIS_HTTP_HOST: "0.0.0.0" }, "PORTCULLIS_BASE_URL"],
  ])("%s is refused with the line to write", async (_name, environment, line) => {
    const platform = start("refused", environment);
    expect(await platform.exited).toEqual({ code: 2, signal: null });
    await expect.poll(() => platform.stderr()).toContain(line);
  });

  test("nobody real who can log in is refused", async () => {
    const platform = start("nobody", { ...everywhere, ...production, ...insecure });
    expect(await platform.exited).toEqual({ code: 1, signal: null });
    await expect.poll(() => platform.stderr()).toMatch(/0\.0\.0\.0.*PORTCULLIS_OIDC_ISSUER/);
  });

  test("with all of it the banner and every health answer say what is missing, and nobody reads the schema", async () => {
    const issuer = await startSecondIssuer({ accounts: [{ name: "erika", roles: ["operator"] }] });
    try {
      const platform = start("exposed", {
        ...everywhere,
        ...production,
        ...insecure,
        PORTCULLIS_OIDC_ISSUER: issuer.issuer,
        PORTCULLIS_OIDC_CLIENT_ID: issuer.clientId,
      });
      await platform.ready();
      await expect.poll(() => platform.stdout()).toMatch(/insecure +may be reached from other machines without TLS/);
      await expect.poll(() => platform.health()).toBe(200);
      const { addresses } = platform.runFile();
      for (const listener of ["gateway", "gateway.public"]) {
        const port = addresses[listener]?.split(":").at(-1);
        const answer = await fetchOnNewConnection(`http://127.0.0.1:${port}/v1/healthz`);
        expect(await answer.json()).toMatchObject({ status: "ok", insecure: true });
      }
      const [host = "", port] = (addresses["riskengine"] ?? "").split(":");
      const client = testClient({ host, port: Number(port) });
      try {
        expect((await client.streamCall(reflection, { deadlineMs: 10_000 })).status).toBe("UNAUTHENTICATED");
      } finally {
        client.close();
      }
    } finally {
      await issuer.stop();
    }
  });
});
