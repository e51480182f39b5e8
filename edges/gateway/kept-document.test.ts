// Documents that anyone may read cost their making once: the same bytes for every caller, packed for who takes it, and nothing for who has them.
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { keptDocument } from "./kept-document.ts";

const text = JSON.stringify({ openapi: "3.1.0", many: "x".repeat(1_000) });
function kept(make = async () => text) {
  let made = 0;
  const handle = keptDocument({
    contentType: "application/json",
    make() {
      made += 1;
      return make();
    },
  });
  return {
    ask: (accepted?: string) => handle({ headers: accepted === undefined ? {} : { "accept-encoding": accepted } }),
    made: () => made,
  };
}

describe("a kept document", () => {
  test("is made once, also for callers who ask at the same time", async () => {
    const { ask, made } = kept();
    const answers = await Promise.all([ask(), ask(), ask("gzip")]);
    expect(made()).toBe(1);
    expect(answers[0]?.body).toBe(answers[1]?.body);
    expect(Buffer.from(answers[0]?.body as Uint8Array).toString()).toBe(text);
  });

  test("is packed for who takes that, under a tag of its own", async () => {
    const { ask } = kept();
    const [plain, packed] = [await ask("identity"), await ask("br, GZIP;q=0.5")];
    expect(plain.headers).not.toHaveProperty("content-encoding");
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(gunzipSync(packed.body as Uint8Array).toString()).toBe(text);
    expect(packed.headers?.["etag"]).not.toBe(plain.headers?.["etag"]);
    expect(plain.headers?.["etag"]).toMatch(/^"[\w-]{27}"$/);
  });

  test.each([
    ["gzip", true],
    ["*", true],
    ["br, *;q=0.1", true],
    ["gzip;q=0", false],
    ["gzip; q=0.000, *", false],
    ["*;q=0", false],
    ["x-gzip", false],
    ["", false],
  ])("reads Accept-Encoding %j", async (accepted, isPacked) => {
    const answer = await kept().ask(accepted);
    expect("content-encoding" in (answer.headers ?? {})).toBe(isPacked);
  });

  test("that could not be made is tried again", async () => {
    let fails = true;
    const { ask, made } = kept(async () => {
      if (fails) throw new Error("not yet");
      return text;
    });
    await expect(ask()).rejects.toThrow("not yet");
    fails = false;
    expect((await ask()).status).toBe(200);
    expect(made()).toBe(2);
  });
});
