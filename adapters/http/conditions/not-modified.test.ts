// 304 is for whoever reads: a change is answered as itself, whatever If-None-Match says.
import { expect, it } from "vitest";
import { z } from "zod";
import type { Route } from "../../../ports/http.ts";
import { ask, posted, serve } from "../../../testkit/http/test-client.ts";

const read: Route = {
  id: "getThing",
  method: "GET",
  path: "/v1/thing",
  listeners: ["operator"],
  sentence: "Reads a thing.",
  operation: "GetReferenceData",
  answers: { 200: z.object({ version: z.int() }) },
  handle: async () => ({ status: 200, body: { version: 7 }, headers: { etag: '"7"' } }),
};
const change: Route = {
  ...read,
  id: "setThing",
  method: "PUT",
  operation: "SetReferenceData",
  body: z.strictObject({ version: z.int() }),
};

it.each(["*", '"7"', 'W/"7"', '"6", "7"'])("If-None-Match: %s", async (tag) => {
  const { server } = await serve([read, change]);
  const headers = { "if-none-match": tag };
  expect((await ask(server, read.path, { headers })).status).toBe(304);
  const changed = await ask(server, change.path, posted({ version: 7 }, { method: "PUT", headers }));
  expect([changed.status, JSON.parse(changed.text), changed.headers.etag]).toEqual([200, { version: 7 }, '"7"']);
});
