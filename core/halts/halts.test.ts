// The rule book of halts as a table: every way to ask, and what comes of it. The numbers are those of the invariants in halts.ts.
import { describe, expect, it } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import {
  type Asker,
  type HaltsInForce,
  haltsAbout,
  isDrill,
  judgeResume,
  type ResumeAsked,
  type ResumeVerdict,
  type ResumeWaiting,
  restartsAfter,
  strictest,
} from "./halts.ts";

const at = 1_000_000_000_000_000 as Instant;
const later = (at + 900_000_000) as Instant;
const since = "2026-01-02T00:00:00.000000Z";

const halt = (id: string, differs: Partial<ActiveHalt>): ActiveHalt =>
  ({
    severity: "FIRM_HALT",
    fund_id: "",
    reason: "r",
    requested_by: "x",
    halt_id: id,
    epoch: 1,
    since,
    ...differs,
  }) as ActiveHalt;
const firm = halt("firm", {});
const alpha = halt("alpha", { severity: "FUND_HALT", fund_id: "alpha" });
const alphaToo = halt("alpha-2", { severity: "FUND_HALT", fund_id: "alpha" });
const beta = halt("beta", { severity: "FUND_HALT", fund_id: "beta" });
const momentum = halt("momentum", { severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" });
const drill = halt("drill", { severity: "FUND_HALT", fund_id: "drill" });
const everything = [firm, alpha, alphaToo, beta, momentum, drill];
const idsOf = (halts: readonly ActiveHalt[]): readonly string[] => halts.map(({ halt_id: id }) => id);

const duty: Asker = { isPerson: true, isOperator: true, isRiskOfficer: false, actor: "operator:duty", subject: "1" };
const relief: Asker = {
  isPerson: true,
  isOperator: true,
  isRiskOfficer: false,
  actor: "operator:relief",
  subject: "2",
};
const plain: ResumeAsked = {
  by: duty,
  reason: "over",
  confirmation: "RESUME",
  hasCode: true,
  haltIds: [],
  rebase: false,
};
const officer: Asker = { ...duty, isRiskOfficer: true };
const anew: ResumeAsked = { ...plain, fundId: "alpha", rebase: true };
const strategyAnew: ResumeAsked = { ...plain, strategyId: "alpha-momentum", rebase: true };
const waiting: ResumeWaiting = {
  requestId: "r-1",
  haltIds: idsOf([firm, alpha]),
  reason: "over",
  rebase: true,
  requestedBy: "operator:duty",
  subject: "1",
  expiresAt: later,
};
const pair: HaltsInForce = { active: [firm, alpha, drill], named: waiting, pending: waiting };
const sign: ResumeAsked = { ...plain, by: relief, reason: "", requestId: "r-1" };

const codeOf = (verdict: ResumeVerdict): string => (verdict.kind === "refused" ? verdict.denial.code : verdict.kind);
const liftedBy = (verdict: ResumeVerdict): readonly string[] => (verdict.kind === "lift" ? idsOf(verdict.halts) : []);

describe("judgeResume", () => {
  const all = { active: everything };
  const named = (differs: Partial<ResumeWaiting>): HaltsInForce => ({ ...pair, named: { ...waiting, ...differs } });
  it.each<[string, string, ResumeAsked, HaltsInForce, Instant?]>([
    ["2 a machine", "RESUME_NOT_OPERATOR", { ...plain, by: { ...duty, isPerson: false } }, all],
    ["2 a person of another role", "RESUME_NOT_OPERATOR", { ...plain, by: { ...duty, isOperator: false } }, all],
    ["2 a machine that signs", "RESUME_NOT_OPERATOR", { ...sign, by: { ...relief, isPerson: false } }, pair],
    ["a forged co-signer", "RESUME_COSIGN_FORGED", { ...plain, fundId: "alpha", cosignedBy: "operator:relief" }, all],
    ["no word", "CONFIRMATION_WRONG", { ...plain, fundId: "alpha", confirmation: "" }, all],
    ["a wrong word", "CONFIRMATION_WRONG", { ...plain, fundId: "alpha", confirmation: "resume" }, all],
    ["no reason", "RESUME_REASON_MISSING", { ...plain, fundId: "alpha", reason: "" }, all],
    ["no reason for everything", "RESUME_REASON_MISSING", { ...plain, reason: "" }, all],
    ["3 a fund without halts of its own", "HALT_NOT_ACTIVE", { ...plain, fundId: "gamma" }, all],
    ["3 a strategy whose fund is halted", "HALT_NOT_ACTIVE", { ...plain, strategyId: "alpha-meanrev" }, all],
    ["7 the drill's fund", "HALT_NOT_ACTIVE", { ...plain, fundId: "drill" }, all],
    ["other halts than were shown", "RESUME_REQUEST_VOID", { ...plain, fundId: "alpha", haltIds: ["alpha"] }, all],
    ["nothing in force but a drill", "HALT_NOT_ACTIVE", plain, { active: [drill] }],
    ["5 everything, of which less was shown", "RESUME_REQUEST_VOID", { ...plain, haltIds: ["firm"] }, all],
    ["4 everything without a code", "RESUME_SECOND_FACTOR_MISSING", { ...plain, hasCode: false }, all],
    ["everything", "ask", plain, all],
    ["4 a request that nobody made", "RESUME_REQUEST_UNKNOWN", sign, { active: [firm] }],
    ["5 one that was signed", "RESUME_REQUEST_UNKNOWN", sign, named({ ended: { outcome: "lifted" } })],
    ["5 one that a newer took the place of", "RESUME_REQUEST_VOID", sign, named({ ended: { outcome: "replaced" } })],
    ["5 one that was void already", "RESUME_REQUEST_VOID", sign, named({ ended: { outcome: "void" } })],
    ["5 one that had expired already", "RESUME_REQUEST_EXPIRED", sign, named({ ended: { outcome: "expired" } })],
    ["4 the same person", "RESUME_COSIGN_SAME_PERSON", { ...sign, by: duty }, pair],
    [
      "4 the same person under another name",
      "RESUME_COSIGN_SAME_PERSON",
      { ...sign, by: { ...relief, subject: "1" } },
      pair,
    ],
    [
      "4 the same name of another issuer",
      "RESUME_COSIGN_SAME_PERSON",
      { ...sign, by: { ...duty, subject: "9" } },
      pair,
    ],
    ["5 too late", "RESUME_REQUEST_EXPIRED", sign, pair, later],
    ["5 a halt more", "RESUME_REQUEST_VOID", sign, { ...pair, active: [firm, alpha, beta] }],
    ["5 a halt less", "RESUME_REQUEST_VOID", sign, { ...pair, active: [firm] }],
    ["5 another halt", "RESUME_REQUEST_VOID", sign, { ...pair, active: [firm, alphaToo] }],
    ["4 signed without a code", "RESUME_SECOND_FACTOR_MISSING", { ...sign, hasCode: false }, pair],
    ["signed for a scope", "HALT_SCOPE_INVALID", { ...sign, fundId: "alpha" }, pair],
    ["4 signed by another person", "lift", sign, pair],
    ["8 a rebase by who is no risk officer", "RESUME_REBASE_NOT_RISK_OFFICER", anew, all],
    ["8 and without a code", "RESUME_REBASE_NOT_RISK_OFFICER", { ...anew, hasCode: false }, all],
    [
      "8 a risk officer who is no operator",
      "RESUME_NOT_OPERATOR",
      { ...anew, by: { ...officer, isOperator: false } },
      all,
    ],
    ["8 a rebase without a code", "STEP_UP_REQUIRED", { ...anew, by: officer, hasCode: false }, all],
    ["8 a strategy's, without a code", "STEP_UP_REQUIRED", { ...strategyAnew, by: officer, hasCode: false }, all],
    ["8 where nothing is halted", "HALT_NOT_ACTIVE", { ...anew, fundId: "gamma", hasCode: false }, all],
    ["8 other halts than were shown", "RESUME_REQUEST_VOID", { ...anew, haltIds: ["alpha"], hasCode: false }, all],
    ["8 a rebase by a risk officer with a code", "lift", { ...anew, by: officer }, all],
    ["8 of everything, which two people sign", "ask", { ...plain, rebase: true }, all],
    ["its own name as co-signer", "lift", { ...plain, fundId: "alpha", cosignedBy: "operator:duty" }, all],
  ])("%s: %s", (_name, end, asked, inForce, moment = at) => {
    expect(codeOf(judgeResume(asked, inForce, moment))).toBe(end);
  });

  it("3 lifts all halts of exactly that scope and level, and none of another", () => {
    expect(liftedBy(judgeResume({ ...plain, fundId: "alpha" }, { active: everything }, at))).toEqual([
      "alpha",
      "alpha-2",
    ]);
    const strategy = { ...plain, strategyId: "alpha-momentum" };
    expect(liftedBy(judgeResume(strategy, { active: everything }, at))).toEqual(["momentum"]);
    expect(liftedBy(judgeResume({ ...strategy, fundId: "beta" }, { active: everything }, at))).toEqual([]);
  });

  it("8 a rebase of one scope asks for a code, and a resume that keeps the baseline for none", () => {
    expect(judgeResume({ ...anew, by: officer }, all, at)).toMatchObject({ needsCode: true, rebase: true });
    expect(judgeResume({ ...anew, rebase: false, hasCode: false }, all, at)).toMatchObject({
      kind: "lift",
      needsCode: false,
      rebase: false,
    });
  });

  it("4 lifts everything under the request's reason and both names, and ends the request", () => {
    expect(judgeResume(sign, pair, at)).toMatchObject({
      kind: "lift",
      needsCode: true,
      reason: "over",
      rebase: true,
      requestedBy: "operator:duty",
      cosignedBy: "operator:relief",
      ends: { requestId: "r-1", outcome: "lifted" },
    });
    expect(liftedBy(judgeResume(sign, pair, at))).toEqual(["firm", "alpha"]);
  });

  it("5 ends what a change, its time or a newer request has overtaken, and nothing else", () => {
    const endOf = (asked: ResumeAsked, inForce: HaltsInForce, moment = at) => judgeResume(asked, inForce, moment).ends;
    expect(endOf(sign, { ...pair, active: [firm] })).toMatchObject({ outcome: "void" });
    expect(endOf(sign, pair, later)).toMatchObject({ outcome: "expired" });
    expect(endOf(plain, pair)).toMatchObject({ requestId: "r-1", outcome: "replaced" });
    expect(endOf({ ...plain, fundId: "alpha" }, pair)).toMatchObject({ requestId: "r-1", outcome: "void" });
    expect(endOf({ ...sign, by: duty }, pair)).toBeUndefined();
    expect(endOf({ ...sign, hasCode: false }, pair)).toBeUndefined();
    expect(endOf({ ...plain, hasCode: false }, pair)).toBeUndefined();
  });

  it("6 asks for a code only where one is needed", () => {
    expect(judgeResume({ ...plain, fundId: "alpha", hasCode: false }, pair, at)).toMatchObject({ needsCode: false });
    expect(judgeResume(plain, pair, at)).toMatchObject({ kind: "ask", needsCode: true });
  });
});

describe("who is covered", () => {
  it("3 the strictest level wins", () => {
    expect(strictest([momentum, firm, alpha])).toBe("FIRM_HALT");
    expect(strictest([momentum, alpha])).toBe("FUND_HALT");
    expect(strictest([])).toBeUndefined();
  });

  it("a fund is told the firm's, its own and its strategies', a strategy what covers it", () => {
    expect(idsOf(haltsAbout(everything, { fundId: "alpha" }))).toEqual(["firm", "alpha", "alpha-2", "momentum"]);
    const meanrev = { fundId: "alpha", strategyId: "alpha-meanrev" };
    expect(idsOf(haltsAbout(everything, meanrev))).toEqual(["firm", "alpha", "alpha-2"]);
    expect(idsOf(haltsAbout(everything, "everything"))).not.toContain("drill");
    expect(everything.filter(isDrill)).toEqual([drill]);
  });

  it("what restarts is what was covered by a lifted one and by none that stays", () => {
    const strategies = [
      { fundId: "alpha", strategyId: "alpha-momentum" },
      { fundId: "alpha", strategyId: "alpha-meanrev" },
      { fundId: "beta", strategyId: "beta-trend" },
    ];
    expect(restartsAfter([alpha], [alpha, momentum], strategies)).toEqual(["alpha-meanrev"]);
    expect(restartsAfter([alpha], [alpha, alphaToo], strategies)).toEqual([]);
    expect(restartsAfter([momentum], [momentum, firm], strategies)).toEqual([]);
    expect(restartsAfter([firm, alpha], [firm, alpha, drill], strategies)).toEqual([
      ...["alpha-momentum", "alpha-meanrev", "beta-trend"],
    ]);
  });
});
