// What the schemas of a route let in, through real sockets: what fits as they make it, what does not by the name of its field.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Defect } from "../../contracts/src/fault.ts";
import type { HttpRequest, Route } from "../../ports/http.ts";
import { ask, expectProblem, hello, posted, serve } from "../../testkit/http/test-client.ts";

const full: Route = {
  id: "full",
  method: "POST",
  path: "/v1/full/:id",
  listeners: ["operator", "public"],
  sentence: "Takes everything.",
  operation: "ReadHealth",
  params: z.object({ id: z.string().regex(/^[a-z]{1,8}$/) }),
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(10) }),
  body: z
    .strictObject({
      name: z.string().min(1).max(5),
      operations: z
        .array(z.enum(["Read", "Write"]))
        .min(1)
        .max(2)
        .default(["Read"]),
      step: z.number().int().multipleOf(5).gt(0).optional(),
      when: z.iso.datetime().max(64).optional(),
      either: z.union([z.string().max(64), z.number()]).optional(),
      totp: z
        .string()
        .regex(/^[0-9]{6}$/, "expected six digits")
        .optional(),
      password: z
        .string()
        .max(64)
        .refine(() => false, { error: (issue) => `${String(issue.input)} is too easy` })
        .optional(),
    })
    .refine((body) => body.name !== "never", { message: "expected another name than never" }),
  answers: { 200: z.looseObject({}) },
  handle: async ({ params, query, body }) => ({ status: 200, body: { params, query, body } }),
};

const path = "/v1/full/abc";

async function complaints(given: unknown, at = path): Promise<unknown> {
  const { server } = await serve([full]);
  const body = expectProblem(await ask(server, at, posted(given)), 400, "INVALID_ARGUMENT", at.split("?")[0] ?? "");
  const errors = body["errors"] as readonly { field: string; expected: string }[];
  expect(body["detail"]).toBe(`${errors.map((one) => `${one.field}: expected ${one.expected}`).join("; ")}.`);
  return Object.fromEntries(errors.map(({ field, expected }) => [field, expected]));
}

describe("input that fits", () => {
  it("arrives as the schemas make it", async () => {
    const { server } = await serve([full]);
    const answer = await ask(server, `${path}?limit=7`, posted({ name: "a" }));
    expect(JSON.parse(answer.text)).toEqual({
      params: { id: "abc" },
      query: { limit: 7 },
      body: { name: "a", operations: ["Read"] },
    });
  });

  it("without schemas there is nothing", async () => {
    const seen: HttpRequest[] = [];
    const handle: Route["handle"] = async (request) => {
      seen.push(request);
      return { status: 200, body: "" };
    };
    const { server } = await serve([{ ...hello, method: "POST", handle }]);
    expect((await ask(server, "/v1/hello", { method: "POST" })).status).toBe(200);
    const typed = { method: "POST", headers: { "content-type": "application/json", "content-length": "0" } };
    expect((await ask(server, "/v1/hello", typed)).status).toBe(200);
    for (const { params, query, body } of seen)
      expect([params, query, body]).toEqual([undefined, undefined, undefined]);
    expect(seen).toHaveLength(2);
  });
});

describe("input that does not fit", () => {
  it("names every field and what was expected", async () => {
    const given = { name: "", operations: ["Fly"], step: -3, when: "soon", either: [], extra: 1 };
    expect(await complaints(given, "/v1/full/ABC?limit=1000")).toEqual({
      "path.id": "text of the form /^[a-z]{1,8}$/",
      "query.limit": "at most 100",
      "body.name": "at least 1 characters",
      "body.operations[0]": "one of Read, Write",
      "body.step": expect.stringMatching(/a multiple of 5|more than 0/),
      "body.when": "text in the format datetime",
      "body.either": "one of the forms that the reference lists",
      "body.extra": "no such field",
    });
  });

  it.each([
    [{}, { "body.name": "text" }],
    [{ name: 7 }, { "body.name": "text" }],
    [{ name: "abcdef" }, { "body.name": "at most 5 characters, and 6 were sent" }],
    [{ name: "a", operations: [] }, { "body.operations": "at least 1 entries" }],
    [{ name: "a", operations: "Read" }, { "body.operations": "a list" }],
    [{ name: "a", step: "5" }, { "body.step": "a number" }],
    [{ name: "never" }, { body: "another name than never" }],
    [[], { body: "an object" }],
    ["null", { body: "an object" }],
  ])("%j", async (given, expected) => {
    expect(await complaints(given)).toEqual(expected);
  });

  it("a body that is missing is reported as such", async () => {
    const { server } = await serve([full]);
    const reported = expectProblem(await ask(server, path, { method: "POST" }), 400, "INVALID_ARGUMENT", path);
    expect(reported["errors"]).toEqual([{ field: "body", expected: "an object" }]);
  });

  it("never repeats a secret, whatever a schema's author wrote", async () => {
    const { server, lines } = await serve([full]);
    const answer = await ask(server, path, posted({ name: "a", totp: "12345x", password: "hunter2" }));
    expect(JSON.parse(answer.text)["errors"]).toEqual([
      { field: "body.totp", expected: "six digits" },
      { field: "body.password", expected: "a valid value" },
    ]);
    expect(answer.text + JSON.stringify(lines)).not.toMatch(/12345x|hunter2/);
  });

  it("is bounded in what it repeats of names", async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}${"x".repeat(500)}`, at]));
    const { server } = await serve([full]);
    const answer = await ask(server, path, posted({ name: "a", ...many }));
    expect(JSON.parse(answer.text)["errors"]).toHaveLength(20);
    expect(answer.text.length).toBeLessThan(6_000);
  });
});

describe("what no schema asks for", () => {
  it("a query is refused", async () => {
    const { server } = await serve([hello]);
    const reported = expectProblem(
      await ask(server, "/v1/hello?a=1&token=s3cret"),
      400,
      "INVALID_ARGUMENT",
      "/v1/hello",
    );
    expect(reported["errors"]).toEqual([
      { field: "query.a", expected: "no such field" },
      { field: "query.token", expected: "no such field" },
    ]);
    expect(JSON.stringify(reported)).not.toContain("s3cret");
    expect((await ask(server, "/v1/hello?")).status).toBe(200);
  });

  it.each(["GET", "POST", "DELETE"] as const)("a body of %s is refused, however it is sent", async (method) => {
    const { server } = await serve([{ ...hello, method }]);
    for (const headers of [{ "content-length": "2" }, { "transfer-encoding": "chunked" }]) {
      const given = { method, headers: { "content-type": "text/plain", ...headers }, body: "{}" };
      const reported = expectProblem(await ask(server, "/v1/hello", given), 400, "INVALID_ARGUMENT", "/v1/hello");
      expect(reported["errors"]).toEqual([{ field: "body", expected: "none" }]);
    }
  });

  it("a path with parameters and no schema for them does not start", async () => {
    await expect(serve([{ ...hello, path: "/v1/:name" }])).rejects.toThrow(Defect);
  });
});

describe("answers", () => {
  const promised: Route = { ...hello, answers: { 200: z.object({ name: z.string() }) } };
  const give = (status: number, body: object | string): Route => ({
    ...promised,
    handle: async () => ({ status, body }),
  });

  it("keep what nobody declared inside", async () => {
    const { server } = await serve([give(200, { name: "a", secret: "hunter2" })]);
    expect((await ask(server, "/v1/hello")).text).toBe('{"name":"a"}');
  });

  it.each([
    ["a wrong field", give(200, { name: 7, secret: "hunter2" })],
    ["text for an object", give(200, "hunter2")],
    ["a status of its own", give(204, { name: "hunter2" })],
    ["an object for text", { ...give(200, { name: "hunter2" }), answers: { 200: "text" } } as Route],
  ])("that break their promise are not sent: %s", async (_name, route) => {
    const { server, lines } = await serve([route]);
    const answer = await ask(server, "/v1/hello");
    expectProblem(answer, 500, "INTERNAL", "/v1/hello");
    expect(answer.text).not.toContain("hunter2");
    const error = lines.find(({ level }) => level === "error")?.fields["error"];
    expect(String(error)).toContain("The route getHello answered");
    expect(String(error)).not.toContain("hunter2");
  });
});
