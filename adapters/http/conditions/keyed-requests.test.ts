// Idempotency-Key on the operators' listener, through real sockets: what the gateway does by itself is done once, a secret is never kept, and a halt
// neither waits for its key nor is refused for it.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Fault } from "../../../contracts/src/fault.ts";
import type { HttpAnswer, HttpRequest, Route } from "../../../ports/http.ts";
import { type AskOptions, ask, expectProblem, posted, serve } from "../../../testkit/http/test-client.ts";
import { memoryKeys } from "../../../testkit/memory-keys.ts";

type Handle = (request: HttpRequest) => Promise<HttpAnswer>;

function changing(handle: Handle, more: Partial<Route> = {}): Route {
  return {
    id: "revokeSessions",
    method: "POST",
    path: "/v1/things/:thing_id",
    listeners: ["operator"],
    sentence: "Changes a thing.",
    operation: "RevokeSessions",
    params: z.strictObject({ thing_id: z.string() }),
    body: z.strictObject({ n: z.int(), reason: z.string().max(100).optional() }),
    answers: { 200: z.object({ count: z.int() }), 201: z.looseObject({}) },
    handle,
    ...more,
  };
}

function counted(answer: (count: number, request: HttpRequest) => HttpAnswer): { calls(): number; handle: Handle } {
  let count = 0;
  return {
    calls: () => count,
    handle: async (request) => {
      count += 1;
      return answer(count, request);
    },
  };
}

const under = (key: string, more: AskOptions = {}): AskOptions => ({ ...more, headers: { "idempotency-key": key } });
const path = "/v1/things/a";

describe("a request with an Idempotency-Key", () => {
  it("is done once; the repeat has the first status, headers and body, and says that it is one", async () => {
    const { handle, calls } = counted((count) => ({ status: 200, body: { count }, headers: { etag: `"${count}"` } }));
    const { server } = await serve([changing(handle)], { oncePerKey: memoryKeys().once });
    const first = await ask(server, path, posted({ n: 1, reason: "x" }, under("k")));
    expect(first.headers["idempotent-replay"]).toBeUndefined();
    // The same body, written otherwise.
    const again = await ask(server, path, posted('{ "reason": "x", "n": 1 }', under("k")));
    expect([again.status, again.text, again.headers.etag]).toEqual([200, first.text, '"1"']);
    expect(again.headers["idempotent-replay"]).toBe("true");
    expect(calls()).toBe(1);
  });

  it("with another body is 409, and another path, caller or key is another request; without a key each is done", async () => {
    const { handle, calls } = counted((count) => ({ status: 200, body: { count } }));
    const { server } = await serve([changing(handle)], { oncePerKey: memoryKeys().once });
    await ask(server, path, posted({ n: 1 }, under("k")));
    expectProblem(await ask(server, path, posted({ n: 2 }, under("k"))), 409, "IDEMPOTENCY_KEY_REUSED", path);
    for (const [where, options] of [
      ["/v1/things/b", under("k")],
      [path, under("other")],
      [path, under("k", { token: "admin" })],
      [path, {}],
      [path, {}],
    ] as const) {
      const answer = await ask(server, where, posted({ n: 1 }, options));
      expect([answer.status, answer.headers["idempotent-replay"]]).toEqual([200, undefined]);
    }
    expect(calls()).toBe(6);
  });

  it("must have 1 to 255 printable characters, and is not kept when the request is none", async () => {
    const { handle, calls } = counted((count) => ({ status: 200, body: { count } }));
    const { server } = await serve([changing(handle)], { oncePerKey: memoryKeys().once });
    for (const key of ["", "a".repeat(256), "caf\u00e9"]) {
      const answer = await ask(server, path, posted({ n: 1 }, under(key)));
      expect([key, answer.status]).toEqual([key, 400]);
      expect(answer.text).toContain("Idempotency-Key");
    }
    expect((await ask(server, path, posted({ n: "one" }, under("k")))).status).toBe(400);
    expect((await ask(server, path, posted({ n: 1 }, under("k")))).status).toBe(200);
    expect((await ask(server, path, posted({ n: 1 }, under("a".repeat(255))))).status).toBe(200);
    expect(calls()).toBe(2);
  });

  it("that was refused gets the same refusal; one that may not, or failed, is tried again", async () => {
    const answers: Readonly<Record<number, () => HttpAnswer>> = {
      404: () => ({ status: 404, body: { code: "NOT_FOUND", detail: "Nobody." } }),
      403: () => ({ status: 403, body: { code: "STEP_UP_REQUIRED" } }),
      410: () => {
        throw new Fault("NOT_FOUND", "Thrown.", { retry: "never" });
      },
      503: () => {
        throw new Fault("STORE_UNAVAILABLE", "Away.", { retry: "later" });
      },
    };
    const { handle, calls } = counted((_count, { body }) => answers[(body as { readonly n: number }).n]?.() ?? nothing);
    const { server } = await serve([changing(handle)], { oncePerKey: memoryKeys().once });
    const codes = async (n: number) => {
      const before = calls();
      const asked = () => ask(server, path, posted({ n }, under(`k${n}`)));
      const [one, two] = [await asked(), await asked()];
      expect(JSON.parse(two.text).code).toBe(JSON.parse(one.text).code);
      return [one.status, two.headers["idempotent-replay"], calls() - before];
    };
    expect(await codes(404)).toEqual([404, "true", 1]);
    expect(await codes(410)).toEqual([404, "true", 1]);
    expect(await codes(403)).toEqual([403, undefined, 2]);
    expect(await codes(503)).toEqual([503, undefined, 2]);
  });

  it("whose answer carries a secret is not done again, and the secret is not kept", async () => {
    const { handle, calls } = counted(() => ({ status: 201, body: { id: "t-1", token: "psk_secret" } }));
    const route = changing(handle, { answersSecret: { id: "id" }, operation: "IssueServiceToken" });
    const { server } = await serve([route], { oncePerKey: memoryKeys().once });
    expect((await ask(server, path, posted({ n: 1 }, under("k")))).text).toContain("psk_secret");
    const again = await ask(server, path, posted({ n: 1 }, under("k")));
    expectProblem(again, 409, "IDEMPOTENT_ANSWER_NOT_KEPT", path);
    expect(JSON.parse(again.text)).toMatchObject({ id: "t-1" });
    expect(again.text).not.toContain("psk_secret");
    expect(calls()).toBe(1);
  });

  it("that failed nobody knows how is not done again where that would be twice", async () => {
    const { handle, calls } = counted(() => {
      throw new Fault("INTERNAL", "Cut off.", { retry: "later" });
    });
    const { server } = await serve([changing(handle, { operation: "RotateSigningKeys" })], {
      oncePerKey: memoryKeys().once,
    });
    expect((await ask(server, path, posted({ n: 1 }, under("k")))).status).toBe(500);
    expectProblem(await ask(server, path, posted({ n: 1 }, under("k"))), 409, "IDEMPOTENT_OUTCOME_UNKNOWN", path);
    expect(calls()).toBe(1);
  });

  it("waits for the first, and learns when to come back when that takes long", async () => {
    const { server } = await serve([changing(async () => ({ status: 200, body: { count: 1 } }))], {
      oncePerKey: {
        once: async () => {
          throw new Fault("IDEMPOTENCY_IN_PROGRESS", "Not yet.", { retry: "later" });
        },
        remember: async () => undefined,
      },
    });
    const answer = await ask(server, path, posted({ n: 1 }, under("k")));
    expectProblem(answer, 409, "IDEMPOTENCY_IN_PROGRESS", path);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  });

  it("goes to the service with its key where a service does it, and says nothing to what only reads", async () => {
    const seen: unknown[] = [];
    const handle: Handle = async ({ idempotency }) => {
      seen.push([idempotency?.key, idempotency?.path]);
      idempotency?.replayed();
      return { status: 200, body: { count: 1 } };
    };
    const forwarded = changing(handle, { operation: "SubmitOrder" });
    const reading = changing(handle, { id: "read", path: "/v1/read/:thing_id", operation: "ListServices" });
    const { server } = await serve([forwarded, reading], { oncePerKey: memoryKeys().once });
    expect((await ask(server, "/v1/things/%61", posted({ n: 1 }, under("k")))).headers["idempotent-replay"]).toBe(
      "true",
    );
    await ask(server, "/v1/read/a", posted({ n: 1 }, under("k")));
    expect(seen).toEqual([
      ["k", "/v1/things/:thing_id thing_id=a"],
      [undefined, undefined],
    ]);
  });
});

const nothing: HttpAnswer = { status: 200, body: { count: 0 } };

describe("a halt with an Idempotency-Key", () => {
  const halting = (handle: Handle): Route =>
    changing(handle, {
      operation: "RequestHalt",
      neverWaitsForKey: {
        isSame: (first, now) =>
          (first as { readonly halt_id?: unknown }).halt_id === (now as { readonly halt_id?: unknown }).halt_id,
      },
    });

  it("is always done; the first answer comes again when it is about the same halt", async () => {
    const ids = ["h-1", "h-1", "h-2", "h-3"];
    const { handle, calls } = counted((count) => ({ status: 201, body: { halt_id: ids[count - 1], count } }));
    const { server } = await serve([halting(handle)], { oncePerKey: memoryKeys().once });
    const asked = async (body: object) => {
      const answer = await ask(server, path, posted(body, under("k")));
      return [answer.status, JSON.parse(answer.text), answer.headers["idempotent-replay"]];
    };
    expect(await asked({ n: 1 })).toEqual([201, { halt_id: "h-1", count: 1 }, undefined]);
    expect(await asked({ n: 1 })).toEqual([201, { halt_id: "h-1", count: 1 }, "true"]);
    expect(await asked({ n: 1 })).toEqual([201, { halt_id: "h-2", count: 3 }, undefined]);
    expect(await asked({ n: 2 })).toEqual([201, { halt_id: "h-3", count: 4 }, undefined]);
    expect(calls()).toBe(4);
  });

  it("is done and answered while the store of keys is away or stands still", async () => {
    const { handle, calls } = counted((count) => ({ status: 201, body: { halt_id: "h", count } }));
    const keys = memoryKeys();
    keys.setReachable(false);
    const { server } = await serve([halting(handle)], { oncePerKey: keys.once });
    expect((await ask(server, path, posted({ n: 1 }, under("k")))).status).toBe(201);
    const never = new Promise<never>(() => undefined);
    const stuck = { once: () => never, remember: () => never };
    const other = await serve([halting(handle)], { oncePerKey: stuck });
    expect((await ask(other.server, path, posted({ n: 1 }, under("k")))).status).toBe(201);
    expect(calls()).toBe(2);
  });
});
