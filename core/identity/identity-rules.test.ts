// The rules of people and signatures: each by itself, and over random histories against a model that remembers who did what.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromMicroseconds, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  changeNeedsTwo,
  identityRequestMs,
  isActiveAdmin,
  judgeAdmin,
  judgeChange,
  judgeCosign,
  judgeLocalAdmin,
  type KnownPerson,
  type PersonChange,
  personRoles,
  tokenNeedsTwo,
  type WaitingRequest,
} from "./identity-rules.ts";

const start = fromMicroseconds(1_800_000_000_000_000);
const caller = (name: string) => ({ name, actor: `operator:${name}`, subject: `i|${name}` });
const person = (name: string, more: Partial<KnownPerson> = {}): KnownPerson => ({
  name,
  roles: ["admin"],
  isDisabled: false,
  isDevelopment: false,
  ...more,
});
const requestOf = (name: string, more: Partial<WaitingRequest> = {}): WaitingRequest => ({
  requestId: "r",
  requestedBy: `operator:${name}`,
  subject: `i|${name}`,
  expiresAt: plusMilliseconds(start, 1_000),
  ...more,
});
const anna = person("anna");
const bert = person("bert");

describe("a change", () => {
  it.each<[string, PersonChange, readonly KnownPerson[], string]>([
    ["a role that is none", { kind: "add", name: "c", roles: ["root"] }, [anna], "OPERATOR_ROLE_UNKNOWN"],
    ["a machine's role", { kind: "roles", name: "bert", roles: ["service"] }, [anna, bert], "OPERATOR_ROLE_UNKNOWN"],
    ["no role", { kind: "add", name: "c", roles: [] }, [anna], "OPERATOR_ROLE_UNKNOWN"],
    ["a role twice", { kind: "add", name: "c", roles: ["viewer", "viewer"] }, [anna], "OPERATOR_ROLE_UNKNOWN"],
    ["a name with two dots", { kind: "add", name: "c..d", roles: ["viewer"] }, [anna], "OPERATOR_NAME_INVALID"],
    ["a name that ends with a dot", { kind: "add", name: "carl.", roles: ["viewer"] }, [anna], "OPERATOR_NAME_INVALID"],
    ["a name that is taken", { kind: "add", name: "bert", roles: ["viewer"] }, [anna, bert], "OPERATOR_EXISTS"],
    ["nobody", { kind: "disable", name: "carl" }, [anna], "OPERATOR_UNKNOWN"],
    ["the last admin, disabled", { kind: "disable", name: "anna" }, [anna], "OPERATOR_LAST_ADMIN"],
    [
      "the last admin beside a disabled one",
      { kind: "disable", name: "anna" },
      [anna, person("bert", { isDisabled: true })],
      "OPERATOR_LAST_ADMIN",
    ],
    [
      "the last admin, made a viewer",
      { kind: "roles", name: "anna", roles: ["viewer"] },
      [anna],
      "OPERATOR_LAST_ADMIN",
    ],
    [
      "somebody who is disabled",
      { kind: "reset factor", name: "bert" },
      [anna, person("bert", { isDisabled: true })],
      "OPERATOR_DISABLED",
    ],
    [
      "a development operator",
      { kind: "roles", name: "duty", roles: ["viewer"] },
      [anna, person("duty", { isDevelopment: true })],
      "OPERATOR_DEVELOPMENT",
    ],
  ])("is refused for %s", (_name, change, people, code) => {
    expect(judgeChange(change, people)).toMatchObject({ code, reason: expect.stringMatching(/\.$/) });
  });

  it("names the roles that there are", () => {
    const denial = judgeChange({ kind: "add", name: "c", roles: ["root"] }, [anna]);
    for (const role of personRoles) expect(denial?.reason).toContain(role);
    expect(personRoles).not.toContain("service");
  });

  it.each<[string, PersonChange, readonly KnownPerson[]]>([
    [
      "a disabled person whose name is of before",
      { kind: "add", name: "carl.", roles: ["viewer"] },
      [anna, { ...bert, name: "carl.", isDisabled: true }],
    ],
    ["a new person", { kind: "add", name: "c", roles: ["viewer", "admin"] }, [anna]],
    [
      "somebody who was disabled",
      { kind: "add", name: "b", roles: ["viewer"] },
      [anna, person("b", { isDisabled: true })],
    ],
    ["one admin of two", { kind: "disable", name: "bert" }, [anna, bert]],
    ["a development operator locked out", { kind: "disable", name: "d" }, [anna, person("d", { isDevelopment: true })]],
    ["the last admin's factor", { kind: "reset factor", name: "anna" }, [anna]],
    ["the last admin's other roles", { kind: "roles", name: "anna", roles: ["admin", "viewer"] }, [anna]],
  ])("is allowed for %s", (_name, change, people) => {
    expect(judgeChange(change, people)).toBeUndefined();
  });

  it("of people whom another issuer keeps is refused with what to do, but for the second factor", () => {
    const disabling = judgeChange({ kind: "disable", name: "x" }, "external");
    expect(disabling).toMatchObject({
      code: "OPERATORS_EXTERNAL",
      reason: expect.stringContaining("revoke-sessions x"),
    });
    expect(judgeChange({ kind: "reset factor", name: "x" }, "external")).toBeUndefined();
  });

  it("takes two in production, but for locking out; so do tokens that change something", () => {
    const kinds = ["add", "roles", "reset factor", "disable"] as const;
    expect(kinds.map((kind) => changeNeedsTwo(kind, true))).toEqual([true, true, true, false]);
    expect(kinds.some((kind) => changeNeedsTwo(kind, false))).toBe(false);
    for (const name of ["CheckOrder", "SubmitOrder", "RequestHalt", "AdjustPosition", "AppendAudit"] as const) {
      expect(tokenNeedsTwo(["GetEnvelope", name], true), name).toBe(true);
      expect(tokenNeedsTwo([name], false)).toBe(false);
    }
    expect(tokenNeedsTwo(["GetEnvelope", "ReadMetrics"], true)).toBe(false);
  });
});

describe("a signature", () => {
  const disabled = (name: string) => person(name, { isDisabled: true });
  it.each<[string, WaitingRequest | undefined, string, readonly KnownPerson[], string, string | undefined]>([
    ["no request", undefined, "bert", [anna, bert], "IDENTITY_REQUEST_UNKNOWN", undefined],
    ["the same person", requestOf("anna"), "anna", [anna, bert], "IDENTITY_SAME_PERSON", undefined],
    [
      "the same name at another issuer",
      requestOf("anna", { subject: "other|anna" }),
      "anna",
      [anna, bert],
      "IDENTITY_SAME_PERSON",
      undefined,
    ],
    [
      "one too late",
      requestOf("anna", { expiresAt: start }),
      "bert",
      [anna, bert],
      "IDENTITY_REQUEST_EXPIRED",
      "expired",
    ],
    [
      "one that was signed",
      requestOf("anna", { ended: { outcome: "signed" } }),
      "bert",
      [anna, bert],
      "IDENTITY_REQUEST_VOID",
      undefined,
    ],
    ["a disabled signer", requestOf("anna"), "bert", [anna, disabled("bert")], "OPERATOR_DISABLED", undefined],
    ["a signer who is gone", requestOf("anna"), "bert", [anna], "OPERATOR_UNKNOWN", undefined],
    [
      "a signer who is no admin any more",
      requestOf("anna"),
      "bert",
      [anna, person("bert", { roles: ["viewer"] })],
      "OPERATOR_NOT_ADMIN",
      undefined,
    ],
    [
      "a requester who is disabled",
      requestOf("anna"),
      "bert",
      [disabled("anna"), bert],
      "IDENTITY_REQUEST_VOID",
      "void",
    ],
  ])("is refused for %s", (_name, request, by, people, code, ends) => {
    const verdict = judgeCosign(request, caller(by), people, start);
    expect(verdict.denial).toMatchObject({ code, reason: expect.stringMatching(/\.$/) });
    expect(verdict.ends).toBe(ends);
  });

  it("of another admin opens it", () => {
    expect(judgeCosign(requestOf("anna"), caller("bert"), [anna, bert], start)).toEqual({});
    expect(judgeCosign(requestOf("anna"), caller("bert"), "external", start)).toEqual({});
  });
});

describe("the local command", () => {
  it("makes the first two, and one again when fewer than two others can sign", () => {
    expect(judgeLocalAdmin("anna", [])).toBeUndefined();
    expect(judgeLocalAdmin("anna.", [])).toMatchObject({ code: "OPERATOR_NAME_INVALID" });
    expect(judgeLocalAdmin("bert", [anna])).toBeUndefined();
    expect(judgeLocalAdmin("carl", [anna, bert])).toMatchObject({ reason: expect.stringContaining("anna, bert") });
    expect(judgeLocalAdmin("bert", [anna, bert]), "whose authenticator is lost").toBeUndefined();
    expect(judgeLocalAdmin("carl", [anna, person("bert", { isDisabled: true })])).toBeUndefined();
    expect(judgeLocalAdmin("carl", [anna, person("duty", { isDevelopment: true })])).toBeUndefined();
    expect(judgeLocalAdmin("duty", [person("duty", { isDevelopment: true })])).toMatchObject({
      code: "OPERATOR_DEVELOPMENT",
    });
  });
});

const names = ["anna", "bert", "carl", "dora"] as const;
type Step =
  | { readonly do: "ask"; readonly by: string; readonly change: PersonChange }
  | { readonly do: "sign"; readonly by: string; readonly which: number }
  | { readonly do: "wait"; readonly ms: number };

const someone = fc.constantFrom(...names);
/** Mostly those who begin as admins, so that something happens. */
const someCaller = fc.constantFrom("anna", "anna", "bert", "bert", "carl", "dora");
const someRoles = fc.constantFrom<readonly string[]>(["admin"], ["viewer"], ["operator", "admin"], ["root"]);
const change: fc.Arbitrary<PersonChange> = fc.oneof(
  fc.record({ kind: fc.constantFrom("add" as const, "roles" as const), name: someone, roles: someRoles }),
  fc.record({ kind: fc.constantFrom("disable" as const, "reset factor" as const), name: someone }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("ask" as const), by: someCaller, change }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("sign" as const), by: someCaller, which: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: identityRequestMs * 2 }) }),
  },
);

interface Done {
  readonly change: PersonChange;
  readonly signers: readonly string[];
  /** Who was an admin right before it. */
  readonly admins: readonly string[];
}

/** The shell in memory: exactly what the rules allow is done. */
function play(steps: readonly Step[], isProduction: boolean): { done: Done[]; people: KnownPerson[][] } {
  let people: KnownPerson[] = [anna, bert];
  let at: Instant = start;
  const requests: (Omit<WaitingRequest, "ended"> & { change: PersonChange; ended?: WaitingRequest["ended"] })[] = [];
  const done: Done[] = [];
  const seen = [people];
  const carryOut = (what: PersonChange, signers: readonly string[]): void => {
    done.push({ change: what, signers, admins: people.filter(isActiveAdmin).map(({ name }) => name) });
    const rest = people.filter(({ name }) => name !== what.name);
    const before = people.find(({ name }) => name === what.name) ?? person(what.name);
    if ("roles" in what) people = [...rest, { ...before, roles: what.roles, isDisabled: false }];
    if (what.kind === "disable") people = [...rest, { ...before, isDisabled: true }];
    for (const request of requests) {
      if (request.requestedBy === `operator:${what.name}` && what.kind !== "add") request.ended ??= { outcome: "void" };
    }
    seen.push(people);
  };
  for (const one of steps) {
    if (one.do === "wait") at = plusMilliseconds(at, one.ms);
    else if (one.do === "ask") {
      if ((judgeAdmin(caller(one.by), people) ?? judgeChange(one.change, people)) !== undefined) continue;
      if (!changeNeedsTwo(one.change.kind, isProduction)) carryOut(one.change, [one.by]);
      else
        requests.push({ ...requestOf(one.by), expiresAt: plusMilliseconds(at, identityRequestMs), change: one.change });
    } else {
      const request = requests.at(-1 - one.which);
      const verdict = judgeCosign(request, caller(one.by), people, at);
      if (request === undefined) continue;
      if (verdict.ends !== undefined) request.ended = { outcome: verdict.ends };
      if (verdict.denial !== undefined || judgeChange(request.change, people) !== undefined) continue;
      request.ended = { outcome: "signed" };
      carryOut(request.change, [request.requestedBy.slice(9), one.by]);
    }
  }
  return { done, people: seen };
}

describe("over random histories", () => {
  const run = { seed: 20_261_118, numRuns: inputCount(2_000) };
  const histories = fc.array(step, { maxLength: 40 });
  /** A property over histories in which nothing happens proves nothing. */
  const counted = { signed: 0, disabled: 0, lastAdmin: 0 };

  it("in production somebody is always an admin, and power is made by two people who are", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const { done, people } = play(steps, true);
        for (const everybody of people) expect(everybody.some(isActiveAdmin)).toBe(true);
        for (const { change: what, signers, admins } of done) {
          expect(new Set(signers).size).toBe(what.kind === "disable" ? 1 : 2);
          for (const name of signers) expect(admins).toContain(name);
          if (what.kind === "disable") counted.disabled += 1;
          else counted.signed += 1;
        }
        if (people.at(-1)?.filter(isActiveAdmin).length === 1) counted.lastAdmin += 1;
      }),
      run,
    );
    expect(Math.min(...Object.values(counted))).toBeGreaterThan(run.numRuns / 40);
  });

  it("outside production one admin is enough, and somebody is always one", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const { done, people } = play(steps, false);
        for (const everybody of people) expect(everybody.some(isActiveAdmin)).toBe(true);
        for (const { signers, admins } of done) {
          expect(signers).toHaveLength(1);
          expect(admins).toContain(signers[0]);
        }
      }),
      { ...run, numRuns: inputCount(500) },
    );
  });
});
