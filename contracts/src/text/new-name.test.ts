// Which names may be made from here on, and that ids stay what they are.
import { expect, it } from "vitest";
import { idText } from "../records/fields.ts";
import { newNameComplaint } from "./new-name.ts";

it.each(["alpha", "a", "alpha-meanrev", "desk.1", "eu:alpha@x/2", "daily_nav"])("%s may be made", (name) => {
  expect(newNameComplaint(name)).toBeUndefined();
});

it.each(["a..b", "alpha.", "alpha-", "x_", "x:", "x@", "x/", "../x", "-rf"])("%s may not", (name) => {
  expect(newNameComplaint(name)).toContain(JSON.stringify(name));
});

it("narrows nothing of what ids may be", () => {
  expect(["a..b", "alpha.", "o/1/"].filter((id) => idText.safeParse(id).success)).toHaveLength(3);
});
