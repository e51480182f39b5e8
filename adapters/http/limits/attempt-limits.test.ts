// How often one caller may try, through real sockets; addresses that this machine does not have are put in by hand.
import { type FastifyRequest, fastify } from "fastify";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Route } from "../../../ports/http.ts";
import { ask, expectProblem, hello, serve } from "../../../testkit/http/test-client.ts";
import { attemptLimits } from "./attempt-limits.ts";

/** Where a login is asked for, and where none is. */
const guarded: Route = { ...hello, path: "/v1/guarded", operation: "StepUp", attemptsPerMinuteMax: 3 };
const limited: Route = { ...hello, path: "/v1/limited", attemptsPerMinuteMax: 3 };

afterEach(() => {
  vi.useRealTimers();
});

describe("attempts where a login is asked for", () => {
  it("are counted by person: strangers and other people use up nobody's", async () => {
    const { server } = await serve([guarded]);
    for (let count = 0; count < 5; count += 1) {
      expect((await ask(server, guarded.path, { token: null })).status).toBe(401);
      expect((await ask(server, guarded.path, { token: "forged" })).status).toBe(401);
      expect((await ask(server, guarded.path, { token: "service" })).status).toBe(403);
    }
    for (const status of [200, 200, 200, 429]) {
      expect((await ask(server, guarded.path, { token: "viewer" })).status).toBe(status);
    }
    expect((await ask(server, guarded.path, { token: "operator" })).status).toBe(200);
  });

  it("follow the person to another address", async () => {
    const { server } = await serve([guarded]);
    for (let count = 0; count < 3; count += 1) await ask(server, guarded.path, { token: "viewer" });
    const answer = await ask(server, guarded.path, { token: "viewer", localAddress: "127.0.0.2" });
    expectProblem(answer, 429, "RESOURCE_EXHAUSTED", guarded.path);
  });

  it("beyond the bound name the person in the log", async () => {
    const { server, lines } = await serve([guarded]);
    for (let count = 0; count < 4; count += 1) await ask(server, guarded.path, { token: "viewer" });
    expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
      { fields: { code: "RESOURCE_EXHAUSTED", actor: "operator:viewer" } },
    ]);
  });
});

describe("attempts where anyone may come", () => {
  it("beyond the bound are 429 before anybody is verified, whoever asks", async () => {
    const { server, verifier, lines, observations } = await serve([limited, hello]);
    for (const token of ["viewer", "expired", null]) {
      expect((await ask(server, limited.path, { token })).status).not.toBe(429);
    }
    const askedCount = verifier.asked.length;
    for (const token of ["viewer", null]) {
      const answer = await ask(server, limited.path, { token });
      expectProblem(answer, 429, "RESOURCE_EXHAUSTED", limited.path);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(50);
      expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(60);
    }
    expect(verifier.asked).toHaveLength(askedCount);
    expect((await ask(server, "/v1/hello")).status).toBe(200);
    expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
      { fields: { code: "RESOURCE_EXHAUSTED", path: limited.path } },
      { fields: { code: "RESOURCE_EXHAUSTED", path: limited.path } },
    ]);
    expect(observations.filter(({ labels }) => labels["code"] === "RESOURCE_EXHAUSTED")).toHaveLength(2);
  });

  it("count HEAD with GET", async () => {
    const { server } = await serve([limited]);
    for (const method of ["GET", "HEAD", "GET"]) expect((await ask(server, limited.path, { method })).status).toBe(200);
    expect((await ask(server, limited.path, { method: "HEAD" })).status).toBe(429);
    expect((await ask(server, limited.path)).status).toBe(429);
  });

  it("are counted by address: another caller may still come", async () => {
    const { server } = await serve([limited]);
    for (let count = 0; count < 4; count += 1) await ask(server, limited.path);
    expect((await ask(server, limited.path)).status).toBe(429);
    expect((await ask(server, limited.path, { localAddress: "127.0.0.2" })).status).toBe(200);
  });

  it("are forgotten after a minute, also by a caller who kept trying", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    const { server } = await serve([limited]);
    for (let count = 0; count < 4; count += 1) await ask(server, limited.path);
    vi.setSystemTime(1_059_000);
    expect((await ask(server, limited.path)).headers["retry-after"]).toBe("1");
    vi.setSystemTime(1_060_000);
    expect((await ask(server, limited.path)).status).toBe(200);
  });
});

describe("callers", () => {
  async function counter(perMinuteMax: number) {
    const limit = (await attemptLimits(fastify()))(perMinuteMax);
    return async (ip: string): Promise<boolean> => {
      // All that a limit looks at.
      const request = { ip, routeOptions: {} } as FastifyRequest;
      return (await limit(request)) !== undefined;
    };
  }

  it("of one IPv6 /64 are one, and an IPv4 address is one however it is written", async () => {
    const isRefused = await counter(1);
    expect(await isRefused("2001:db8:1:2:aaaa::1")).toBe(false);
    expect(await isRefused("2001:db8:1:2:bbbb:cccc:dddd:2")).toBe(true);
    expect(await isRefused("2001:db8:1:3::1")).toBe(false);
    expect(await isRefused("192.0.2.1")).toBe(false);
    expect(await isRefused("::ffff:192.0.2.1")).toBe(true);
    expect(await isRefused("192.0.2.2")).toBe(false);
  });

  it("are remembered up to a bound, the longest unseen forgotten first", async () => {
    const isRefused = await counter(1);
    expect(await isRefused("192.0.2.1")).toBe(false);
    for (let at = 0; at < 5_000; at += 1) await isRefused(`10.0.${Math.floor(at / 250)}.${at % 250}`);
    expect(await isRefused("192.0.2.1")).toBe(false);
    expect(await isRefused("10.0.19.249")).toBe(true);
  });
});
