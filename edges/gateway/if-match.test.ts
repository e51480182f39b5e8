// Changes under a condition: a stale If-Match changes nothing, and a conflict keeps its code.
import { describe, expect, it } from "vitest";
import { underIfMatch, withVersionTag } from "./if-match.ts";

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

it("tags nothing that has no version", () => {
  expect(withVersionTag({ status: 200, body: [] })).toEqual({ status: 200, body: [] });
  expect(withVersionTag({ status: 409, body: { version: 3 } }).headers).toBeUndefined();
});
