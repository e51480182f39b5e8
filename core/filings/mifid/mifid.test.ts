// What a trade becomes in a transaction report, what is put aside, and the document that is made of the records.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { format, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { FiledDetails, FiledOrder, MifidSettings } from "../../../contracts/src/records/filing.ts";
import type { FileToSeal } from "../regime.ts";
import type { KnownInstrument, OrderMaker, RegimeRecord, RegulatoryEvent } from "../regulatory-event.ts";
import { type Content, transactionMistakes } from "./forms.ts";
import { isIsin, isLei } from "./identifiers.ts";
import { mifid } from "./mifid-regime.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const at = parse("2026-11-13T14:30:00.000001Z");
const lei = "5493001KJTIIGC8Y1R12";
const fundLei = "529900T8BM49AURSDO55";

const settings: MifidSettings = {
  lei,
  submitterLei: lei,
  fundLei,
  country: "FR",
  venues: { paper: { mic: "XNAS" }, dealer: { mic: "XOFF", counterparty_lei: "7LTWFZYICNSX8D621K86" } },
};
const order: FiledOrder = {
  order_id: "o-1",
  fund_id: "alpha",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
};
const strategy: OrderMaker = { strategyId: "alpha-momentum", isClaimed: false };
const apple: KnownInstrument = { isin: "US0378331005", currency: "USD" };

interface Differs {
  readonly event?: Partial<Omit<RegulatoryEvent, "order">>;
  readonly order?: Partial<FiledOrder>;
  readonly details?: FiledDetails;
  readonly settings?: Partial<MifidSettings>;
  readonly instrument?: KnownInstrument | undefined;
  readonly hasTrade?: boolean;
  readonly strategies?: readonly string[];
}

function made(differs: Differs = {}): RegimeRecord {
  const details = { fill_id: "f-1", quantity: "100.50", price: "190.250", ...differs.details };
  const base = { type: "fill" as const, at, details, key: "k", maker: strategy };
  return mifid.record(
    { ...base, ...differs.event, order: { ...order, ...differs.order } },
    {
      fund: { mifid: { ...settings, ...differs.settings } },
      known: { hasTrade: differs.hasTrade },
      instrument: "instrument" in differs ? differs.instrument : apple,
      strategies: differs.strategies ?? ["alpha-momentum"],
      sha256,
    },
  );
}

function lineOf(record: RegimeRecord): string {
  if (record.status !== "WRITTEN") throw new Error(JSON.stringify(record));
  return record.line;
}

const report = (differs?: Differs) => (JSON.parse(lineOf(made(differs))) as { New: Record<string, Content> }).New;
const why = (record: RegimeRecord): readonly string[] =>
  record.status === "QUARANTINED" ? record.mistakes.map(({ code, field = "" }) => `${code} ${field}`.trim()) : [];

const file: FileToSeal = {
  fund: { mifid: settings },
  group: "alpha",
  date: "2026-11-13",
  number: 1,
  records: 1,
  sealedAt: parse("2026-11-16T06:00:00.000000Z"),
  receiver: "FR",
};

describe("a trade", () => {
  it("is a new report with every element in its place, and numbers as they were written", () => {
    const record = made();
    expect(record).toMatchObject({ status: "WRITTEN", type: "New" });
    expect(report()).toEqual({
      TxId: expect.stringMatching(/^[A-Z2-7]{52}$/),
      ExctgPty: lei,
      InvstmtPtyInd: "true",
      SubmitgPty: lei,
      Buyr: { AcctOwnr: { Id: { LEI: fundLei }, CtryOfBrnch: "FR" }, DcsnMakr: { LEI: lei } },
      Sellr: { AcctOwnr: { Id: { MIC: "XNAS" } } },
      OrdrTrnsmssn: { TrnsmssnInd: "false" },
      Tx: {
        TradDt: "2026-11-13T14:30:00.000001Z",
        TradgCpcty: "AOTC",
        Qty: { Unit: "100.5" },
        Pric: { Pric: { MntryVal: { Amt: { "@Ccy": "USD", "#": "190.25" } } } },
        TradVn: "XNAS",
        CtryOfBrnch: "FR",
      },
      FinInstrm: { Id: "US0378331005" },
      InvstmtDcsnPrsn: { Algo: "ALPHAMOMENTUM" },
      ExctgPrsn: { Algo: "ALPHAMOMENTUM" },
      AddtlAttrbts: { SctiesFincgTxInd: "false" },
    });
    expect(made()).toEqual(record);
  });

  it("of a sale changes sides, and says whether it was short", () => {
    const sold = report({ order: { side: "SELL_SHORT", broker: "dealer" } });
    expect(sold["Sellr"]).toMatchObject({ AcctOwnr: { Id: { LEI: fundLei } }, DcsnMakr: { LEI: lei } });
    expect(sold["Buyr"]).toEqual({ AcctOwnr: { Id: { LEI: "7LTWFZYICNSX8D621K86" } } });
    expect(sold["AddtlAttrbts"]).toEqual({ ShrtSellgInd: "SESH", SctiesFincgTxInd: "false" });
    expect(report({ order: { side: "SELL" } })["AddtlAttrbts"]).toMatchObject({ ShrtSellgInd: "SELL" });
  });

  it("of the firm's own account has nobody who decides for it", () => {
    expect(report({ settings: { fundLei: lei } })["Buyr"]).toEqual({ AcctOwnr: { Id: { LEI: lei } } });
  });

  it("names the operator who gave the order, and says what is a claim", () => {
    const maker = { strategyId: "alpha-momentum", operator: "duty", isClaimed: true };
    const line = lineOf(made({ event: { maker } }));
    expect(JSON.parse(line)).toMatchObject({
      New: { ExctgPrsn: { Prsn: { "@person": "duty" } } },
      claimed: ["InvstmtDcsnPrsn", "ExctgPrsn"],
    });
    expect(mifid.file.personsOf(line)).toEqual(["duty"]);
  });

  it("names a strategy that shares its capitals with another by a hash, and so one that is too long", () => {
    const hashed = { Algo: expect.stringMatching(/^[A-Z2-7]{50}$/) };
    expect(report({ strategies: ["alpha-momentum", "alphamomentum"] })["ExctgPrsn"]).toEqual(hashed);
    const maker = { strategyId: "x".repeat(51), isClaimed: false };
    expect(report({ event: { maker } })["ExctgPrsn"]).toEqual(hashed);
  });

  it("that is taken back cancels the report under its id", () => {
    const cancelled = lineOf(made({ event: { type: "fill_busted" }, hasTrade: true }));
    expect(JSON.parse(cancelled)).toEqual({ Cxl: { TxId: report()["TxId"], ExctgPty: lei, SubmitgPty: lei } });
  });

  it("has an id of its fund and fill alone", () => {
    expect(report({ order: { order_id: "o-2" }, event: { key: "other" } })["TxId"]).toBe(report()["TxId"]);
    for (const differs of [{ details: { fill_id: "f-2" } }, { order: { fund_id: "beta" } }] as const) {
      expect(report(differs)["TxId"]).not.toBe(report()["TxId"]);
    }
  });
});

describe("what is put aside", () => {
  it.each<[string, Differs]>([
    ["FILL_NOT_ACCEPTED", { event: { waits: true } }],
    ["FILING_VENUE_UNKNOWN TradVn", { order: { broker: "strange" } }],
    ["FILING_ISIN_MISSING FinInstrm/Id", { instrument: { currency: "USD" } }],
    ["FILING_ISIN_MISSING FinInstrm/Id", { instrument: { isin: "US0378331006", currency: "USD" } }],
    ["FILING_ISIN_MISSING FinInstrm/Id", { instrument: undefined }],
    ["FILING_IDENTITY_INCOMPLETE mifid_lei", { settings: { lei: undefined } }],
    ["FILING_IDENTITY_INCOMPLETE mifid_fund_lei", { settings: { fundLei: "529900T8BM49AURSDO54" } }],
    ["FILING_IDENTITY_INCOMPLETE mifid_submitter_lei", { settings: { submitterLei: "LEI" } }],
    ["FILING_TRADE_KNOWN TxId", { hasTrade: true }],
    ["FILING_TRADE_UNKNOWN TxId", { event: { type: "fill_busted" }, hasTrade: false }],
    [
      "FILING_FIELD_INVALID New/Tx/TradVn",
      { settings: { venues: { paper: { mic: "nasdaq", counterparty_lei: lei } } } },
    ],
    ["FILING_FIELD_INVALID New/Buyr/AcctOwnr/CtryOfBrnch", { settings: { country: "France" } }],
    ["FILING_FIELD_INVALID New/Tx/Qty/Unit", { details: { quantity: "12345678901234567.25" } }],
  ])("%s", (expected, differs) => {
    const record = made(differs);
    expect(record.status).toBe("QUARANTINED");
    expect(why(record)[0]).toBe(expected);
  });

  it("is no order, and nothing of crypto", () => {
    for (const type of ["new_order", "order_routed", "order_cancelled"] as const) {
      expect(made({ event: { type } }).status).toBe("NOT_REPORTABLE");
    }
    expect(made({ order: { asset_class: "CRYPTO" } }).status).toBe("NOT_REPORTABLE");
  });

  it("is what the tables do not know, miss, or have in another order", () => {
    const content = JSON.parse(lineOf(made())) as { New: Record<string, Content> };
    const { TxId, ExctgPrsn, ...rest } = content.New;
    const of = (report: Content) => transactionMistakes({ New: report }).map(({ field = "" }) => field);
    expect(of(content.New)).toEqual([]);
    expect(of({ TxId: TxId ?? "", ...rest })).toEqual(["New/ExctgPrsn"]);
    expect(of({ ...content.New, Colour: "red" })).toContain("New/Colour");
    expect(of({ ExctgPrsn: ExctgPrsn ?? "", TxId: TxId ?? "", ...rest })).toEqual(["New"]);
  });
});

describe("the document", () => {
  const persons = new Map([["duty", { country: "FR", nationalId: "FR19700101JEAN#DUPON", scheme: "CONCAT" as const }]]);

  it("has a header, each record, and who its persons are, which stands in no record", () => {
    const maker = { operator: "duty", isClaimed: false };
    const line = lineOf(made({ event: { maker } }));
    expect(line).not.toContain("JEAN");
    const xml = mifid.file.head(file) + mifid.file.part(line, persons) + mifid.file.tail(file);
    expect(xml).toContain("<BizMsgIdr>alpha20261113-000001</BizMsgIdr><MsgDefIdr>auth.016.001.01</MsgDefIdr>");
    expect(xml).toContain('<MntryVal><Amt Ccy="USD">190.25</Amt></MntryVal>');
    expect(xml).toContain(
      "<ExctgPrsn><Prsn><CtryOfBrnch>FR</CtryOfBrnch><Othr><Id>FR19700101JEAN#DUPON</Id><SchmeNm><Prtry>CONCAT</Prtry></SchmeNm></Othr></Prsn></ExctgPrsn>",
    );
    expect(xml).not.toContain("claimed");
    expect(xml.endsWith("</FinInstrmRptgTxRpt></Document></Pyld></BizData>\n")).toBe(true);
    expect(() => mifid.file.part(line, new Map())).toThrow("nobody says who duty is");
  });

  it("escapes what a receiver's name holds", () => {
    expect(mifid.file.head({ ...file, receiver: '<&">' })).toContain("<Id>&lt;&amp;&quot;&gt;</Id>");
  });

  it("is named by submitter, date, group and number, and not without an identity", () => {
    expect(mifid.file.name(file)).toEqual({ name: `${lei}_20261113_alpha_000001.xml` });
    expect(mifid.file.name({ ...file, fund: { mifid: { venues: {} } } })).toMatchObject({
      mistakes: [{ field: "mifid_lei" }, { field: "mifid_submitter_lei" }, { field: "mifid_fund_lei" }],
    });
  });
});

describe("a day", () => {
  it.each([
    [
      "a Friday's is due until Monday's end",
      "2026-11-13T14:30:00.000000Z",
      "2026-11-13",
      "2026-11-17T00:00:00.000000Z",
    ],
    ["a Sunday's too", "2026-11-15T23:59:59.999999Z", "2026-11-15", "2026-11-17T00:00:00.000000Z"],
    ["a Monday's until Tuesday's end", "2026-11-16T00:00:00.000000Z", "2026-11-16", "2026-11-18T00:00:00.000000Z"],
    ["summer time changes nothing", "2026-10-25T00:30:00.000000Z", "2026-10-25", "2026-10-27T00:00:00.000000Z"],
  ])("%s", (_name, moment, date, deadline) => {
    expect(mifid.submissionDate(parse(moment))).toBe(date);
    expect(format(mifid.deadline(parse(moment)))).toBe(deadline);
  });
});

describe("identifiers", () => {
  it("have check digits", () => {
    expect([lei, fundLei, "7LTWFZYICNSX8D621K86"].every(isLei)).toBe(true);
    expect(["5493001KJTIIGC8Y1R13", "5493001kjtiigc8y1r12", "", "5493001KJTIIGC8Y1R1"].some(isLei)).toBe(false);
    expect(["US0378331005", "FR0000131104", "US5949181045"].every(isIsin)).toBe(true);
    expect(["US0378331006", "US037833100", "us0378331005"].some(isIsin)).toBe(false);
  });
});

const life = fc.array(
  fc.record({
    fillId: fc.stringMatching(/^[A-Za-z0-9._:-]{1,60}$/),
    side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER" as const),
    broker: fc.constantFrom("paper", "dealer"),
    quantity: fc.integer({ min: 1, max: 9_999_999 }).map((number) => `${number}.25`),
    price: fc.integer({ min: -99_999, max: 99_999 }).map((number) => `${number}.005`),
    afterMs: fc.integer({ min: 0, max: 400 * 86_400_000 }),
    isBusted: fc.boolean(),
    operator: fc.option(fc.constantFrom("duty", "relief"), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 8 },
);

describe("any trades", () => {
  it("pass the tables, are cancelled under their own id, and make the same bytes again", () => {
    fc.assert(
      fc.property(life, (trades) => {
        for (const { fillId, side, broker, quantity, price, afterMs, isBusted, operator } of trades) {
          const maker = { strategyId: "alpha-momentum", operator, isClaimed: false };
          const event = { at: plusMilliseconds(at, afterMs), maker };
          const differs = { order: { side, broker }, details: { fill_id: fillId, quantity, price }, event } as Differs;
          const line = lineOf(made(differs));
          expect(lineOf(made(differs))).toBe(line);
          expect(transactionMistakes(JSON.parse(line) as Content)).toEqual([]);
          const { New } = JSON.parse(line) as { New: { TxId: string } };
          if (!isBusted) continue;
          const taken = lineOf(made({ ...differs, event: { ...event, type: "fill_busted" }, hasTrade: true }));
          expect(JSON.parse(taken)).toMatchObject({ Cxl: { TxId: New.TxId } });
        }
      }),
      { numRuns: 60, seed: 48 },
    );
  });
});
