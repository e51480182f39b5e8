// What a terminal sends is decoded to letters, keys and pastes; nothing inside a paste is ever a key.
import { describe, expect, it } from "vitest";
import { createKeyDecoder } from "./keys.ts";

const none = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageUp: false,
  pageDown: false,
  return: false,
  escape: false,
  ctrl: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
};

const letters = (text: string) => [...text].map((letter) => ({ kind: "letter", letter }));

describe("keys", () => {
  it("takes a fast typist's chunk apart, Enter at its end included", () => {
    const { decode } = createKeyDecoder();
    expect(decode("HALT", none)).toEqual(letters("HALT"));
    expect(decode("ok\r", none)).toEqual([...letters("ok"), { kind: "key", key: "enter" }]);
  });

  it("gives a bracketed paste as a whole, with no key in it", () => {
    const { decode } = createKeyDecoder();
    expect(decode("[200~", none)).toEqual([]);
    expect(decode("HALT", none)).toEqual([]);
    expect(decode("\r", { ...none, return: true })).toEqual([]);
    expect(decode("c", { ...none, ctrl: true })).toEqual([]);
    expect(decode("[201~", none)).toEqual([{ kind: "paste", text: "HALT\nc" }]);
    expect(decode("q", none)).toEqual(letters("q"));
  });

  it("never loses an Esc that was read together with the next key", () => {
    const { decode } = createKeyDecoder();
    const esc = { kind: "key", key: "escape" };
    expect(decode("u", { ...none, meta: true })).toEqual([esc, ...letters("u")]);
    expect(decode("", { ...none, return: true, meta: true })).toEqual([esc, { kind: "key", key: "enter" }]);
  });

  it("names what has a name, and ignores keys that nobody knows", () => {
    const { decode } = createKeyDecoder();
    expect(decode("", { ...none, pageDown: true })).toEqual([{ kind: "key", key: "pageDown" }]);
    expect(decode("c", { ...none, ctrl: true })).toEqual([{ kind: "key", key: "interrupt" }]);
    expect(decode("z", { ...none, ctrl: true })).toEqual([{ kind: "key", key: "suspend" }]);
    expect(decode("", { ...none, escape: true, meta: true })).toEqual([{ kind: "key", key: "escape" }]);
    expect(decode("[25~", none)).toEqual([]);
    expect(decode("\u0001", none)).toEqual([]);
  });
});
