// Reference data is changed under a running platform: whatever is held, open, owed, unbooked or halted keeps what it needs.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import type { FundReference, ReferenceKind } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { giveProof } from "../../testkit/memory/units/step-up.ts";
import { orderOf } from "../../testkit/oms-fixture.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { call, provenReference, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService, ServicePorts } from "../shared/service.ts";

let books: TestBooks;
afterEach(() => books.close());

async function begin(differs: Partial<ServicePorts> = {}): Promise<RunningService> {
  books = testBooks(20_261_115);
  return books.start(differs);
}

type Change = (content: readonly never[]) => readonly object[];

async function set(running: RunningService, kind: ReferenceKind, change: Change) {
  const document = await call<ReferenceDocument>(running, "GetReferenceData", { kind });
  const content_json = JSON.stringify(change(JSON.parse(document.content_json)));
  const next = { kind, version: document.version + 1, content_json, reason: "tested" };
  return call<ReferenceDocument>(running, "SetReferenceData", provenReference(books.fixture, next));
}

const withoutSymbol =
  (symbol: string): Change =>
  (all: readonly { readonly symbol: string }[]) =>
    all.filter((one) => one.symbol !== symbol);
const withoutStrategy =
  (strategy: string): Change =>
  (all: readonly FundReference[]) =>
    all.map((fund) => ({ ...fund, strategies: fund.strategies.filter((one) => one !== strategy) }));
const writing = (write: (unit: UnitOfWork) => Promise<unknown>) =>
  books.fixture.portsOf("oms").store.transact("oms.history", async (unit) => void (await write(unit)));

const at = 1_700_000_000_000_000 as never;
const place = { fundId: "alpha", strategyId: "alpha-meanrev", symbol: "XOM" };
const order = orderOf("o-1", { fund_id: "alpha", strategy_id: "alpha-meanrev", symbol: "XOM" });
const stored = {
  order,
  state: "ACCEPTED" as const,
  bodyHash: "ab",
  submittedBy: "operator:duty",
  createdAt: at,
  updatedAt: at,
  filledQuantity: decimal.zero,
  filledValue: decimal.zero,
};
const amounts = { quantity: decimal.one, averagePrice: decimal.one, realisedPnl: decimal.zero };
const stop = {
  ...place,
  stopId: "s-1",
  openedBy: "f",
  side: "SELL" as const,
  quantity: decimal.one,
  basisPrice: decimal.one,
  triggerPrice: decimal.one,
  observedPrice: decimal.one,
  observedAt: at,
  firedAt: at,
};
const { sequence: _none, ...fill } = exampleFill;

describe("23.4: reference data under what stands", () => {
  it.each<[string, (unit: UnitOfWork) => Promise<unknown>, RegExp]>([
    ["a position", (unit) => unit.oms.putPosition({ ...place, ...amounts, openedBy: "f", updatedAt: at }), /1 XOM of/],
    ["an open order", (unit) => unit.oms.insertOrder(stored), /order o-1 of alpha-meanrev/],
    ["a stop that is owed", (unit) => unit.stops.insert(stop), /stop s-1 that is owed/],
    [
      "a trade that is not booked",
      (unit) => unit.oms.insertFill({ ...fill, fund_id: "alpha", strategy_id: "alpha-meanrev", symbol: "XOM" }),
      /fill \S+ that is not booked yet/,
    ],
    [
      "a flatten that runs",
      async (unit) => {
        const asked = { flattenId: "fl-1", requestedBy: "x", reason: "r", at, auditId: "a", fundIds: ["alpha"] };
        await unit.flattens.insert({ ...asked, provedFundIds: [] });
        const line = {
          ...place,
          lineId: "l-1",
          flattenId: "fl-1",
          openedBy: "f",
          quantity: decimal.one,
          askedAt: at,
          at,
        };
        await unit.flattens.insertLine({ ...line, exitedBefore: decimal.zero });
      },
      /flatten fl-1 that is not done/,
    ],
  ])("%s keeps instrument, strategy and the fund's mode", async (_what, write, named) => {
    const running = await begin();
    await writing(write);
    const denials = [
      await set(running, "instruments", withoutSymbol("XOM")),
      await set(running, "funds", withoutStrategy("alpha-meanrev")),
      await set(running, "funds", (all) => all.map((fund) => ({ ...(fund as object), mode: "LIVE" }))),
    ].map(({ denial }) => denial);
    for (const denial of denials) {
      expect(denial?.code).toBe("REFERENCE_IN_USE");
      expect(denial?.reason).toMatch(named);
    }
    // What nothing needs may go.
    expect((await set(running, "instruments", withoutSymbol("SOL-USD"))).version).toBe(2);
    expect((await set(running, "funds", withoutStrategy("beta-trend"))).version).toBe(2);
    expect(books.fixture.reported(subjects.referenceChanged).filter(({ version }) => version === 2)).toHaveLength(2);
  });

  it("a new fund or strategy has no two dots and no separator at an end; one that is there keeps its name", async () => {
    const running = await begin();
    const adding =
      (...names: readonly string[]): Change =>
      (all: readonly FundReference[]) =>
        all.map((fund, index) => (index === 0 ? { ...fund, strategies: [...fund.strategies, ...names] } : fund));
    const { denial } = await set(running, "funds", adding("alpha-x.", "alpha..y", "alpha-z"));
    expect(denial?.code).toBe("REFERENCE_INVALID");
    expect(denial?.reason).toContain('"alpha-x."');
    expect(denial?.reason).toContain('"alpha..y"');
    expect(denial?.reason).not.toContain("alpha-z");
    const renamed: Change = (all: readonly FundReference[]) =>
      all.map((fund) => ({ ...fund, fund_id: `${fund.fund_id}-` }));
    expect((await set(running, "funds", renamed)).denial?.code).toBe("REFERENCE_INVALID");
  });

  it("a halt keeps its strategy, and what the risk engine believes keeps its instrument", async () => {
    const line = { fundId: "alpha", symbol: "XOM", quantity: "0", pendingBuy: "5", pendingSell: "0" };
    const running = await begin({
      riskBooks: {
        lines: async () => [line],
        approvals: async () => [],
        heldSymbols: async () => [],
        grossExposure: async () => undefined,
      },
    });
    const halt = { severity: "STRATEGY_HALT", fund_id: "", strategy_id: "alpha-meanrev", reason: "r" } as const;
    await books.fixture
      .portsOf("riskengine")
      .store.transact("halt", (unit) =>
        unit.risk.latchHalt({ ...halt, halt_id: "h-1", requested_by: "x", since: "2026-01-02T00:00:00.000000Z" }),
      );
    const strategy = await set(running, "funds", withoutStrategy("alpha-meanrev"));
    expect(strategy.denial?.reason).toBe("funds: the strategy alpha-meanrev of alpha would go away under: halt h-1.");
    const instrument = await set(running, "instruments", withoutSymbol("XOM"));
    expect(instrument.denial?.reason).toMatch(/under: approvals for XOM of alpha in the risk engine\.$/);
  });

  it("23.4: a corporate action under way keeps its instrument as it is in every field, and its new name free", async () => {
    const running = await begin();
    const action = {
      action_id: "xom-xo",
      kind: "SYMBOL_CHANGE",
      symbol: "XOM",
      new_symbol: "XO",
      reason: "renamed",
      amount_per_share: "",
      ex_date: "",
      ratio: "",
    };
    expect((await call<{ state: string }>(running, "BookCorporateAction", action)).state).toBe("ANNOUNCED");
    const changed =
      (symbol: string, differs: object): Change =>
      (all: readonly { readonly symbol: string }[]) =>
        all.map((one) => (one.symbol === symbol ? { ...one, ...differs } : one));
    const added: Change = (all: readonly { readonly symbol: string }[]) => [
      ...all,
      ...all.filter(({ symbol }) => symbol === "XOM").map((one) => ({ ...one, symbol: "XO" })),
    ];
    for (const change of [changed("XOM", { lot_size: "100" }), withoutSymbol("XOM"), added]) {
      expect((await set(running, "instruments", change)).denial).toEqual({
        code: "REFERENCE_IN_USE",
        reason: "XOM stays as it is: the corporate action xom-xo is under way.",
      });
    }
    expect((await set(running, "instruments", changed("AAPL", { sector: "energy" }))).version).toBe(2);
  });

  it("takes nothing away while the risk engine cannot be asked, and adds all the same", async () => {
    const lines = async () => {
      throw new Fault("SERVICE_UNAVAILABLE", "planned", { retry: "later" });
    };
    const running = await begin({
      riskBooks: {
        lines,
        approvals: async () => [],
        heldSymbols: async () => [],
        grossExposure: async () => undefined,
      },
    });
    await expect(set(running, "instruments", withoutSymbol("XOM"))).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
    });
    const renamed: Change = (all) => all.map((one) => ({ ...(one as object), name: "renamed" }));
    expect((await set(running, "instruments", renamed)).version).toBe(2);
  });
});

describe("reference data that loosens", () => {
  const restrict: Change = () => [{ symbol: "XOM", reason: "earnings" }];
  const allow: Change = () => [];

  async function plainly(running: RunningService, kind: ReferenceKind, change: Change, differs: object = {}) {
    const document = await call<ReferenceDocument>(running, "GetReferenceData", { kind });
    const content_json = JSON.stringify(change(JSON.parse(document.content_json)));
    const next = { kind, version: document.version + 1, content_json, reason: "tested", ...differs };
    return call<ReferenceDocument>(running, "SetReferenceData", next);
  }

  it("takes a second factor for exactly this change, says what loosens, and records it", async () => {
    const running = await begin();
    expect((await plainly(running, "restricted", restrict)).version).toBe(2);
    const refused = await plainly(running, "restricted", allow);
    expect(refused.denial).toEqual({
      code: "STEP_UP_REQUIRED",
      reason: "It loosens restricted XOM. That needs a proof of your second factor for exactly this change.",
      loosens: ["restricted XOM"],
    });
    const other = provenReference(books.fixture, {
      kind: "restricted",
      version: 3,
      content_json: "[]",
      reason: "another reason",
    });
    for (const step_up_proof of ["", "psu_wrong", other.step_up_proof]) {
      const { denial } = await plainly(running, "restricted", allow, { step_up_proof });
      expect(denial?.code).toBe(step_up_proof === "" ? "STEP_UP_REQUIRED" : "STEP_UP_WRONG");
      expect(denial?.loosens).toEqual(["restricted XOM"]);
    }
    const document = { kind: "restricted", version: 3, content_json: "[]", reason: "tested" };
    const proven = provenReference(books.fixture, document);
    const done = await call<ReferenceDocument>(running, "SetReferenceData", proven);
    expect(done.version).toBe(3);
    expect(JSON.stringify(done)).not.toContain("psu_");
    expect(books.fixture.reported(subjects.referenceChanged).at(-1)).toMatchObject({
      version: 3,
      loosening: { fields: ["restricted XOM"], second_factor: true },
    });
    // Used up, with the change that it opened.
    expect((await plainly(running, "restricted", restrict)).version).toBe(4);
    const again = { ...proven, version: 5 };
    expect((await call<ReferenceDocument>(running, "SetReferenceData", again)).denial?.code).toBe("STEP_UP_WRONG");
  });

  it("a change that is refused anyway uses no proof up", async () => {
    const running = await begin();
    await plainly(running, "restricted", restrict);
    const proven = provenReference(books.fixture, {
      kind: "restricted",
      version: 3,
      content_json: "[]",
      reason: "tested",
    });
    const late = { ...proven, version: 7 };
    expect((await call<ReferenceDocument>(running, "SetReferenceData", late)).denial?.code).toBe(
      "REFERENCE_VERSION_CONFLICT",
    );
    expect((await call<ReferenceDocument>(running, "SetReferenceData", proven)).version).toBe(3);
  });

  it("takes none for what tightens, and none for what nothing uses", async () => {
    const running = await begin();
    const share = { name: "New", asset_class: "EQUITY", currency: "USD", tick_size: "0.01", lot_size: "1" };
    const added: Change = (all: readonly { readonly calendar: string }[]) => [
      ...all,
      { ...share, symbol: "NEW", multiplier: "1", sector: "energy", calendar: all[0]?.calendar },
    ];
    const fund: Change = (all: readonly FundReference[]) => [
      ...all,
      { ...(all[0] as FundReference), fund_id: "omega", mode: "LIVE", strategies: ["omega-one"] },
    ];
    const night: Change = (all: readonly { readonly name: string }[]) => [...all, { ...all[0], name: "night" }];
    const dearer: Change = (all: readonly { readonly fee_pct: string }[]) =>
      all.map((one) => ({ ...one, fee_pct: "0.9" }));
    expect((await plainly(running, "instruments", added)).version).toBe(2);
    expect((await plainly(running, "funds", fund)).version).toBe(2);
    expect((await plainly(running, "calendars", night)).version).toBe(2);
    expect((await plainly(running, "borrow", dearer)).version).toBe(2);
    // Not run before, so it may become another; the one that has a value may not.
    const currency: Change = (all: readonly FundReference[]) =>
      all.map((one) => (one.fund_id === "omega" ? { ...one, currency: "EUR" } : one));
    expect((await plainly(running, "funds", currency)).version).toBe(3);
    const strategy: Change = (all: readonly FundReference[]) =>
      all.map((one) => (one.fund_id === "alpha" ? { ...one, strategies: [...one.strategies, "alpha-new"] } : one));
    expect((await plainly(running, "funds", strategy)).denial?.loosens).toEqual(["funds alpha strategies"]);
    const names =
      (differs: object): Change =>
      (all) =>
        all.map((one) => ({ ...(one as object), ...differs }));
    expect((await plainly(running, "fx", names({ as_of: "2020-01-01T00:00:00Z" }))).denial).toBeUndefined();
    expect((await plainly(running, "fx", names({ rate: "108.5" }))).denial?.code).toBe("STEP_UP_REQUIRED");
  });

  it("while the risk engine cannot be asked a new symbol counts as held", async () => {
    const lines = async () => {
      throw new Fault("SERVICE_UNAVAILABLE", "planned", { retry: "later" });
    };
    const nothing = async () => [];
    const riskBooks = { lines, approvals: nothing, heldSymbols: nothing, grossExposure: async () => undefined };
    const running = await begin({ riskBooks });
    const added: Change = (all: readonly { readonly symbol: string }[]) => [...all, { ...all[0], symbol: "NEW" }];
    expect((await plainly(running, "instruments", added)).denial?.loosens).toEqual(["instruments NEW"]);
  });
});

describe("a dry run of reference data", () => {
  async function dry(running: RunningService, kind: ReferenceKind, change: Change) {
    const { version, content_json } = await call<ReferenceDocument>(running, "GetReferenceData", { kind });
    const next = JSON.stringify(change(JSON.parse(content_json)));
    const asked = { kind, version: version + 1, content_json: next, reason: "", dry_run: true };
    return call<ReferenceDocument>(running, "SetReferenceData", asked);
  }
  const otherRate: Change = (all: readonly { readonly rate: string }[]) =>
    all.map((one) => ({ ...one, rate: "1.0851" }));

  it("says what would change, what it takes and what the risk engine makes of it, and changes nothing", async () => {
    const asked: unknown[] = [];
    const preview = { funds: [], more: false, as_of: "2026-11-16T15:00:00.000000Z" };
    const running = await begin({
      limitPreviews: {
        preview: async (one) => {
          asked.push(one);
          return preview;
        },
      },
    });
    const document = await dry(running, "fx", otherRate);
    expect(document).toMatchObject({ dry_run: true, version: 2 });
    expect(document.would_change).toMatchObject({ takes_second_factor: true, takes_second_person: false, preview });
    expect(document.would_change?.changes.map(({ field, effect }) => [field, effect])).toContainEqual([
      "fx EUR/USD rate",
      "LOOSENS",
    ]);
    expect(asked).toEqual([{ kind: "fx", contentJson: document.content_json }]);
    expect((await call<ReferenceDocument>(running, "GetReferenceData", { kind: "fx" })).version).toBe(1);
    expect(books.fixture.reported(subjects.referenceChanged).filter(({ version }) => version === 2)).toEqual([]);
  });

  it("is refused as the change would be, and without the risk engine only its figures are missing", async () => {
    const running = await begin({
      limitPreviews: {
        preview: async () => {
          throw new Fault("SERVICE_UNAVAILABLE", "It is away.", { retry: "later" });
        },
      },
    });
    expect((await dry(running, "funds", (all) => [...all, ...all])).denial?.code).toBe("REFERENCE_INVALID");
    const { would_change: would } = await dry(running, "fx", otherRate);
    expect(would?.preview_missing).toContain("It is away.");
    expect(would?.takes_second_factor).toBe(true);
  });
});

describe("reference data that loosens during a halt", () => {
  const relief = { kind: "operator", actor: "operator:relief", subject: "issuer|relief" } as const;
  const duty = { kind: "operator", actor: "operator:duty", subject: "issuer|duty" } as const;
  const other: Change = (all: readonly { readonly rate: string }[]) => all.map((one) => ({ ...one, rate: "1.0851" }));

  async function halt(severity: "FIRM_HALT" | "FUND_HALT" | "STRATEGY_HALT", fund_id = "", strategy_id?: string) {
    const scope = { severity, fund_id, ...(strategy_id === undefined ? {} : { strategy_id }) };
    await books.fixture.portsOf("riskengine").store.transact("halt", (unit) =>
      unit.risk.latchHalt({
        ...scope,
        halt_id: "h-1",
        reason: "r",
        requested_by: "x",
        since: "2026-01-02T00:00:00.000000Z",
      }),
    );
  }

  const versionOf = async (running: RunningService, kind: ReferenceKind) =>
    (await call<ReferenceDocument>(running, "GetReferenceData", { kind })).version;

  function cosign(running: RunningService, requestId: string, identity: typeof relief | typeof duty = relief) {
    const named = { action: "CosignReferenceData", parameters: { request_id: requestId } } as const;
    const at = books.fixture.time.clock.now();
    const proof = giveProof(books.fixture.tables.stepUps, { identity, named, at });
    const request = { request_id: requestId, step_up_proof: proof };
    return call<ReferenceDocument>(running, "CosignReferenceData", request, identity);
  }

  it("waits for a second person, whom the answer tells what is signed", async () => {
    let running = await begin();
    await halt("FIRM_HALT");
    const asked = await set(running, "fx", other);
    expect(asked).toMatchObject({ pending: true, version: 2, set_by: "operator:duty" });
    expect(await versionOf(running, "fx")).toBe(1);
    const requestId = asked.request_id ?? "";
    expect(books.fixture.reported(subjects.referenceRequested).at(-1)).toMatchObject({
      request_id: requestId,
      requested_by: "operator:duty",
      loosens: [
        expect.stringMatching(/^fx \S+ rate$/),
        ...asked.content_json
          .split("rate")
          .slice(2)
          .map(() => expect.any(String)),
      ],
    });
    // Killed and started again meanwhile.
    await running.stop();
    running = await books.start();
    const shown = await call<ReferenceDocument>(
      running,
      "CosignReferenceData",
      { request_id: requestId, step_up_proof: "" },
      relief,
    );
    expect(shown.denial?.code).toBe("STEP_UP_REQUIRED");
    expect(shown.denial?.reason).toMatch(
      /^operator:duty asked for version 2 of fx \(tested\)\. It loosens fx \S+ rate \("\S+" to "1\.0851"\)/,
    );
    const own = await cosign(running, requestId, duty);
    expect(own.denial?.code).toBe("REFERENCE_SAME_PERSON");
    expect((await cosign(running, "no-such")).denial?.code).toBe("REFERENCE_REQUEST_UNKNOWN");
    expect((await cosign(running, "\u0000")).denial?.code).toBe("REFERENCE_REQUEST_UNKNOWN");
    expect(await cosign(running, requestId)).toMatchObject({
      version: 2,
      set_by: "operator:duty",
      cosigned_by: "operator:relief",
    });
    expect(books.fixture.reported(subjects.referenceChanged).at(-1)).toMatchObject({
      version: 2,
      set_by: "operator:duty",
      loosening: { second_factor: true, cosigned_by: "operator:relief", request_id: requestId },
    });
    expect((await cosign(running, requestId)).denial?.code).toBe("REFERENCE_VERSION_CONFLICT");
  });

  it("a request ends after a quarter of an hour, and with its requester's logins", async () => {
    const running = await begin();
    expect((await set(running, "restricted", () => [{ symbol: "XOM", reason: "earnings" }])).version).toBe(2);
    await halt("FIRM_HALT");
    const first = (await set(running, "restricted", () => [])).request_id ?? "";
    books.fixture.tables.loginsEnded.set(duty.actor, books.fixture.time.clock.now());
    expect((await cosign(running, first)).denial?.code).toBe("REFERENCE_REQUEST_EXPIRED");
    books.fixture.tables.loginsEnded.clear();
    await books.fixture.time.timers.sleep(15 * 60_000);
    expect((await cosign(running, first)).denial?.code).toBe("REFERENCE_REQUEST_EXPIRED");
    expect(await versionOf(running, "restricted")).toBe(2);
  });

  it.each([
    ["FUND_HALT", "beta", undefined, "funds", false],
    ["FUND_HALT", "alpha", undefined, "funds", true],
    ["STRATEGY_HALT", "alpha", "alpha-meanrev", "funds", true],
    ["STRATEGY_HALT", "alpha", "alpha-meanrev", "restricted", true],
    ["FIRM_HALT", "", undefined, "funds", true],
  ] as const)("%s of %s %s: %s pending %s", async (severity, fundId, strategyId, kind, isPending) => {
    const running = await begin();
    const restrict: Change = () => [{ symbol: "XOM", reason: "earnings" }];
    expect((await set(running, "restricted", restrict)).version).toBe(2);
    await halt(severity, fundId, strategyId);
    const strategy: Change = (all: readonly FundReference[]) =>
      all.map((one) => (one.fund_id === "alpha" ? { ...one, strategies: [...one.strategies, "alpha-new"] } : one));
    const done = await set(running, kind, kind === "funds" ? strategy : () => []);
    expect([done.denial, done.pending === true]).toEqual([undefined, isPending]);
  });

  it("what tightens needs nobody", async () => {
    const running = await begin();
    await halt("FIRM_HALT");
    const restrict: Change = () => [{ symbol: "XOM", reason: "earnings" }];
    expect(await set(running, "restricted", restrict)).toMatchObject({ version: 2 });
    expect(await versionOf(running, "restricted")).toBe(2);
  });
});
