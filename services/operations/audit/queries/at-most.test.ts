// A bound on how many run at once: the next one is refused, and an end, good or bad, makes room.
import { expect, test } from "vitest";
import { atMost } from "./at-most.ts";

test("one more than may is refused at once, and there is room again after an end of either kind", async () => {
  const bounded = atMost(2, "readings are under way");
  const ends: ((error?: Error) => void)[] = [];
  const work = () =>
    new Promise<string>((resolve, reject) =>
      ends.push((error) => (error === undefined ? resolve("done") : reject(error))),
    );
  const [first, second] = [bounded(work), bounded(work)];
  await expect(bounded(work)).rejects.toMatchObject({
    code: "RESOURCE_EXHAUSTED",
    message: "2 readings are under way, as many as may.",
  });
  expect(ends).toHaveLength(2);
  ends[0]?.(new Error("broke"));
  await expect(first).rejects.toThrow("broke");
  const third = bounded(work);
  for (const end of ends.slice(1)) end();
  expect(await Promise.all([second, third])).toEqual(["done", "done"]);
});
