// Every ending runs, whatever the others do.
import { expect, test } from "vitest";
import { endAll } from "./end-all.ts";

test("an ending that fails does not keep the others open, and the first error is thrown", async () => {
  const ended: number[] = [];
  const ending = (number: number, error?: string) => async () => {
    ended.push(number);
    if (error !== undefined) throw new Error(error);
  };
  const endings = [ending(1), ending(2, "second"), ending(3, "third"), ending(4)];
  await expect(endAll(endings)).rejects.toThrow("third");
  expect(ended).toEqual([4, 3, 2, 1]);
  await endAll(endings);
  expect(ended.length).toBe(4);
});
