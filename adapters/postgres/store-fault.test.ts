// What the driver throws is judged by the condition's code, never by words that the server translates.
import { describe, expect, it } from "vitest";
import { isDefinite, isDefiniteCommit, storeFault } from "./store-fault.ts";

function serverError(code: string, severity: string): Error {
  return Object.assign(new Error("Nachricht in der Sprache des Servers"), { code, severity });
}

describe("a server that speaks another language", () => {
  it.each(["ERROR", "FEHLER", "ERREUR", "エラー"])("is understood when its severity is %s", (severity) => {
    expect(isDefinite(serverError("23505", severity))).toBe(true);
    expect(storeFault(serverError("40001", severity), "x")).toMatchObject({ code: "STORE_CONFLICT", retry: "now" });
    expect(storeFault(serverError("42501", severity), "x")).toMatchObject({ code: "STORE_FORBIDDEN" });
    expect(isDefinite(serverError("57P01", severity))).toBe(false);
    expect(storeFault(serverError("57P01", severity), "x")).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("isDefinite", () => {
  it.each(["08006", "08P01", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04"])("%s leaves doubt", (code) => {
    expect(isDefinite(serverError(code, "FATAL"))).toBe(false);
  });

  it("a driver's error leaves doubt, also one whose code looks like the server's", () => {
    expect(isDefinite(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))).toBe(false);
    expect(isDefinite(new Error("Query read timeout"))).toBe(false);
  });

  it("at COMMIT a server in trouble leaves doubt although it answered", () => {
    for (const code of ["53100", "58030", "XX000", "57014"]) {
      expect(isDefinite(serverError(code, "PANIK"))).toBe(true);
      expect(isDefiniteCommit(serverError(code, "PANIK"))).toBe(false);
    }
    for (const code of ["40001", "23503"]) expect(isDefiniteCommit(serverError(code, "FEHLER"))).toBe(true);
  });

  it("a login that is refused is a store that cannot be reached, not a broken request", () => {
    expect(storeFault(serverError("28P01", "FATAL"), "x")).toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
