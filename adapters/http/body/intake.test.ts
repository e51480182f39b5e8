// A route with an intake of its own, through real sockets: the order of its checks, its limits to the byte, and its words.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import type { IntakeRefusal, Route } from "../../../ports/http.ts";
import { type AskOptions, anyBody, ask, held, posted, rawAsk, serve } from "../../../testkit/http/test-client.ts";

const path = "/v1/alerts";
const bytesMax = 64;

function alerts(more: { readonly answerMsMax?: number; readonly admitted?: boolean; handle?: Route["handle"] } = {}) {
  const refused: IntakeRefusal[] = [];
  const route: Route = {
    id: "postAlert",
    method: "POST",
    path,
    listeners: ["public"],
    sentence: "Takes an alert.",
    operation: "ReadHealth",
    body: atMost(z.record(z.string(), z.unknown()), { any: { values: 100, characters: 1_000 } }),
    answers: { 202: z.looseObject({}) },
    intake: {
      bodyBytesMax: bytesMax,
      answerMsMax: more.answerMsMax ?? 60_000,
      admits: () => more.admitted !== false,
      refuse: async (one) => {
        refused.push(one);
        return { status: one.status, body: { code: `REFUSED_${one.status}`, detail: one.detail } };
      },
    },
    handle: more.handle ?? (async ({ body }) => ({ status: 202, body: body as object })),
  };
  return { route, refused };
}

const send = (body: string, more: AskOptions = {}) => posted(body, { listener: "public", token: null, ...more });
const text = { "content-type": "text/plain; charset=utf-8" };
const ofLength = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
const chunked = (type: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n` +
  `${[...body].map((one) => `1\r\n${one}\r\n`).join("")}0\r\n\r\n`;

describe("a body", () => {
  it("is JSON, as application/json and as text/plain", async () => {
    const { server } = await serve([alerts().route]);
    for (const headers of [{}, text, { "content-type": "text/plain" }]) {
      expect(await ask(server, path, send('{"a":"1"}', { headers }))).toMatchObject({ status: 202, text: '{"a":"1"}' });
    }
  });

  it("of another type is refused, and text/plain still is on every other route", async () => {
    const { route, refused } = alerts();
    const other: Route = {
      id: "other",
      method: "POST",
      path: "/v1/other",
      listeners: ["public"],
      sentence: "Takes JSON alone.",
      operation: "ReadHealth",
      body: anyBody,
      answers: { 200: z.looseObject({}) },
      handle: async () => ({ status: 200, body: {} }),
    };
    const { server } = await serve([route, other]);
    expect((await ask(server, path, send("a=1", { headers: { "content-type": "application/xml" } }))).status).toBe(415);
    expect(refused).toMatchObject([{ status: 415, remoteAddress: "127.0.0.1" }]);
    expect((await ask(server, "/v1/other", send("{}", { headers: text }))).status).toBe(415);
    expect((await ask(server, "/v1/other", send(ofLength(bytesMax + 1)))).status).toBe(200);
  });

  it("may have as many bytes as the route says and not one more, declared or chunked", async () => {
    const { server } = await serve([alerts().route]);
    const statusOf = async (answer: Promise<string>) => Number((await answer).split(" ")[1]);
    expect((await ask(server, path, send(ofLength(bytesMax)))).status).toBe(202);
    expect((await ask(server, path, send(ofLength(bytesMax + 1)))).status).toBe(413);
    for (const type of ["application/json", "text/plain"]) {
      expect(await statusOf(rawAsk(server, chunked(type, ofLength(bytesMax)), "public"))).toBe(202);
      expect(await statusOf(rawAsk(server, chunked(type, ofLength(bytesMax + 1)), "public"))).toBe(413);
    }
  });

  it.each([
    ['{\n"a": 1,\n}', "line 3, column 1"],
    ['{"a":1,\n "a":2}', "body.a: expected this member once, and it stands there twice, at line 2, column 2."],
    ['{"n":\n12345678901234567890}', "line 2, column 1"],
    ['{"__proto__":{}}', "line 1, column 2"],
    ["", "line 1, column 1"],
    ["[1]", "body: expected"],
  ])("%j is refused with its place", async (body, words) => {
    const { route, refused } = alerts();
    const { server } = await serve([route]);
    expect((await ask(server, path, send(body, { headers: text }))).status).toBe(400);
    expect(refused).toMatchObject([{ status: 400, detail: expect.stringContaining(words) }]);
  });

  it("that is no UTF-8 is refused with its place, and nothing of it is repeated", async () => {
    const { route, refused } = alerts();
    const { server } = await serve([route]);
    const body = Buffer.from('{"a":\n"\xff"}', "latin1");
    await ask(server, path, { ...send(""), body });
    expect(refused).toMatchObject([{ status: 400, detail: expect.stringContaining("line 2, column 2") }]);
  });
});

describe("the order", () => {
  it("is: method, declared length, address, type, length while reading, JSON", async () => {
    const { route, refused } = alerts({ admitted: false });
    const { server } = await serve([route]);
    const xml = { "content-type": "application/xml" };
    expect((await ask(server, path, { ...send(ofLength(99), { headers: xml }), method: "PUT" })).status).toBe(405);
    expect((await ask(server, path, send(ofLength(99), { headers: xml }))).status).toBe(413);
    expect((await ask(server, path, send("{", { headers: xml }))).status).toBe(403);
    expect(refused.map(({ status }) => status)).toEqual([413, 403]);
  });

  it("asks for the address before a byte of the body has come", async () => {
    const { server } = await serve([alerts({ admitted: false }).route]);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n`;
    expect(await rawAsk(server, head, "public")).toMatch(/^HTTP\/1.1 403 /);
  });
});

describe("the time", () => {
  it("of who sends too slowly ends with 408", async () => {
    const { server } = await serve([alerts({ answerMsMax: 200 }).route]);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n{`;
    expect(await rawAsk(server, head, "public")).toMatch(/^HTTP\/1.1 408 /);
  });

  it("of a route that does not answer ends with 503, and its late answer is dropped", async () => {
    const gate = held();
    const handle = async () => {
      await gate.wait();
      return { status: 202, body: {} };
    };
    const { server, lines } = await serve([alerts({ answerMsMax: 200, handle }).route]);
    const asked = ask(server, path, send("{}"));
    await gate.entered;
    expect((await asked).status).toBe(503);
    gate.leave();
    await sleep(20);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
