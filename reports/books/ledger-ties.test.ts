// A cent that is wrong anywhere in the books is said: in a value, a trade, a price or quantity that was valued, or one side of one ledger entry.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { reportFactsOf } from "../../testkit/report-facts.ts";
import { isReconciled } from "../document.ts";
import type { ReportFacts } from "../facts.ts";
import { navReport } from "../nav-report.ts";
import { ledgerTies } from "./ledger-ties.ts";

const facts = reportFactsOf({ days: 30, tradesEvery: 4, deposit: "1000" });
const more = (text: string): string => decimal.format(decimal.add(decimal.parse(text), decimal.parse("0.01")));
const [start, end] = [facts.navs[1]?.day ?? "", facts.navs.at(-1)?.day ?? ""];

function isWhole(changed: ReportFacts): boolean {
  return isReconciled(navReport.build({ facts: changed, factsSha256: "0".repeat(64), start, end }));
}

type Change = (copy: ReportFacts) => void;
const last = <Row>(rows: readonly Row[]): Row => {
  const found = rows.at(-1);
  if (found === undefined) throw new Error("there is none");
  return found;
};
const changes: readonly (readonly [string, Change])[] = [
  ["a value", ({ navs }) => Object.assign(last(navs), { nav: more(last(navs).nav) })],
  ["the cash of a value", ({ navs }) => Object.assign(last(navs), { cash: more(last(navs).cash) })],
  ["the flows of a value", ({ navs }) => Object.assign(last(navs), { net_flows: more(last(navs).net_flows) })],
  [
    "a quantity that was valued",
    ({ navs }) => {
      const [line] = Object.values(last(navs).prices ?? {});
      Object.assign(line ?? {}, { quantity: more(line?.quantity ?? "0") });
    },
  ],
  [
    "a price that was valued",
    ({ navs }) => {
      const [line] = Object.values(last(navs).prices ?? {});
      Object.assign(line ?? {}, { price: more(line?.price ?? "0") });
    },
  ],
  ["a trade's price", ({ fills }) => Object.assign(last(fills), { price: more(last(fills).price) })],
  ["a trade's quantity", ({ fills }) => Object.assign(last(fills), { quantity: more(last(fills).quantity) })],
  ["a trade's fee", ({ fills }) => Object.assign(last(fills), { fee: more(last(fills).fee ?? "0") })],
  ...[0, 1].map((side): readonly [string, Change] => [
    `side ${side} of a ledger entry`,
    ({ ledger }) => {
      const posting = last(ledger).postings[side];
      Object.assign(posting ?? {}, { amount: more(posting?.amount ?? "0") });
    },
  ]),
];

describe("a cent more", () => {
  it("ties without one", () => expect(isWhole(facts)).toBe(true));
  it.each(changes)("in %s is said", (_where, change) => {
    const copy = structuredClone(facts);
    change(copy);
    expect(isWhole(copy)).toBe(false);
  });
});

describe("the ledger by itself", () => {
  const fill = { ...last(facts.fills), fill_id: "f-1", fee: "0.35" };
  const cost = decimal.parse("100.02");
  const entry = (cash: string, other: string): ReportFacts["ledger"][number] => ({
    entry_id: "fill:f-1",
    kind: "FILL",
    at: last(facts.ledger).at,
    symbol: fill.symbol,
    postings: [
      { account: "cash", currency: "USD", amount: cash },
      { account: `position:${fill.symbol}`, currency: "USD", amount: other },
    ],
  });
  const differences = (row: ReportFacts["ledger"][number], kind = "TRADE") =>
    ledgerTies({ ...facts, fills: [{ ...fill, kind: kind as "TRADE" }], ledger: [row] }, () => cost).map(
      ({ difference }) => difference,
    );

  it("ties an entry that balances and moved what its trade cost", () =>
    expect(differences(entry("-100.37", "100.37"))).toEqual(["0", "0"]));
  it("says an entry that balances and moved something else", () =>
    expect(differences(entry("-100.38", "100.38"))).toEqual(["0", "-0.01"]));
  it("says an entry whose sides differ, also where its trade ties", () =>
    expect(differences(entry("-100.37", "100.38"))).toEqual(["0.01", "0"]));
  it("does not let two entries, or two currencies, balance each other", () => {
    const [one, other] = [entry("1", "0"), { ...entry("-1", "0"), entry_id: "other" }];
    const [sides] = ledgerTies({ ...facts, fills: [], ledger: [one, other] }, () => cost);
    expect(sides).toMatchObject({ name: expect.stringContaining("2 of 2 differ"), difference: "-1" });
    const mixed = {
      ...one,
      postings: one.postings.map((posting, at) => ({ ...posting, currency: ["USD", "EUR"][at] ?? "" })),
    };
    expect(ledgerTies({ ...facts, fills: [], ledger: [mixed] }, () => cost)[0]?.difference).toBe("1");
  });
  it("holds no cost against what is not a trade", () => expect(differences(entry("0", "0"), "SEED")).toEqual(["0"]));
});
