// What the tests of the embedded provider share: a real listener in front of it, people and revocations that a test can change, and secrets
// that survive a restart of the provider.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { EmbeddedProviderOptions, People, Person, Revocations } from "../../adapters/identity/embedded/options.ts";
import { type EmbeddedProvider, openEmbeddedProvider } from "../../adapters/identity/embedded/provider.ts";
import { createLoginFactors } from "../../adapters/identity/logins/login-factors.ts";
import { createSealing, type Sealing } from "../../adapters/identity/sealing.ts";
import type { PostgresStore } from "../../adapters/postgres/store.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Role } from "../../contracts/src/authority.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { createTestBrowser, type TestBrowser } from "./test-browser.ts";
import { memorySecrets } from "./test-secrets.ts";

export interface TestPeople extends People {
  readonly byName: Map<string, { password: string; roles: readonly Role[] }>;
  throttledS: number | undefined;
}

export interface TestRevocations extends Revocations {
  readonly sessions: Map<string, string>;
  readonly subjects: Map<string, instant.Instant>;
}

export interface MovableClock extends Clock {
  aheadMs: number;
}

export interface ProviderFixture {
  readonly issuer: string;
  /** Where the listener really is, also when the issuer is somewhere else. */
  readonly origin: string;
  readonly people: TestPeople;
  readonly revocations: TestRevocations;
  readonly clock: MovableClock;
  readonly sealing: Sealing;
  readonly lines: string[];
  provider(): EmbeddedProvider;
  /** A new provider on the same store and secrets, as after a crash: the old one is not asked. */
  restart(changes?: Partial<EmbeddedProviderOptions>): Promise<void>;
  browser(headers?: Readonly<Record<string, string>>): TestBrowser;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<{ status: number; body: Answer }>;
  close(): Promise<void>;
}

export type Answer = Readonly<Record<string, string>> & { readonly expires_in?: number; readonly interval?: number };

export const admin: Identity = {
  kind: "operator",
  actor: "operator:duty",
  name: "duty",
  subject: "test|duty",
  issuer: "test",
  roles: ["admin"],
  tokenId: "t",
  issuedAt: instant.fromMicroseconds(0),
  expiresAt: instant.fromMicroseconds(1),
};

function testPeople(): TestPeople {
  const byName: TestPeople["byName"] = new Map([
    ["duty", { password: "correct horse", roles: ["operator", "admin"] as const }],
    ["relief", { password: "battery staple", roles: ["operator"] as const }],
  ]);
  const find = (name: string): Person | undefined => {
    const found = byName.get(name);
    return found === undefined ? undefined : { name, roles: found.roles };
  };
  return {
    byName,
    throttledS: undefined,
    async authenticate(name, password) {
      if (this.throttledS !== undefined) return { ok: false, code: "THROTTLED", retryAfterS: this.throttledS };
      const person = find(name);
      if (person === undefined || byName.get(name)?.password !== password) return { ok: false, code: "WRONG" };
      return { ok: true, ...person };
    },
    find: async (name) => find(name),
  };
}

function testRevocations(): TestRevocations {
  const sessions = new Map<string, string>();
  const subjects = new Map<string, instant.Instant>();
  return {
    sessions,
    subjects,
    async isRevoked({ sessionId, subject, actor, issuedAt }) {
      const ended = [subjects.get(subject), subjects.get(actor)];
      return sessions.has(sessionId) || ended.some((before) => before !== undefined && issuedAt < before);
    },
    isAnySessionRevoked: async (sessionIds) => sessionIds.some((id) => sessions.has(id)),
    async revokeSession(sessionId, actor) {
      sessions.set(sessionId, actor);
    },
  };
}

function rememberingLog(lines: string[]): Log {
  const write = (message: string, fields?: unknown): void => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
  return log;
}

export async function openProviderFixture(
  store: PostgresStore,
  changes: Partial<EmbeddedProviderOptions> = {},
): Promise<ProviderFixture> {
  let provider: EmbeddedProvider | undefined;
  const server = createServer((request, response) => {
    if (!(request.url ?? "").startsWith("/oidc")) response.end("elsewhere");
    else void provider?.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: string[] = [];
  const real = systemClock();
  const clock: MovableClock = { aheadMs: 0, now: () => instant.plusMilliseconds(real.now(), clock.aheadMs) };
  const random = systemRandom();
  const people = testPeople();
  const revocations = testRevocations();
  const sealing = createSealing(random.bytes(32), random);
  const options: EmbeddedProviderOptions = {
    issuer: `${origin}/oidc`,
    development: true,
    accessTokenS: 300,
    sessionS: 43_200,
    signingKeyS: 86_400,
    secretsPrefix: "portcullis",
    store,
    secrets: memorySecrets(),
    sealing,
    people,
    factors: createLoginFactors({ store, sealing, clock }),
    revocations,
    clock,
    timers: systemTimers(),
    random,
    log: rememberingLog(lines),
    ...changes,
  };
  provider = await openEmbeddedProvider(options);
  return {
    issuer: options.issuer,
    origin,
    people,
    revocations,
    clock,
    sealing: options.sealing,
    lines,
    provider() {
      if (provider === undefined) throw new Error("the provider is closed");
      return provider;
    },
    async restart(further = {}) {
      const old = provider;
      provider = await openEmbeddedProvider({ ...options, ...further });
      await old?.close();
    },
    browser: (headers) => createTestBrowser(options.issuer, headers),
    async post(path, fields) {
      const response = await fetchOnNewConnection(`${options.issuer}${path}`, {
        method: "POST",
        body: new URLSearchParams(fields),
      });
      const text = await response.text();
      return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Answer };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await provider?.close();
    },
  };
}
