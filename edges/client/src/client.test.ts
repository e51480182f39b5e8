// The client against a small server: what it sends, how it reads what comes back, and what it makes of everything that can go
// wrong on the way. The types are tested by the compiler (expectTypeOf), which reads this file as well.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { runtimeFetch } from "../../../testkit/http/runtime-fetch.ts";
import type { AnswerOf, ArgumentsOf, Client } from "./index.ts";
import { ApiError, createClient, UnreachableError } from "./index.ts";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Reply = (response: ServerResponse, request: IncomingMessage) => void;

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(reply: Reply): Promise<{ readonly baseUrl: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    reply(response, request);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  servers.push({
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  });
  return { baseUrl: `http://127.0.0.1:${address.port}`, seen };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

const failed = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable("the call should have failed"),
    (thrown: unknown) => thrown,
  );

describe("requests", () => {
  it("puts path and body parameters in their places under their own names", async () => {
    const { baseUrl, seen } = await serve(json(201, { id: "new", token: "pcs_new_x" }));
    const client = createClient({ baseUrl, token: "t-1" });
    const answer = await client.rotateServiceToken({
      tokenId: "a/b c",
      overlapS: 60,
      expiresInS: 3_600,
      stepUpProof: "proof",
    });
    expect(answer).toEqual({ id: "new", token: "pcs_new_x" });
    expect(seen[0]).toMatchObject({ method: "POST", url: "/v1/service-tokens/a%2Fb%20c/rotate" });
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ overlap_s: 60, expires_in_s: 3_600, step_up_proof: "proof" });
    expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer t-1", "content-type": "application/json" });
  });

  it("converts the arguments' own names and nothing inside them", async () => {
    const { baseUrl, seen } = await serve(json(201, { proof: "p", expires_at: "x" }));
    const parameters = { fundId: "alpha", nested: { someKey: [1, { otherKey: null }] } };
    await createClient({ baseUrl }).stepUp({ action: "IssueServiceToken", parameters, totp: "123456" });
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ action: "IssueServiceToken", parameters, totp: "123456" });
  });

  it("leaves out what is undefined, sends an empty body as an object, and no body where there is none", async () => {
    const { baseUrl, seen } = await serve(json(200, {}));
    const client = createClient({ baseUrl });
    await client.beginSecondFactor();
    await client.beginSecondFactor({ totp: "123456" });
    await client.logOut();
    await client.getIdentity();
    expect(seen.map((one) => one.body)).toEqual(["{}", '{"totp":"123456"}', "{}", ""]);
    expect(seen[3]?.headers["content-type"]).toBeUndefined();
    expect(seen.every((one) => one.headers.authorization === undefined)).toBe(true);
  });

  it("asks for the token before every call, and keeps a path in the base URL", async () => {
    const { baseUrl, seen } = await serve(json(200, {}));
    let turn = 0;
    const token = async (): Promise<string | undefined> => {
      turn += 1;
      return turn === 3 ? undefined : `t-${turn}`;
    };
    const client = createClient({ baseUrl: `${baseUrl}/desk/`, token });
    for (let call = 0; call < 3; call += 1) await client.getIdentity();
    expect(seen.map((one) => one.headers.authorization)).toEqual(["Bearer t-1", "Bearer t-2", undefined]);
    expect(seen[0]?.url).toBe("/desk/v1/auth/identity");
  });

  it("refuses misspelt arguments and missing path parameters before anything is sent", async () => {
    const { baseUrl, seen } = await serve(json(200, {}));
    const client = createClient({ baseUrl });
    const loose = client as unknown as Record<string, (given: object) => Promise<unknown>>;
    expect(await failed(loose["confirmSecondFactor"]?.({ cod: "123456" }) ?? Promise.resolve())).toBeInstanceOf(
      TypeError,
    );
    for (const tokenId of ["", ".", "..", undefined]) {
      expect(await failed(loose["revokeServiceToken"]?.({ tokenId }) ?? Promise.resolve())).toBeInstanceOf(TypeError);
    }
    expect(seen).toEqual([]);
  });

  it.each(["", "127.0.0.1:8080", "ftp://x", "http://user:secret@x/", "http://x/?a=1"])(
    "takes no base URL such as %j, and does not repeat it",
    (baseUrl) => {
      expect(() => createClient({ baseUrl })).toThrow(TypeError);
      expect(() => createClient({ baseUrl })).not.toThrow(/secret/);
    },
  );
});

describe("answers", () => {
  it("gives text where the API answers text", async () => {
    const { baseUrl } = await serve((response) => response.writeHead(200).end("portcullis_up 1\n"));
    expect(await createClient({ baseUrl }).getMetrics()).toBe("portcullis_up 1\n");
  });

  it("makes a problem an ApiError with its status, code, detail and time to wait", async () => {
    const problem = {
      title: "Too many",
      status: 429,
      code: "SECOND_FACTOR_LOCKED",
      detail: "Wait 60 s.",
      request_id: "r",
    };
    const { baseUrl } = await serve(json(429, problem, { "retry-after": "60" }));
    const thrown = await failed(createClient({ baseUrl }).confirmSecondFactor({ code: "000000" }));
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({
      name: "ApiError",
      status: 429,
      code: "SECOND_FACTOR_LOCKED",
      detail: "Wait 60 s.",
      message: "Wait 60 s.",
      retryAfterS: 60,
      problem,
    });
  });

  it.each([
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
    [404, "NOT_FOUND"],
    [418, "INVALID_ARGUMENT"],
    [429, "RESOURCE_EXHAUSTED"],
    [500, "INTERNAL"],
    [502, "SERVICE_UNAVAILABLE"],
    [504, "DEADLINE_EXCEEDED"],
  ])("finds a code for a %i of somebody else's making", async (status, code) => {
    const page = await serve((response) =>
      response.writeHead(status, { "retry-after": "soon" }).end("<html>no</html>"),
    );
    const thrown = await failed(createClient({ baseUrl: page.baseUrl }).getIdentity());
    expect(thrown).toMatchObject({ status, code, detail: undefined, problem: undefined, retryAfterS: undefined });
    const odd = await serve(json(status, ["not", "a", "problem"]));
    expect(await failed(createClient({ baseUrl: odd.baseUrl }).getIdentity())).toMatchObject({ status, code });
  });
});

describe("no answer", () => {
  it("is an UnreachableError when nobody listens, with the reason and without the token", async () => {
    const { baseUrl } = await serve(json(200, {}));
    await servers.pop()?.close();
    const thrown = await failed(createClient({ baseUrl, token: "very-secret" }).getIdentity());
    expect(thrown).toBeInstanceOf(UnreachableError);
    expect(String(thrown)).toContain(baseUrl);
    expect(String(thrown)).toMatch(/ECONNREFUSED/);
    expect(String(thrown)).not.toContain("very-secret");
  });

  it("is an UnreachableError when the connection breaks in the middle of the body", async () => {
    const { baseUrl } = await serve((response) => {
      response.writeHead(200, { "content-length": "100" }).write('{"actor":');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await failed(createClient({ baseUrl }).getIdentity())).toBeInstanceOf(UnreachableError);
  });

  it("is an UnreachableError when the server is silent, before and within the body", async () => {
    const silent = await serve(() => undefined);
    const thrown = await failed(createClient({ baseUrl: silent.baseUrl, timeoutMs: 50 }).getIdentity());
    expect(thrown).toBeInstanceOf(UnreachableError);
    expect(String(thrown)).toMatch(/within 50 ms/);
    const halting = await serve((response) => response.writeHead(200).write("{"));
    const client = createClient({ baseUrl: halting.baseUrl });
    expect(await failed(client.getIdentity({}, { timeoutMs: 50 }))).toBeInstanceOf(UnreachableError);
  });

  it("ends in time also when the caller can give up, whatever was collected meanwhile", async () => {
    setFlagsFromString("--expose-gc");
    const collecting = setInterval(runInNewContext("gc") as () => void, 20);
    try {
      const { baseUrl } = await serve(() => undefined);
      const giveUp = new AbortController();
      const client = createClient({ baseUrl, timeoutMs: 300 });
      expect(String(await failed(client.getIdentity({}, { signal: giveUp.signal })))).toMatch(/within 300 ms/);
      // As a program does that has a signal of its own for everything it fetches.
      const wrapped: typeof fetch = (input, init) =>
        runtimeFetch(input, {
          ...init,
          signal: init?.signal ? AbortSignal.any([init.signal, giveUp.signal]) : giveUp.signal,
        });
      const further = createClient({ baseUrl, timeoutMs: 300, fetch: wrapped });
      expect(String(await failed(further.getIdentity()))).toMatch(/within 300 ms/);
    } finally {
      clearInterval(collecting);
    }
  });

  it("is the caller's own reason when the caller gave up before", async () => {
    const { baseUrl, seen } = await serve(json(200, {}));
    const reason = new Error("enough");
    expect(await failed(createClient({ baseUrl }).getIdentity({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(seen).toEqual([]);
  });

  it("is the caller's own reason when the caller gives up", async () => {
    const { baseUrl } = await serve(() => undefined);
    const reason = new Error("enough");
    const giveUp = new AbortController();
    const call = failed(createClient({ baseUrl }).getIdentity({}, { signal: giveUp.signal }));
    setTimeout(() => giveUp.abort(reason), 20);
    expect(await call).toBe(reason);
  });

  it("follows no redirect, so that the token stays where it was meant", async () => {
    const other = await serve(json(200, {}));
    const { baseUrl } = await serve((response) =>
      response.writeHead(307, { location: `${other.baseUrl}/v1/auth/identity` }).end(),
    );
    expect(await failed(createClient({ baseUrl, token: "t" }).getIdentity())).toBeInstanceOf(UnreachableError);
    expect(other.seen).toEqual([]);
  });

  it("takes a page of some other program for what it is", async () => {
    const { baseUrl } = await serve((response) => response.writeHead(200).end("<html>hello</html>"));
    const thrown = await failed(createClient({ baseUrl }).getIdentity());
    expect(thrown).toBeInstanceOf(UnreachableError);
    expect(String(thrown)).toMatch(/is it Portcullis/);
  });

  it("uses the fetch that it is handed", async () => {
    const client = createClient({
      baseUrl: "http://portcullis.invalid",
      fetch: async (input) => Response.json({ asked: String(input) }),
    });
    expect(await client.getHealth()).toEqual({ asked: "http://portcullis.invalid/v1/healthz" });
  });
});

describe("types", () => {
  it("names arguments in camelCase and answers as they are sent", () => {
    expectTypeOf<ArgumentsOf<"rotateServiceToken">>().toEqualTypeOf<{
      tokenId: string;
      overlapS: number;
      expiresInS: number;
      reason?: string;
      stepUpProof?: string;
    }>();
    expectTypeOf<ArgumentsOf<"getIdentity">>().toEqualTypeOf<Record<never, never>>();
    expectTypeOf<ArgumentsOf<"beginSecondFactor">>().toEqualTypeOf<{ totp?: string; recoveryCode?: string }>();
    expectTypeOf<ArgumentsOf<"rotateSigningKeys">["retire"]>().toEqualTypeOf<"after_overlap" | "at_once">();
    expectTypeOf<AnswerOf<"getMetrics">>().toEqualTypeOf<string>();
    expectTypeOf<AnswerOf<"getHealth">>().toEqualTypeOf<{ status: "ok"; notes?: string[]; insecure?: true }>();
    expectTypeOf<AnswerOf<"revokeSessions">>().toEqualTypeOf<{ effective_within_ms: number; known: boolean | null }>();
    expectTypeOf<AnswerOf<"logOut">["device_logins"][number]["program"]>().toEqualTypeOf<string>();
    expectTypeOf<AnswerOf<"listServiceTokens">[number]["rotated_to"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<AnswerOf<"getIdentity">["second_factor"]>["enrolled_at"]>().toEqualTypeOf<string | null>();
    // In production it may be a request that a second admin signs.
    type Issued = Extract<AnswerOf<"issueServiceToken">, { token: string }>;
    expectTypeOf<Issued["id"]>().toEqualTypeOf<string>();
    type Requested = Exclude<AnswerOf<"issueServiceToken">, Issued>;
    expectTypeOf<Requested["request_id"]>().toEqualTypeOf<string>();
  });

  it("lets nobody forget or misspell an argument", () => {
    const check = (client: Client): void => {
      // @ts-expect-error a token to revoke must be named
      void client.revokeServiceToken();
      // @ts-expect-error names are camelCase
      void client.revokeServiceToken({ token_id: "a" });
      // @ts-expect-error there is no such operation
      void client.stepUp({ action: "Nothing", parameters: {}, totp: "123456" });
      void client.getIdentity();
    };
    expectTypeOf(check).toBeFunction();
  });
});
