// The connections of tests: one for each request, or one that is kept and ended from this side before a server ends it.
import { once } from "node:events";
import { createServer, get, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { fetchOnNewConnection } from "./fetch-on-new-connection.ts";
import { keptConnections } from "./kept-connection.ts";

/** A server that keeps what stands idle for longer than any test takes. */
async function serve(answer: RequestListener) {
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = createServer({ keepAliveTimeout: 600_000 }, answer);
  server.on("connection", (socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, opened: () => opened, open: () => sockets.size };
}

test("each request has a connection of its own, which ends with the answer", async () => {
  const { url, opened, open } = await serve((_request, response) => void response.end("{}"));
  for (let count = 0; count < 3; count += 1) expect(await (await fetchOnNewConnection(url)).json()).toEqual({});
  expect(opened()).toBe(3);
  await expect.poll(open).toBe(0);
});

test("what is asked arrives, and so does what is answered", async () => {
  const { url } = await serve(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { method, headers } = request;
    const seen = {
      method,
      body,
      type: headers["content-type"],
      mine: headers["x-mine"],
      length: headers["content-length"],
    };
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.statusCode = method === "DELETE" ? 204 : 418;
    response.end(method === "DELETE" ? undefined : JSON.stringify(seen));
  });
  const body = new URLSearchParams({ a: "b c" });
  const answer = await fetchOnNewConnection(url, { method: "POST", body, headers: { "x-mine": "yes" } });
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([418, ["a=1", "b=2"]]);
  expect(await answer.json()).toEqual({
    method: "POST",
    body: "a=b+c",
    type: "application/x-www-form-urlencoded;charset=UTF-8",
    mine: "yes",
    length: "5",
  });
  expect((await fetchOnNewConnection(url, { method: "DELETE" })).status).toBe(204);
});

test("a redirect is handed on where the caller says so, and an error where it does not", async () => {
  const { url } = await serve((_request, response) => void response.writeHead(303, { location: "/there" }).end());
  expect((await fetchOnNewConnection(url, { redirect: "manual" })).headers.get("location")).toBe("/there");
  await expect(fetchOnNewConnection(url)).rejects.toThrow('answers 303 to /there: say redirect "manual"');
});

test("nobody there is an error as of the runtime's own fetch", async () => {
  const thrown = await fetchOnNewConnection("http://127.0.0.1:1/").catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(TypeError);
  expect(thrown).toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
});

test("who gives up closes the connection, also in the middle of an answer", async () => {
  const { url, open } = await serve((request, response) => void (request.url === "/begins" && response.write("begun")));
  const never = new AbortController();
  const unanswered = fetchOnNewConnection(url, { signal: never.signal });
  await expect.poll(open).toBe(1);
  never.abort();
  await expect(unanswered).rejects.toThrow(/abort/);
  await expect.poll(open).toBe(0);
  const later = new AbortController();
  const begun = await fetchOnNewConnection(`${url}/begins`, { signal: later.signal });
  later.abort();
  await expect(begun.text()).rejects.toThrow();
  await expect.poll(open).toBe(0);
});

test("a kept connection is used again, and ended from this side when it stands idle", async () => {
  const { url, opened, open } = await serve((_request, response) => void response.end("x"));
  const agent = keptConnections();
  onTestFinished(() => agent.destroy());
  for (let count = 0; count < 3; count += 1) {
    const [answer] = await once(get(url, { agent }), "response");
    await once(answer.resume(), "end");
    await expect.poll(() => Object.values(agent.freeSockets).flat().length).toBe(1);
  }
  expect(opened()).toBe(1);
  await expect.poll(open).toBe(0);
});
