// The desk under Ink: what is typed reaches the model, and what the model shows is drawn.
import { stripVTControlCharacters } from "node:util";
import { cleanup, render } from "ink-testing-library";
import { createElement } from "react";
import { afterEach, expect, it } from "vitest";
import { calm, haltOf, haltStatus, list, plainLook } from "../../testkit/tui/desk-fixture.ts";
import { App } from "./app.tsx";
import { createKeyDecoder } from "./keys.ts";
import { createStore } from "./store.ts";

afterEach(cleanup);

async function opened() {
  const store = createStore(calm().state, () => undefined);
  const drawn = render(createElement(App, { store, decoder: createKeyDecoder(), look: plainLook }));
  // Ink reads its input once it has drawn.
  await expect.poll(() => drawn.stdin.listenerCount("readable")).toBeGreaterThan(0);
  const lines = (): readonly string[] => stripVTControlCharacters(drawn.lastFrame() ?? "").split("\n");
  return { store, lines, type: (text: string) => drawn.stdin.write(text) };
}

it.each([
  ["p", "POSITIONS"],
  ["o", "ORDERS"],
  ["f", "FUNDS"],
  ["r", "RISK"],
  ["h", "HALTS"],
])("%s shows %s", async (letter, title) => {
  const { type, lines } = await opened();
  type(letter);
  await expect.poll(() => lines()[2]).toBe(title);
});

it.each([
  ["q", 0],
  ["\u0003", 130],
])("%j leaves with %i", async (letter, exit) => {
  const { store, type } = await opened();
  type(letter);
  await expect.poll(() => store.state().leaving).toBe(exit);
});

it("takes arrows, a chunk of letters and a bracketed paste as what they are", async () => {
  const { store, type, lines } = await opened();
  type("\u001b[B");
  await expect.poll(() => lines()[5]).toMatch(/^> alpha +MSFT/);
  type("hH");
  await expect.poll(() => lines().join("\n")).toContain("What to halt");
  type("\r\r");
  await expect.poll(() => lines().join("\n")).toContain("Type HALT and press Enter: _");
  type("\u001b[200~HALT\u001b[201~");
  await expect.poll(() => lines().join("\n")).toContain("a paste is not taken");
  type("HALT");
  await expect.poll(() => lines().join("\n")).toContain("Type HALT and press Enter: HALT_");
  expect(store.state().dialog?.phase).toBe("asking");
  type("\r");
  await expect.poll(() => store.state().dialog?.phase).toBe("sending");
});

it("draws a halt that is raised elsewhere", async () => {
  const { store, lines } = await opened();
  store.dispatch(list("halts", haltStatus([haltOf()])));
  await expect.poll(() => lines()[1]).toContain("HALTED firm: manual");
});
