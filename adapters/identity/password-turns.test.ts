// Whose password is looked at next: whoever tried least, whatever others try, with work and rests that the test ends.
import { describe, expect, it } from "vitest";
import { createPasswordTurns, type PasswordTurnsLimits } from "./password-turns.ts";

function fixture(limits: Partial<PasswordTurnsLimits> = {}) {
  const rests: (() => void)[] = [];
  const after = (_ms: number, run: () => void) => {
    rests.push(run);
    return () => undefined;
  };
  const usual = { runningMax: 1, waitingMax: 1_024, waitingPerAddressMax: 16, restMs: 90 };
  const { inTurn, wasRight } = createPasswordTurns({ after }, { ...usual, ...limits });
  const said: string[] = [];
  const attempt = (from: string): void => {
    void inTurn(async () => void said.push(from), from).catch(({ code }: { code: string }) =>
      said.push(`${from} ${code}`),
    );
  };
  const settle = async (): Promise<void> => {
    for (let step = 0; step < 10; step += 1) await Promise.resolve();
  };
  /** The next one begins, and ends. */
  const next = async (): Promise<void> => {
    rests.shift()?.();
    await settle();
  };
  return { attempt, next, settle, said, wasRight };
}

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `198.51.100.${at}`);

describe("turns of passwords", () => {
  it("go to the address that tried least, also where hundreds try at once", async () => {
    const { attempt, next, settle, said } = fixture();
    for (const from of many(250)) attempt(from);
    for (const from of many(250)) attempt(from);
    attempt("192.0.2.1");
    await settle();
    await next();
    expect(said).toEqual(["198.51.100.0", "192.0.2.1"]);
  });

  it("go first to addresses from where somebody logged in, however often they did", async () => {
    const { attempt, next, settle, said, wasRight } = fixture();
    for (let at = 0; at < 12; at += 1) {
      attempt("office");
      wasRight("office");
      await settle();
      await next();
    }
    for (const from of many(250)) attempt(from);
    attempt("office");
    await settle();
    await next();
    await next();
    expect(said.slice(12)).toContain("office");
    expect(said.slice(12).length).toBeLessThanOrEqual(3);
  });

  it("are that of whoever waits longest every fourth time", async () => {
    const { attempt, next, settle, said } = fixture();
    for (let at = 0; at < 3; at += 1) attempt("mistyped");
    for (const from of many(40)) attempt(from);
    await settle();
    for (let at = 0; at < 8; at += 1) await next();
    expect(said.filter((from) => from === "mistyped")).toHaveLength(2);
  });

  it("refuse an address what is more than its own places, and nobody else for it", async () => {
    const { attempt, next, settle, said } = fixture({ waitingPerAddressMax: 2 });
    for (let at = 0; at < 5; at += 1) attempt("flood");
    attempt("ada");
    await settle();
    for (let at = 0; at < 4; at += 1) await next();
    expect(said.filter((line) => line.includes(" "))).toEqual(["flood RESOURCE_EXHAUSTED", "flood RESOURCE_EXHAUSTED"]);
    expect(said.filter((line) => !line.includes(" "))).toEqual(["flood", "ada", "flood", "flood"]);
  });

  it("send away whoever tried most when no place is left", async () => {
    const { attempt, next, settle, said } = fixture({ waitingMax: 4 });
    for (let at = 0; at < 3; at += 1) attempt("flood");
    for (const from of ["ada", "eve"]) attempt(from);
    attempt("honest");
    await settle();
    expect(said.toSorted()).toEqual(["flood", "flood RESOURCE_EXHAUSTED"]);
    attempt("flood");
    await settle();
    expect(said.filter((line) => line.includes(" "))).toHaveLength(2);
    for (let at = 0; at < 4; at += 1) await next();
    expect(said.filter((line) => !line.includes(" "))).toEqual(["flood", "ada", "eve", "honest", "flood"]);
  });

  it("forget what was tried long ago", async () => {
    const { attempt, next, settle, said } = fixture();
    for (let at = 0; at < 8; at += 1) {
      attempt("ada");
      await settle();
      await next();
    }
    for (let at = 0; at < 2_100; at += 1) {
      attempt(`x${at % 700}`);
      await settle();
      await next();
    }
    for (const from of ["x1", "x2", "x2", "ada"]) attempt(from);
    await settle();
    await next();
    expect(said.slice(-2)).toEqual(["x1", "ada"]);
  });
});
