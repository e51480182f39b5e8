// Space and arrows move the clock of a replay wherever nobody types, and never do two things at once.
import { expect, it } from "vitest";
import { replayKey } from "./replay-keys.ts";

const free = { isChord: false, isField: false, isPressed: false, scrolls: { sideways: false, down: false } };

it.each([
  [" ", {}, "play"],
  ["ArrowRight", {}, "step"],
  ["ArrowLeft", {}, "back"],
  ["ArrowUp", {}, undefined],
  ["x", {}, undefined],
  // In a field they are the field's.
  [" ", { isField: true }, undefined],
  ["ArrowLeft", { isField: true }, undefined],
  ["ArrowRight", { isChord: true }, undefined],
  // Space presses the button that has the focus; an arrow has no meaning there.
  [" ", { isPressed: true }, undefined],
  ["ArrowRight", { isPressed: true }, "step"],
  // A table scrolls by them.
  [" ", { scrolls: { sideways: false, down: true } }, undefined],
  ["ArrowRight", { scrolls: { sideways: true, down: false } }, undefined],
  ["ArrowRight", { scrolls: { sideways: false, down: true } }, "step"],
] as const)("%j where %j is %s", (key, where, meaning) => {
  expect(replayKey({ ...free, ...where, key })).toBe(meaning);
});
