// The second issuer is a real one: discovery, device flow, code flow with PKCE, refresh, and tokens that its published keys verify.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterEach, describe, expect, it } from "vitest";
import { openBrowser } from "./form-browser.ts";
import { fetchOnNewConnection } from "./http/fetch-on-new-connection.ts";
import { type SecondIssuer, type SecondIssuerOptions, startSecondIssuer } from "./second-issuer.ts";

const accounts = [{ name: "erika", roles: ["operator", "admin"] }] as const;
const scope = "openid profile offline_access";
let running: SecondIssuer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(options: Partial<SecondIssuerOptions> = {}) {
  const issuer = await startSecondIssuer({ accounts, ...options });
  running = issuer;
  const insecure = { execute: [client.allowInsecureRequests] };
  const configuration = await client.discovery(
    new URL(issuer.issuer),
    issuer.clientId,
    undefined,
    client.None(),
    insecure,
  );
  const keys = createRemoteJWKSet(new URL(configuration.serverMetadata().jwks_uri ?? ""));
  return { issuer, configuration, keys };
}

async function deviceLogin({ issuer, configuration }: Awaited<ReturnType<typeof start>>, name: string) {
  const device = await client.initiateDeviceAuthorization(configuration, { scope });
  const waiting = client.pollDeviceAuthorizationGrant(configuration, { ...device, interval: 1 });
  // Awaited below; until then a refusal must not count as unhandled.
  waiting.catch(() => undefined);
  await issuer.approve(device.user_code, name);
  return waiting;
}

describe("second issuer", () => {
  it("logs in by device flow, as a browser would, and refreshes", async () => {
    const started = await start();
    const tokens = await deviceLogin(started, "erika");
    const { payload } = await jwtVerify(tokens.id_token ?? "", started.keys, { audience: started.issuer.clientId });
    expect(payload).toMatchObject({ iss: started.issuer.issuer, sub: "erika", roles: ["operator", "admin"] });
    const renewed = await client.refreshTokenGrant(started.configuration, tokens.refresh_token ?? "");
    expect(renewed.id_token).toBeDefined();
    await expect(deviceLogin(started, "nobody")).rejects.toThrow();
  });

  it("puts roles into a nested claim, and into JWT access tokens for an audience", async () => {
    const started = await start({ rolesClaim: "realm_access.roles", audience: "portcullis-api" });
    const tokens = await deviceLogin(started, "erika");
    for (const [token, audience] of [
      [tokens.id_token ?? "", started.issuer.clientId],
      [tokens.access_token, "portcullis-api"],
    ] as const) {
      const { payload } = await jwtVerify(token, started.keys, { audience });
      expect(payload["realm_access"]).toEqual({ roles: ["operator", "admin"] });
    }
  });

  it("logs in by authorization code with PKCE", async () => {
    const { configuration } = await start();
    const verifier = client.randomPKCECodeVerifier();
    const landing = await landingPage();
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: landing.url,
      scope: "openid",
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const browser = openBrowser();
    await browser.open(url.href);
    const landed = await browser.submit({ name: "erika" });
    await landing.close();
    const tokens = await client.authorizationCodeGrant(configuration, new URL(landed), { pkceCodeVerifier: verifier });
    expect(tokens.claims()).toMatchObject({ sub: "erika", roles: ["operator", "admin"] });
  });

  it("runs as a process of its own and says where on its first line", async () => {
    const child = spawn(process.execPath, ["--import", "tsx", "testkit/second-issuer-main.ts", "--port", "0"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const document = (await (await fetchOnNewConnection(`${line}/.well-known/openid-configuration`)).json()) as {
        issuer: string;
      };
      expect(document.issuer).toBe(line);
    } finally {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    }
  });
});

/** Stands in for the application that the browser returns to: its page is its own address. */
async function landingPage() {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => response.end(`http://${request.headers.host}${request.url}`));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/auth/callback`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
