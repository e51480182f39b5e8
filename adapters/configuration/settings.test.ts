// What services get of the configuration: the units of the code, and paper funds only where nobody's own database is.
import { describe, expect, it } from "vitest";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { wantsPaperFunds } from "../paper-broker/paper-beginnings.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { settingsOf } from "./settings.ts";

function loaded(environment: Readonly<Record<string, string>>) {
  const found = loadConfiguration({ environment, readFile: () => "" });
  if (!found.ok) throw new Error(JSON.stringify(found.complaints));
  return found.configuration;
}

const settings = (environment: Readonly<Record<string, string>>, isPaper: boolean) =>
  settingsOf(loaded(environment), isPaper);

describe("settings", () => {
  it("are these without any configuration", () =>
    expect(settings({}, true)).toEqual({
      ...testSettings,
      audit: { ...testSettings.audit, behindMaxMs: 30_000 },
      filings: {
        regimes: { CAT: { environment: "test", transport: "none", uploadAt: "05:00", hasMetaFile: true } },
        funds: {},
      },
      risk: { ...testSettings.risk, lossValueAgeMsMax: 15_000 },
      market: { ...testSettings.market, sessions: "always", feed: "paper", feedByVenue: {} },
      seedPaperHistory: true,
      tradingView: { ageMsMax: 300_000, requiresTime: false, liveFunds: [], funds: {}, heartbeatsMs: {} },
    }));

  it("say of alerts what the file says, in milliseconds", () => {
    const file = [
      "tradingview:",
      "  max_age_s: 60",
      "  require_time: true",
      "  live_funds: [gamma]",
      "  funds:",
      "    alpha: { symbols: { 'CME_MINI:ES1!': ESZ6 }, broker: paper, on_mismatch: refuse }",
      "    beta: {}",
      "  heartbeats: { alpha-momentum: 900 }",
    ].join("\n");
    const found = loadConfiguration({ environment: { PORTCULLIS_CONFIG: "x.yaml" }, readFile: () => file });
    if (!found.ok) throw new Error(JSON.stringify(found.complaints));
    expect(settingsOf(found.configuration, true).tradingView).toEqual({
      ageMsMax: 60_000,
      requiresTime: true,
      liveFunds: ["gamma"],
      funds: {
        alpha: { symbols: { "CME_MINI:ES1!": "ESZ6" }, broker: "paper", onMismatch: "refuse" },
        beta: { symbols: {}, onMismatch: "flag" },
      },
      heartbeatsMs: { "alpha-momentum": 900_000 },
    });
    const old = loadConfiguration({
      environment: { PORTCULLIS_TRADINGVIEW_MAX_AGE_S: "301" },
      readFile: () => "",
    });
    expect(old.ok ? [] : old.complaints).toMatchObject([{ expected: "a whole number from 1 to 300" }]);
  });

  it("leave the past out where that is asked for, and where there are no paper funds", () => {
    expect(settings({ PORTCULLIS_PAPER_HISTORY: "false" }, true).seedPaperHistory).toBe(false);
    expect(settings({}, false).seedPaperHistory).toBe(false);
  });

  it("take their values from the environment, in milliseconds", () => {
    const given = {
      PORTCULLIS_RISK_MARK_AGE_MAX_S: "3",
      PORTCULLIS_RISK_HALT_POLL_MS: "100",
      PORTCULLIS_RISK_OPEN_ORDERS_PER_FUND_MAX: "7",
      PORTCULLIS_MARKET_SEED: "42",
      PORTCULLIS_MARKET_QUOTE_EVERY_MS: "250",
    };
    const { risk, market } = settings(given, true);
    expect([risk.markAgeMsMax, risk.haltPollMs, risk.openOrdersPerFundMax]).toEqual([3_000, 100, 7]);
    expect(market).toEqual({ seed: 42, quoteEveryMs: 250, sessions: "always", feed: "paper", feedByVenue: {} });
  });

  it("24: judge losses by values of at most 15 s, and never by older ones than decisions are made on", () => {
    const ageOf = (environment: Readonly<Record<string, string>>) => settings(environment, true).risk.lossValueAgeMsMax;
    const [loss, nav] = ["PORTCULLIS_RISK_LOSS_VALUE_AGE_MAX_S", "PORTCULLIS_RISK_NAV_AGE_MAX_S"];
    expect([ageOf({}), ageOf({ [loss]: "60" }), ageOf({ [nav]: "10" })]).toEqual([15_000, 60_000, 10_000]);
    expect(ageOf({ [loss]: "120", [nav]: "120" })).toBe(120_000);
    const refused = (environment: Readonly<Record<string, string>>) => {
      const found = loadConfiguration({ environment, readFile: () => "" });
      return found.ok ? "taken" : [...new Set(found.complaints.map(({ path }) => path))].join();
    };
    expect(refused({ [loss]: "61" })).toBe("risk.loss_value_age_max_s");
    expect(refused({ [loss]: "11", [nav]: "10" })).toBe("risk.loss_value_age_max_s");
    for (const bad of ["0", "-1", "1.5", "86401", "soon"]) {
      expect(refused({ [loss]: bad, [nav]: "86400" })).toBe("risk.loss_value_age_max_s");
    }
  });

  it.each<[string | undefined, boolean, boolean]>([
    [undefined, true, true],
    [undefined, false, false],
    ["auto", false, false],
    ["always", false, true],
    ["never", true, false],
  ])("paper.seed %s, embedded %s: paper funds %s", (seed, embedded, seeds) => {
    const environment = seed === undefined ? {} : { PORTCULLIS_PAPER_SEED: seed };
    const { database: none } = loaded({});
    const database = embedded ? none : { ...none, url: "postgres://somebody@example.com/own" };
    expect(wantsPaperFunds({ ...loaded(environment), database })).toBe(seeds);
    expect(settings(environment, seeds).seedPaperPlatform).toBe(seeds);
  });

  it("32.7: a platform without treasury begins without paper funds, unless they are asked for", () => {
    const services = { PORTCULLIS_SERVICES: "riskengine,operations,gateway" };
    expect(wantsPaperFunds(loaded(services))).toBe(false);
    expect(wantsPaperFunds(loaded({ ...services, PORTCULLIS_PAPER_SEED: "always" }))).toBe(true);
  });

  it("name a fund's identity only for the regimes that it is enabled for, its id where no account is named", () => {
    const compliance = { cat_enabled: true, cat_subscriber_id: "123", cat_crd: "456" };
    const destinations = { XNAS: { type: "E", id: "NSDQ", session: "S1" } };
    const named = { ...compliance, cat_fdid: "FUND1", cat_reporter_imid: "ABCD", cat_destinations: destinations };
    const funds = [
      { fund_id: "a", compliance },
      { fund_id: "b", compliance: named },
      { fund_id: "c", compliance: { cat_subscriber_id: "123" } },
      { fund_id: "d", compliance: { mifid_enabled: true, mifid_lei: "LEI", mifid_venues: { XNAS: { mic: "XNAS" } } } },
      { fund_id: "e", compliance: { oats_enabled: true, cat_reporter_imid: "ABCD" } },
    ];
    const both = { accountHolderType: "A", deptType: "A", crd: "456", submitterId: "123" };
    const readFile = () => JSON.stringify({ funds });
    const found = loadConfiguration({ environment: { PORTCULLIS_CONFIG: "x.yaml" }, readFile });
    if (!found.ok) throw new Error(JSON.stringify(found.complaints));
    expect(settingsOf(found.configuration, true).filings?.funds).toEqual({
      a: { cat: { ...both, fdid: "a", destinations: {} } },
      b: { cat: { ...both, fdid: "FUND1", imid: "ABCD", destinations } },
      d: { mifid: { lei: "LEI", venues: { XNAS: { mic: "XNAS" } } } },
      e: { oats: { mpid: "ABCD" } },
    });
  });
});
