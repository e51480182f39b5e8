// Changes under a condition: a stale If-Match changes nothing, and a conflict keeps its code.
import { describe, expect, it } from "vitest";
import { ask, testParts } from "../../testkit/gateway/parts.ts";
import { forwarded } from "./declared/route.ts";
import { conflictTagged, underIfMatch, withVersionTag } from "./if-match.ts";

const condition = { bodyVersion: 8, conflictCode: "ENVELOPE_VERSION_CONFLICT" };

function change(ifMatch: string | undefined, answer = { status: 200, body: { version: 8 } as object }) {
  let changes = 0;
  const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
  const answered = underIfMatch({ headers }, condition, async () => {
    changes += 1;
    return answer;
  });
  return { answered, changes: () => changes };
}

describe("If-Match", () => {
  it.each([undefined, '"7"', ' "7" ', "*"])(
    "lets %j through, and the answer has its version as ETag",
    async (named) => {
      const { answered, changes } = change(named);
      expect(await answered).toEqual({ status: 200, body: { version: 8 }, headers: { etag: '"8"' } });
      expect(changes()).toBe(1);
    },
  );

  it("is 412 when it does not agree with the body, and nothing is asked of anybody", async () => {
    const { answered, changes } = change('"6"');
    expect(await answered).toMatchObject({ status: 412, body: { code: "ENVELOPE_VERSION_CONFLICT" } });
    expect(changes()).toBe(0);
  });

  it("makes the service's conflict a 412 under its own code, and leaves it as it is without", async () => {
    const conflict = { status: 409, body: { code: "ENVELOPE_VERSION_CONFLICT", detail: "somebody was faster" } };
    expect(await change('"7"', conflict).answered).toEqual({ ...conflict, status: 412 });
    expect(await change(undefined, conflict).answered).toEqual(conflict);
    const other = { status: 409, body: { code: "LOOSENING_DURING_HALT" } };
    expect(await change('"7"', other).answered).toEqual(other);
  });

  it.each(["7", 'W/"7"', '"7", "8"', '"x"', '"07"', ""])("refuses %j by name", async (named) => {
    await expect(change(named).answered).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a watchdog's configuration", () => {
  const config = { watchdog: "vpin", fund_ids: ["alpha"], keys: [], problem: "", version: 4 };
  const put = async (headers: Readonly<Record<string, string>>, answer: object = config) => {
    const { parts, calls } = testParts({ procedures: { "Watchdogs/SetWatchdogConfig": answer } });
    const request = { params: { watchdog: "vpin" }, body: { fund_id: "alpha", threshold: 0.9, reason: "x" }, headers };
    return { answered: await ask(forwarded("setWatchdogConfig", parts), request), message: calls[0]?.[1] };
  };

  it("is changed on top of the version that If-Match names, and answers the next as its ETag", async () => {
    const { answered, message } = await put({ "if-match": '"3"' });
    expect(answered).toMatchObject({ status: 200, body: { version: 4 }, headers: { etag: '"4"' } });
    expect(message).toMatchObject({ fund_id: "alpha", expected_version: 3 });
    expect((await put({})).message).not.toHaveProperty("expected_version");
    expect((await put({ "if-match": "*" })).message).not.toHaveProperty("expected_version");
  });

  it("is 412 under its own code when somebody was faster, and 409 for who named no version over gRPC", () => {
    const conflict = { status: 409, body: { code: "WATCHDOG_VERSION_CONFLICT", detail: "it is at version 4" } };
    expect(conflictTagged(3, "WATCHDOG_VERSION_CONFLICT", conflict)).toEqual({ ...conflict, status: 412 });
    expect(conflictTagged(undefined, "WATCHDOG_VERSION_CONFLICT", conflict)).toEqual(conflict);
  });
});

it("tags nothing that has no version", () => {
  expect(withVersionTag({ status: 200, body: [] })).toEqual({ status: 200, body: [] });
  expect(withVersionTag({ status: 409, body: { version: 3 } }).headers).toBeUndefined();
});
